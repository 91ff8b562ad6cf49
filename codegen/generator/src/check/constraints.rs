//! Constraints that some value can satisfy.

use super::walk;
use crate::{
    diagnostic::Diagnostics,
    idl::Schema,
    lower::Lowered,
    model::{Shape, Usage},
    source::Spanned,
};

/// A lower bound is not above the upper one, and both can be reached.
pub(super) fn bounds(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (usage, schema) in walk::usages(lowered) {
        for (name, low, high) in ranges(schema) {
            if let (Some((low, _)), Some((high, span))) = (low, high)
                && low > high
            {
                let message = format!("no {name} is at least {low} and at most {high}");
                diagnostics.error(span, message, "swap the two, or mend one");
            }
        }
        for bound in numbers(schema) {
            reachable(usage, bound, diagnostics);
        }
    }
}

/// A step is above zero.
pub(super) fn steps(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (_, schema) in walk::usages(lowered) {
        for step in schema.multiple_of.iter().filter(|step| step.value <= 0.0) {
            diagnostics.error(&step.span, "a step of nothing", "write a number above 0, or remove it");
        }
    }
}

/// Up to here, every integer is a floating point number of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

type Bound<'s> = Option<(f64, &'s crate::diagnostic::Span)>;

/// Pairs of bounds on the same thing.
fn ranges(schema: &Schema) -> Vec<(&'static str, Bound<'_>, Bound<'_>)> {
    fn number(bound: Option<&Spanned<f64>>) -> Bound<'_> {
        bound.map(|bound| (bound.value, &bound.span))
    }
    fn count(bound: Option<&Spanned<u64>>) -> Bound<'_> {
        bound.map(|bound| (bound.value as f64, &bound.span))
    }
    vec![
        ("number", number(schema.minimum.as_ref()), number(schema.maximum.as_ref())),
        ("number", number(schema.exclusive_minimum.as_ref()), number(schema.maximum.as_ref())),
        ("number", number(schema.minimum.as_ref()), number(schema.exclusive_maximum.as_ref())),
        ("number", number(schema.exclusive_minimum.as_ref()), number(schema.exclusive_maximum.as_ref())),
        ("length", count(schema.min_length.as_ref()), count(schema.max_length.as_ref())),
        ("number of items", count(schema.min_items.as_ref()), count(schema.max_items.as_ref())),
        ("number of entries", count(schema.min_properties.as_ref()), count(schema.max_properties.as_ref())),
    ]
}

fn numbers(schema: &Schema) -> impl Iterator<Item = &Spanned<f64>> {
    [
        &schema.minimum,
        &schema.maximum,
        &schema.exclusive_minimum,
        &schema.exclusive_maximum,
        &schema.multiple_of,
    ]
    .into_iter()
    .flatten()
}

/// A bound on an integer is an integer of the same size.
fn reachable(usage: &Usage, bound: &Spanned<f64>, diagnostics: &mut Diagnostics) {
    let (low, high, fault, help) = match usage.shape {
        Shape::Int32 => {
            let help = "remove it: every value of the type satisfies it, or none does";
            (f64::from(i32::MIN), f64::from(i32::MAX), "the bound does not fit 32 bits", help)
        }
        Shape::Int64 => {
            let help = "write a bound within 2^53, or an `x-orch-validator`";
            (-EXACT, EXACT, "the bound is too large to be exact", help)
        }
        Shape::Quantity if bound.value == 0.0 => return,
        Shape::Quantity => {
            let help = "write 0: of a quantity, the sign is asked for";
            diagnostics.error(&bound.span, "a bound of quantities is 0", help);
            return;
        }
        _ => return,
    };
    if bound.value.fract() != 0.0 {
        diagnostics.error(&bound.span, "a bound of integers is an integer", "round it");
    } else if !(low..=high).contains(&bound.value) {
        diagnostics.error(&bound.span, fault, help);
    }
}
