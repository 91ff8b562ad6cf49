//! Which types have defaults or rules, their own or somewhere below: all others get empty impls, and no
//! generated code calls into them.

use std::collections::BTreeSet;

use crate::model::{
    Check, Empty, Field, ListSemantics, Model, OBJECT_META, Resolved, Type, TypeId, TypeKind, Usage,
};

/// The types that generated code calls into.
#[derive(Debug)]
pub struct Reach {
    /// For defaults.
    pub defaults: BTreeSet<TypeId>,
    /// For rules about a value.
    pub rules: BTreeSet<TypeId>,
    /// For rules about a change. How metadata changes is judged by the server, of an object's own metadata;
    /// that of templates may change.
    pub updates: BTreeSet<TypeId>,
    /// For rules in the expression language.
    pub expressions: BTreeSet<TypeId>,
}

impl Reach {
    /// Looks at all types of the model.
    pub fn new(model: &Model) -> Self {
        Reach {
            defaults: types(model, has_own_defaults, &has_defaults),
            rules: types(model, has_own_rules, &has_rules),
            updates: types(
                model,
                |ty| has_own_update_rules(ty) && ty.qualified_name != OBJECT_META,
                &has_update_rules,
            ),
            expressions: types(model, has_own_expressions, &has_expressions),
        }
    }
}

/// Whether something is known of a type that a field holds.
type Known<'k> = &'k dyn Fn(TypeId) -> bool;

/// The object types of which something holds: by themselves, or through a field. Types can contain
/// themselves, so that it takes several rounds until no more are found.
fn types(
    model: &Model,
    itself: impl Fn(&Type) -> bool,
    through: &dyn Fn(&Model, &Field, Known<'_>) -> bool,
) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (index, ty) in model.types.iter().enumerate() {
            let TypeKind::Object(object) = &ty.kind else { continue };
            let known = |id| found.contains(&id);
            if itself(ty) || object.fields.iter().any(|field| through(model, field, &known)) {
                found.insert(TypeId(index));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn has_own_defaults(ty: &Type) -> bool {
    let is_conditional = matches!(&ty.kind, TypeKind::Object(object) if !object.defaults.is_empty());
    is_conditional || ty.defaulter.is_some()
}

fn has_defaults(model: &Model, field: &Field, known: Known<'_>) -> bool {
    fn below(model: &Model, usage: &Usage, known: Known<'_>) -> bool {
        match model.resolve(usage) {
            Resolved::Object(id, _) => known(id),
            Resolved::List(value, _) | Resolved::Map { value, .. } => below(model, value, known),
            _ => usage.rounds_up,
        }
    }
    field.is_filled(model) || below(model, &field.usage, known)
}

fn has_own_rules(ty: &Type) -> bool {
    let has_checks = match &ty.kind {
        TypeKind::Object(object) => {
            object.union.is_some() || object.checks.iter().any(Check::is_judged_on_write)
        }
        _ => false,
    };
    has_checks || ty.first_validator.is_some() || ty.validator.is_some()
}

/// Rules that accept unchanged values are judged with the expressions, which know the object before.
fn has_own_expressions(ty: &Type) -> bool {
    let has_checks = match &ty.kind {
        TypeKind::Object(object) => object.checks.iter().any(|check| check.accepts_unchanged),
        _ => false,
    };
    has_checks || !ty.validations.is_empty()
}

fn has_own_update_rules(ty: &Type) -> bool {
    let has_checks = match &ty.kind {
        TypeKind::Object(object) => object.checks.iter().any(Check::is_judged_on_change),
        _ => false,
    };
    has_checks || ty.update_validator.is_some()
}

fn has_rules(model: &Model, field: &Field, known: Known<'_>) -> bool {
    fn at(model: &Model, usage: &Usage, known: Known<'_>) -> bool {
        let is_alias = |ty: &&Type| !matches!(ty.kind, TypeKind::Object(_));
        let below = || match model.resolve(usage) {
            Resolved::Object(id, _) => known(id),
            Resolved::Enum(..) => true,
            Resolved::List(item, _) => at(model, item, known),
            Resolved::Map { keys, value, .. } => at(model, keys, known) || at(model, value, known),
            Resolved::Scalar(_) | Resolved::Any => false,
        };
        !model.rules(usage).is_empty()
            || model.names(usage).into_iter().filter(is_alias).any(|ty| ty.validator.is_some())
            || below()
    }
    let must_be_given = !field.presence(model).optional && field.empty(model) == Empty::Missing;
    must_be_given || field.deprecated.is_some() || field.validator.is_some() || at(model, &field.usage, known)
}

fn has_update_rules(model: &Model, field: &Field, known: Known<'_>) -> bool {
    fn below(model: &Model, usage: &Usage, known: Known<'_>) -> bool {
        match model.resolve(usage) {
            Resolved::Object(id, _) => known(id),
            Resolved::List(item, ListSemantics::Map(_)) => below(model, item, known),
            Resolved::Map { value, .. } => below(model, value, known),
            _ => false,
        }
    }
    field.immutable.is_some() || below(model, &field.usage, known)
}

fn has_expressions(model: &Model, field: &Field, known: Known<'_>) -> bool {
    fn at(model: &Model, usage: &Usage, known: Known<'_>) -> bool {
        let is_alias = |ty: &&Type| !matches!(ty.kind, TypeKind::Object(_));
        let below = || match model.resolve(usage) {
            Resolved::Object(id, _) => known(id),
            Resolved::List(item, _) => at(model, item, known),
            Resolved::Map { keys, value, .. } => at(model, keys, known) || at(model, value, known),
            _ => false,
        };
        model.names(usage).into_iter().filter(is_alias).any(|ty| !ty.validations.is_empty()) || below()
    }
    !field.validations.is_empty() || at(model, &field.usage, known)
}
