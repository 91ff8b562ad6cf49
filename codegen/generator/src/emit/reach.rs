//! Which types have defaults or rules, their own or somewhere below: all others get empty impls, and nobody
//! walks into them.

use std::collections::BTreeSet;

use super::{
    defaults,
    layout::{Layout, home},
    scope::Scope,
    validate,
};
use crate::model::{Model, TypeId};

/// The types that are worth walking into.
#[derive(Debug, Default)]
pub struct Reach {
    /// For defaults.
    pub defaults: BTreeSet<TypeId>,
    /// For rules about a value.
    pub rules: BTreeSet<TypeId>,
    /// For rules about a change.
    pub updates: BTreeSet<TypeId>,
}

impl Reach {
    /// Asks the emitters themselves, until no more types are found: a type that would get an empty body while
    /// nothing below it is known to need one has nothing to do.
    pub fn new(model: &Model, layout: &Layout) -> Self {
        let mut reach = Reach::default();
        loop {
            let found = reach.grown(model, layout);
            if found.size() == reach.size() {
                return found;
            }
            reach = found;
        }
    }

    fn grown(&self, model: &Model, layout: &Layout) -> Self {
        let mut grown = Reach::default();
        for (index, ty) in model.types.iter().enumerate() {
            let id = TypeId(index);
            let scope = Scope::new(model, layout, self, home(model, ty));
            if !defaults::statements(&scope, ty).is_empty() {
                grown.defaults.insert(id);
            }
            if !validate::rules(&scope, ty).is_empty() {
                grown.rules.insert(id);
            }
            if !validate::update_rules(&scope, ty).is_empty() {
                grown.updates.insert(id);
            }
        }
        grown
    }

    fn size(&self) -> usize {
        self.defaults.len() + self.rules.len() + self.updates.len()
    }
}
