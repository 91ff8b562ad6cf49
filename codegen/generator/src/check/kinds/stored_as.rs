//! Kinds whose objects are stored as those of another kind.

use std::{collections::BTreeSet, mem::discriminant};

use crate::{
    check::walk::{self, WrittenResource},
    diagnostic::{Diagnostics, Span},
    idl::StoredAsExtension,
    lower::Lowered,
    model::{Field, Model, ObjectType, Resolved, Resource, Shape, StoredAs, Type, TypeId, TypeKind, Usage},
};

/// The other kind stores its objects itself, and they live in the same places.
pub(in crate::check) fn stored_kinds(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let all = walk::resources(lowered);
    for (written, extension, stored_as) in stored_elsewhere(&all) {
        let other = all.iter().map(|other| other.resource).find(|other| other.ty == stored_as.ty);
        let Some((fault, help)) = fault(written.resource, other) else { continue };
        let message = format!("objects cannot be stored as `{}`: {fault}", extension.kind.value);
        diagnostics.error(&extension.kind.span, message, help);
    }
}

fn fault(here: &Resource, there: Option<&Resource>) -> Option<(&'static str, &'static str)> {
    Some(match there {
        None => ("it is no kind", "name a type with `x-orch-resource`"),
        Some(there) if there.stored_as.is_some() => {
            ("it is stored as another kind itself", "name the kind that is stored")
        }
        Some(there) if there.is_virtual || here.is_virtual => {
            ("nothing is stored of a virtual kind", "remove `storedAs`, or `virtual`")
        }
        Some(there) if there.scope != here.scope => {
            ("it has another scope", "both kinds live in namespaces, or both do not")
        }
        Some(_) => return None,
    })
}

/// Every field has its place in the other kind, and the other way round: else a write in one form would lose
/// what was written in the other.
pub(in crate::check) fn fields_of_stored_kinds(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let all = walk::resources(lowered);
    let model = &lowered.model;
    for (written, extension, stored_as) in stored_elsewhere(&all) {
        let (here, there) = (model.ty(written.resource.ty), model.ty(stored_as.ty));
        let (Some(fields), Some(stored)) = (object(here), object(there)) else { continue };
        for (name, other) in extension.renamed.iter().flat_map(|entries| &entries.0) {
            for (object, ty, written) in [(fields, here, name), (stored, there, other)] {
                if field(object, &written.value).is_none() {
                    let message = format!("`{}` has no field `{}`", ty.name, written.value);
                    diagnostics.error(
                        &written.span,
                        message,
                        "name a field of the object, or remove the pair",
                    );
                }
            }
        }
        let span = &extension.span;
        let mut taken = BTreeSet::new();
        for own in &fields.fields {
            let name = stored_name(stored_as, &own.name);
            taken.insert(name);
            match field(stored, name) {
                None => unmatched(&own.name, there, span, diagnostics),
                Some(other) => {
                    if !same_shape(model, &own.usage, &other.usage, &mut BTreeSet::new()) {
                        let message = format!("`{}` and `{name}` have different shapes", own.name);
                        diagnostics.error(span, message, "give both the same type, or rename another pair");
                    }
                }
            }
        }
        for other in stored.fields.iter().filter(|other| !taken.contains(other.name.as_str())) {
            unmatched(&other.name, here, span, diagnostics);
        }
    }
}

fn unmatched(name: &str, other: &Type, span: &Span, diagnostics: &mut Diagnostics) {
    let message = format!("`{name}` has no place in `{}`", other.qualified_name);
    diagnostics.error(span, message, "add a field of that name there, or a pair to `renamed`");
}

/// The kinds that are stored as others.
fn stored_elsewhere<'l>(
    all: &[WrittenResource<'l>],
) -> Vec<(WrittenResource<'l>, &'l StoredAsExtension, &'l StoredAs)> {
    let stored = |written: &WrittenResource<'l>| {
        Some((*written, written.extension.stored_as.as_ref()?, written.resource.stored_as.as_ref()?))
    };
    all.iter().filter_map(stored).collect()
}

/// The name that a field has in the other kind.
fn stored_name<'s>(stored_as: &'s StoredAs, name: &'s str) -> &'s str {
    let renamed = stored_as.renamed.iter().find(|(here, _)| here == name);
    renamed.map_or(name, |(_, there)| there)
}

fn object(ty: &Type) -> Option<&ObjectType> {
    match &ty.kind {
        TypeKind::Object(object) => Some(object),
        _ => None,
    }
}

fn field<'m>(object: &'m ObjectType, name: &str) -> Option<&'m Field> {
    object.fields.iter().find(|field| field.name == name)
}

/// Whether a value of one place fits the other. `seen` are the pairs of types that are being compared.
fn same_shape(model: &Model, one: &Usage, other: &Usage, seen: &mut BTreeSet<(TypeId, TypeId)>) -> bool {
    match (model.resolve(one), model.resolve(other)) {
        (Resolved::Object(one, fields), Resolved::Object(other, others)) => {
            if one == other || !seen.insert((one, other)) {
                return true;
            }
            let fits = |own: &Field| {
                field(others, &own.name)
                    .is_some_and(|other| same_shape(model, &own.usage, &other.usage, &mut seen.clone()))
            };
            fields.fields.len() == others.fields.len() && fields.fields.iter().all(fits)
        }
        (Resolved::List(one, _), Resolved::List(other, _)) => same_shape(model, one, other, seen),
        (Resolved::Map { value: one, .. }, Resolved::Map { value: other, .. }) => {
            same_shape(model, one, other, seen)
        }
        // The values of an enum are texts.
        (Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)), other) => {
            matches!(other, Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)))
        }
        (Resolved::Scalar(one), Resolved::Scalar(other)) => discriminant(one) == discriminant(other),
        (Resolved::Any, Resolved::Any) => true,
        _ => false,
    }
}
