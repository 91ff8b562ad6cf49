//! The rules that OpenAPI's own keywords state about a value, in the order in which they are checked.
//!
//! A rule is data here. Generated code calls the function of [`orch_runtime::rule`] that it stands for, and
//! the checks of defaults call the same function.

use super::{Constraints, ListSemantics, Model, OwnFormat, Resolved, Shape, StringFormat, Usage};

/// A rule about one value: a function of [`orch_runtime::rule`] and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule<'m> {
    /// `minimum` and `maximum`.
    Between(f64, f64),
    /// `minimum` alone.
    Minimum(f64),
    /// `exclusiveMinimum`.
    ExclusiveMinimum(f64),
    /// `maximum` alone.
    Maximum(f64),
    /// `exclusiveMaximum`.
    ExclusiveMaximum(f64),
    /// `multipleOf`.
    MultipleOf(f64),
    /// `enum`.
    OneOf(&'m [String]),
    /// `format`.
    Format(StringFormat),
    /// `x-orch-format`: a function of the kind's crate.
    OwnFormat(&'m OwnFormat),
    /// `pattern`.
    Pattern(&'m str),
    /// `minLength`, in bytes.
    MinLength(u64),
    /// `maxLength`, in bytes.
    MaxLength(u64),
    /// `minItems`.
    MinItems(u64),
    /// `maxItems`.
    MaxItems(u64),
    /// Each single value occurs once: `uniqueItems`, or a set.
    UniqueItems,
    /// No two items have the same values in these fields: a keyed list.
    UniqueKeys(&'m [String]),
    /// `minProperties`.
    MinProperties(u64),
    /// `maxProperties`.
    MaxProperties(u64),
}

/// All rules that keywords state of a single value, whatever its shape.
pub(super) fn stated(format: Option<StringFormat>, constraints: &Constraints) -> Vec<Rule<'_>> {
    let mut rules = number(constraints);
    rules.extend(text(format, constraints));
    rules.extend(
        [constraints.min_items.map(Rule::MinItems), constraints.max_items.map(Rule::MaxItems)]
            .into_iter()
            .flatten(),
    );
    rules
}

impl Model {
    /// The rules about a value at a place, without those about what is inside of it.
    pub fn rules<'m>(&'m self, usage: &'m Usage) -> Vec<Rule<'m>> {
        let usage = self.innermost(usage);
        let constraints = &usage.constraints;
        match self.resolve(usage) {
            Resolved::Scalar(Shape::Int32 | Shape::Int64 | Shape::Double) => {
                let is_split = ["minimum", "maximum"].iter().any(|word| usage.words.contains_key(*word));
                if is_split { bounds(constraints) } else { number(constraints) }
            }
            Resolved::Scalar(Shape::Quantity) => bounds(constraints),
            Resolved::Scalar(Shape::String(format)) => text(*format, constraints),
            Resolved::List(_, semantics) => list(constraints, semantics),
            Resolved::Map { .. } => {
                let least = constraints.min_properties.map(Rule::MinProperties);
                least.into_iter().chain(constraints.max_properties.map(Rule::MaxProperties)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A range is one rule.
fn number(constraints: &Constraints) -> Vec<Rule<'_>> {
    let mut rules = bounds(constraints);
    if let (Some(least), Some(greatest)) = (constraints.minimum, constraints.maximum) {
        rules.retain(|rule| !matches!(rule, Rule::Minimum(_) | Rule::Maximum(_)));
        rules.insert(0, Rule::Between(least, greatest));
    }
    rules
}

fn bounds(constraints: &Constraints) -> Vec<Rule<'_>> {
    let rules = [
        constraints.minimum.map(Rule::Minimum),
        constraints.exclusive_minimum.map(Rule::ExclusiveMinimum),
        constraints.maximum.map(Rule::Maximum),
        constraints.exclusive_maximum.map(Rule::ExclusiveMaximum),
        constraints.multiple_of.map(Rule::MultipleOf),
    ];
    rules.into_iter().flatten().collect()
}

fn text(format: Option<StringFormat>, constraints: &Constraints) -> Vec<Rule<'_>> {
    let values = constraints.enum_values.as_slice();
    let rules = [
        (!values.is_empty()).then_some(Rule::OneOf(values)),
        format.map(Rule::Format),
        constraints.format_fn.as_ref().map(Rule::OwnFormat),
        constraints.pattern.as_deref().map(Rule::Pattern),
        constraints.min_length.filter(|min| *min > 0).map(Rule::MinLength),
        constraints.max_length.map(Rule::MaxLength),
    ];
    rules.into_iter().flatten().collect()
}

fn list<'m>(constraints: &Constraints, semantics: &'m ListSemantics) -> Vec<Rule<'m>> {
    let unique = match semantics {
        _ if constraints.repeated_items => None,
        ListSemantics::Map(keys) => Some(Rule::UniqueKeys(keys)),
        ListSemantics::Set => Some(Rule::UniqueItems),
        ListSemantics::Atomic => constraints.unique_items.then_some(Rule::UniqueItems),
    };
    let sizes = [constraints.min_items.map(Rule::MinItems), constraints.max_items.map(Rule::MaxItems)];
    sizes.into_iter().chain([unique]).flatten().collect()
}
