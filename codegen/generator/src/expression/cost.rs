//! What a rule may cost for the largest values that the schema allows, in the steps of the interpreter: one
//! for each term, more where functions look at much.
//!
//! Compiled rules count no steps. So the schema has to say how large lists, maps and texts can be, or the
//! rule is refused.

mod bounds;
mod measure;

pub(super) use bounds::unidentified_list;

use super::scope::Loop;
use crate::model::{Expression, Model, TypeId, Usage};
use bounds::Bounds;
use measure::{Extent, Measure};

/// The most steps of a rule for one object.
const MAX_STEPS: u64 = 1_000_000;

/// What a rule may cost for one object.
#[derive(Debug)]
pub(super) struct Cost {
    steps: u64,
    /// What has no bound: `` `ports` has no `maxItems` ``.
    lacking: Vec<String>,
}

impl Cost {
    /// Of an expression about a place: an object type or a set of words, or a usage in it.
    pub fn of(model: &Model, owner: TypeId, usage: Option<&Usage>, expression: &Expression) -> Self {
        let mut bounds = Bounds::new(model);
        let places = bounds.places(owner);
        let itself = match usage {
            Some(usage) => Extent::Place(usage, model.ty(owner).name.clone()),
            None => Extent::Type(owner),
        };
        let mut measure = Measure::new(bounds, itself);
        let steps = measure.term(&expression.term).steps;
        Cost { steps: steps.saturating_mul(places), lacking: measure.lacking() }
    }

    /// What is wrong with the cost, and what to do.
    pub fn complaint(&self) -> Option<(String, String)> {
        if self.steps <= MAX_STEPS {
            return None;
        }
        if self.lacking.is_empty() {
            let message = format!("the rule may take {} steps, and {MAX_STEPS} are allowed", self.steps);
            return Some((
                message,
                "lower `maxItems`, `maxProperties` or `maxLength` of what it looks at".into(),
            ));
        }
        let message = format!("the rule has no bound: {}", self.lacking.join(", "));
        Some((message, "say how large it can be, or look at less in the rule".to_owned()))
    }
}

/// What is wrong with the cost of an expression of `x-orch-rules`, and what to do. It may grow as the object
/// does, and no faster: it looks at the object once, or at each item of a loop once.
pub(super) fn growth(
    model: &Model,
    owner: TypeId,
    loops: &[Loop<'_>],
    expression: &Expression,
) -> Option<(String, String)> {
    // With two sizes for all that has no bound.
    let steps = |itself: bool, items: bool| {
        let with = |unbounded: u64| {
            let one = || Extent::Bytes(1);
            let root = if itself { Extent::Type(owner) } else { one() };
            let mut measure = Measure::growing(Bounds::with_unbounded(model, unbounded), root);
            for (around, name) in loops.iter().rev().zip(["item", "outer"]) {
                let extent = if items { Extent::Place(around.item, format!("an {name}")) } else { one() };
                measure.add(name, extent);
            }
            let steps = measure.term(&expression.term).steps;
            (steps, measure.lacking())
        };
        (with(SMALL), with(2 * SMALL))
    };
    let (grows, lacking) = if loops.is_empty() {
        let ((small, lacking), (large, _)) = steps(true, false);
        (large > small.saturating_mul(3), lacking)
    } else {
        let ((small, lacking), (large, _)) = steps(true, false);
        let ((small_item, lacking_item), (large_item, _)) = steps(false, true);
        if large > small {
            (true, lacking)
        } else {
            (large_item > small_item.saturating_mul(3), lacking_item)
        }
    };
    grows.then(|| {
        let message = format!("the rule may take more time than the object is large: {}", lacking.join(", "));
        let help = "say how large it can be; or write `unique`, `refersTo` or `differsFrom`, which look at each \
                    value once";
        (message, help.to_owned())
    })
}

/// A size to compare with its double.
const SMALL: u64 = 1 << 14;
