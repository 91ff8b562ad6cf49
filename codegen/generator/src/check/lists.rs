//! How merges treat lists and objects: sets, keys, strategies, exceptions.

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::{MapType, PatchStrategy, Schema},
    lower::Lowered,
    model::{Field, ListSemantics, Model, ObjectType, Resolved, Shape, Usage},
};

/// The items of a set are single values.
pub(super) fn sets(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (usage, schema) in walk::usages(lowered) {
        let Shape::List { item, semantics: ListSemantics::Set } = &usage.shape else { continue };
        if !lowered.model.resolve(item).is_scalar() {
            let help = "write `x-orch-list-type: map` with `x-orch-list-map-keys`, or `atomic`";
            let span = schema.key_span("x-orch-list-type");
            diagnostics.error(span, "the items of a set are single values", help);
        }
    }
}

/// The keys of a keyed list are single values of its items.
pub(super) fn map_keys(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (usage, schema) in walk::usages(lowered) {
        let Shape::List { item, semantics: ListSemantics::Map(_) } = &usage.shape else { continue };
        let Some(keys) = &schema.list_map_keys else { continue };
        let Some(object) = object(&lowered.model, item) else {
            let help = "the items of a list of type `map` are objects with fields";
            diagnostics.error(schema.key_span("x-orch-list-type"), "the items have no fields", help);
            continue;
        };
        for (index, key) in keys.value.iter().enumerate() {
            let field = object.fields.iter().find(|field| field.name == key.value);
            let scalar = field.map(|field| lowered.model.resolve(&field.usage).is_scalar());
            match scalar {
                None => {
                    let message = format!("the items have no field `{}`", key.value);
                    diagnostics.error(&key.span, message, known_fields(&key.value, object));
                }
                Some(false) => {
                    let message = format!("the list map key `{}` is not a single value", key.value);
                    diagnostics.error(
                        &key.span,
                        message,
                        "choose a field that is a string, a number or the like",
                    );
                }
                Some(true) if keys.value[..index].iter().any(|other| other.value == key.value) => {
                    diagnostics.error(
                        &key.span,
                        format!("duplicate key `{}`", key.value),
                        "remove one of the two",
                    );
                }
                Some(true) => {}
            }
        }
    }
}

/// Only single values can be compared to be unique; a set is unique already.
pub(super) fn unique_items(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (usage, schema) in walk::usages(lowered) {
        let Shape::List { item, semantics } = &usage.shape else { continue };
        if !usage.constraints.unique_items {
            continue;
        }
        let span = schema.key_span("uniqueItems");
        if *semantics == ListSemantics::Set {
            diagnostics.error(
                span,
                "`uniqueItems` for a set",
                "the items of a set are unique already: remove it",
            );
        } else if !lowered.model.resolve(item).is_scalar() {
            let help = "write `x-orch-list-type: map` with the fields that are unique together";
            diagnostics.error(span, "only single values can be unique", help);
        }
    }
}

/// A patch strategy fits what it is given for.
pub(super) fn patch_strategies(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let Some(strategy) = &written.schema.patch_strategy else { continue };
        let fault = match (strategy.value, lowered.model.resolve(&written.field.usage)) {
            (_, Resolved::Any) => None,
            (PatchStrategy::Merge, target) if !is_list(target) => {
                Some(("only lists are merged item by item", "objects and maps are merged already: remove it"))
            }
            (PatchStrategy::MergeRetainKeys, target) if !is_list(target) => {
                Some(("only lists are merged item by item", "write `retainKeys`"))
            }
            (PatchStrategy::RetainKeys, target) if is_list(target) => {
                Some(("only the items of a merged list have keys to retain", "write `merge,retainKeys`"))
            }
            (PatchStrategy::RetainKeys, target) if target.is_scalar() => {
                Some(("only objects and maps have keys to retain", "remove it"))
            }
            (PatchStrategy::Replace, target) if target.is_scalar() => Some((
                "`replace` is for lists, objects and maps",
                "a single value is replaced anyway: remove it",
            )),
            _ => None,
        };
        if let Some((message, help)) = fault {
            diagnostics.error(&strategy.span, message, help);
        }
    }
}

/// The merge key of a list of objects is a single value that every item has.
pub(super) fn merge_keys(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let item = item_of(&lowered.model, written.field);
        match (&written.schema.patch_merge_key, item.map(|item| object(&lowered.model, item))) {
            (Some(_), Some(Some(object))) => merge_key(&lowered.model, written.schema, object, diagnostics),
            (Some(key), _) => {
                let message = "a merge key for something that is not a list of objects";
                diagnostics.error(&key.span, message, "remove it");
            }
            (None, Some(Some(object))) if written.field.patch.merge => {
                let message = "a merged list of objects without a merge key";
                let candidates: Vec<&str> = object
                    .fields
                    .iter()
                    .filter(|field| field.required)
                    .map(|field| field.name.as_str())
                    .collect();
                let help = format!(
                    "add `x-orch-patch-merge-key:` with the field that identifies an item; required: {}",
                    suggest::listed(&candidates)
                );
                diagnostics.error(written.schema.key_span("x-orch-patch-strategy"), message, help);
            }
            _ => {}
        }
    }
}

/// Whether an apply refuses items without this field, because it identifies them. So do patches.
fn is_map_key(schema: &Schema, field: &str) -> bool {
    schema.list_map_keys.iter().flat_map(|keys| &keys.value).any(|key| key.value == field)
}

fn merge_key(model: &Model, schema: &Schema, object: &ObjectType, diagnostics: &mut Diagnostics) {
    let Some(key) = &schema.patch_merge_key else { return };
    let Some(field) = object.fields.iter().find(|field| field.name == key.value) else {
        let message = format!("the items have no field `{}`", key.value);
        diagnostics.error(&key.span, message, known_fields(&key.value, object));
        return;
    };
    if !model.resolve(&field.usage).is_scalar() {
        let message = format!("the merge key `{}` is not a single value", key.value);
        diagnostics.error(&key.span, message, "choose a field that is a string, a number or the like");
    } else if !field.required && field.default.is_none() && !is_map_key(schema, &key.value) {
        let message = format!("the merge key `{}` is not required of the items", key.value);
        let help = "an item without it cannot be told apart: make it required, or give it a default";
        diagnostics.error(&key.span, message, help);
    }
    let merged = schema.patch_strategy.as_ref().is_some_and(|strategy| {
        matches!(strategy.value, PatchStrategy::Merge | PatchStrategy::MergeRetainKeys)
    });
    if !merged {
        let help = "add `x-orch-patch-strategy: merge`, or remove the key";
        diagnostics.error(&key.span, "a merge key for a list that is not merged", help);
    }
}

/// `x-orch-map-type` beside a reference lets merges into an object whose type is atomic; nothing else.
pub(super) fn granular_references(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let fields = walk::fields(lowered);
    for (usage, schema) in walk::usages(lowered) {
        let (Some(_), Some(map_type)) = (&schema.reference, &schema.map_type) else { continue };
        let is_atomic = object(&lowered.model, usage).is_some_and(|object| object.atomic);
        let fault = if !fields.iter().any(|field| std::ptr::eq(field.schema, schema)) {
            Some(("only a field can except its object from being atomic", "remove it"))
        } else if map_type.value == MapType::Atomic {
            Some((
                "whether merges replace an object is said at its type",
                "move it to the type that is referred to",
            ))
        } else if !is_atomic {
            Some(("merges go into this object anyway", "remove it"))
        } else {
            None
        };
        if let Some((message, help)) = fault {
            diagnostics.error(&map_type.span, message, help);
        }
    }
}

fn known_fields(name: &str, object: &ObjectType) -> String {
    suggest::did_you_mean(name, &object.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>())
}

fn is_list(target: Resolved<'_>) -> bool {
    matches!(target, Resolved::List(..))
}

/// What a list field holds.
fn item_of<'m>(model: &'m Model, field: &'m Field) -> Option<&'m Usage> {
    match model.resolve(&field.usage) {
        Resolved::List(item, _) => Some(item),
        _ => None,
    }
}

fn object<'m>(model: &'m Model, usage: &'m Usage) -> Option<&'m ObjectType> {
    match model.resolve(usage) {
        Resolved::Object(_, object) => Some(object),
        _ => None,
    }
}
