//! `conversion` of a kind.

use std::collections::BTreeSet;

use super::{Model, ObjectType, Step, Type, TypeId, TypeKind};
use crate::diagnostic::Span;

/// How objects of a kind become those of another one.
#[derive(Debug)]
pub struct Conversion {
    /// The other kind's type.
    pub to: TypeId,
    /// In the order of the way there.
    pub steps: Vec<ConversionStep>,
    /// Where it is written.
    pub span: Span,
}

/// A path of names; [`EACH`](super::EACH) is each item of a list or value of a map.
pub type Names = Vec<String>;

/// A step of a conversion. `at` is where its object, or each of its objects, is; places are below that.
#[derive(Debug)]
pub struct ConversionStep {
    /// The object, or each of the objects, in the kind itself.
    pub at: Names,
    /// Places in the kind itself.
    pub below: Vec<Names>,
    /// Places in the other kind.
    pub above: Vec<Names>,
    /// What becomes of the values.
    pub how: How,
    /// The annotation that keeps what has no place in the other form.
    pub annotation: Option<String>,
    /// Where it is written.
    pub span: Span,
}

impl ConversionStep {
    /// Places of the kind itself, from the root of the object.
    pub fn all_below(&self) -> impl Iterator<Item = Names> {
        self.below.iter().map(|place| [&self.at[..], place].concat())
    }

    /// Places of the other kind, from the root of the object.
    pub fn all_above(&self) -> impl Iterator<Item = Names> {
        self.above.iter().map(|place| [&self.at[..], place].concat())
    }
}

impl Model {
    /// The objects in a kind, and in the one that it is converted to, that hold places of steps and are owned
    /// as a whole. What is in such an object is no further one.
    pub fn wholes(&self, own: &Type, conversion: &Conversion) -> [Vec<Names>; 2] {
        let all = || conversion.steps.iter().flat_map(|step| step.all_below().chain(step.all_above()));
        [own, self.ty(conversion.to)].map(|ty| {
            let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
            let wholes: BTreeSet<Names> = all().filter_map(|place| self.whole(object, &place)).collect();
            wholes.into_iter().collect()
        })
    }

    /// The outermost object around a place that is owned as a whole.
    pub fn whole(&self, object: &ObjectType, place: &[String]) -> Option<Names> {
        let holders = (1..place.len()).map(|length| &place[..length]);
        let mut wholes = holders.filter(|holder| {
            let steps = Step::of_names(holder);
            self.target(object, &steps).is_ok_and(|target| self.is_whole(target.usage, target.field))
        });
        wholes.next().map(<[String]>::to_vec)
    }
}

/// What becomes of the values of a step; see `orch_runtime::conversion::How`.
#[derive(Debug, PartialEq)]
pub enum How {
    /// They change their places.
    Move,
    /// An absent or zero value becomes this one.
    Default(serde_json::Value),
    /// A value becomes a list of it.
    Wrap,
    /// A list of one becomes its item.
    Unwrap,
    /// Texts become one.
    Join(String),
    /// A text becomes several.
    Split(String),
    /// Texts become others.
    Values(Vec<(String, String)>),
    /// The other kind always has this value.
    Constant(serde_json::Value),
    /// One of the kinds has no place for them.
    Keep,
    /// A hand-written function of that name.
    Function(String),
}
