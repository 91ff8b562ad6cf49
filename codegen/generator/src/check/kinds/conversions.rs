//! Between which kinds objects are converted, and which of them is stored.

use std::collections::BTreeMap;

use crate::{
    check::walk::{self, WrittenResource},
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Resource, TypeId},
};

/// The other kind is one, lives in the same places, and is not converted back.
pub(in crate::check) fn conversion_targets(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let all = walk::resources(lowered);
    for written in &all {
        let Some(extension) = &written.extension.conversion else { continue };
        let Some(conversion) = &written.resource.conversion else { continue };
        let other = of_type(&all, conversion.to);
        let Some((fault, help)) = fault(written, other, &all) else { continue };
        let message = format!("objects cannot be converted to `{}`: {fault}", extension.to.value);
        diagnostics.error(&extension.to.span, message, help);
    }
}

fn fault(
    here: &WrittenResource<'_>,
    there: Option<&WrittenResource<'_>>,
    all: &[WrittenResource<'_>],
) -> Option<(&'static str, &'static str)> {
    let Some(there) = there else {
        return Some(("it is no kind", "name a type with `x-orch-resource`"));
    };
    let parts =
        |resource: &Resource| resource.subresources.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    Some(match (here.resource, there.resource) {
        (here, there) if here.is_virtual != there.is_virtual => {
            ("nothing is stored of a virtual kind", "both kinds are virtual, or both are not")
        }
        (here, there) if here.scope != there.scope => {
            ("it has another scope", "both kinds live in namespaces, or both do not")
        }
        (one, other) if are_versions(here, there_of(all, other)) && one.plural != other.plural => {
            ("it has another plural name", "versions of a kind have the same names")
        }
        (one, other) if parts(one) != parts(other) => {
            ("it has other subresources", "list the same `subresources` for both")
        }
        (one, _) if leads_to(one.ty, one.ty, all) => (
            "its conversions lead back",
            "an older version is converted to a newer one, and no version to it",
        ),
        _ => return None,
    })
}

fn there_of<'a, 'l>(all: &'a [WrittenResource<'l>], resource: &Resource) -> &'a WrittenResource<'l> {
    of_type(all, resource.ty).expect("it is one of them")
}

fn are_versions(one: &WrittenResource<'_>, other: &WrittenResource<'_>) -> bool {
    one.group_version.group == other.group_version.group && one.resource.kind == other.resource.kind
}

fn of_type<'a, 'l>(all: &'a [WrittenResource<'l>], ty: TypeId) -> Option<&'a WrittenResource<'l>> {
    all.iter().find(|written| written.resource.ty == ty)
}

/// Whether the conversions from one kind come to another one.
fn leads_to(from: TypeId, to: TypeId, all: &[WrittenResource<'_>]) -> bool {
    next(from, all).is_some_and(|first| way(first, all).contains(&to))
}

fn next(ty: TypeId, all: &[WrittenResource<'_>]) -> Option<TypeId> {
    of_type(all, ty)?.resource.conversion.as_ref().map(|conversion| conversion.to)
}

/// A kind and those that it is converted to, one after the other, until one comes again.
pub(super) fn way(from: TypeId, all: &[WrittenResource<'_>]) -> Vec<TypeId> {
    let mut way = vec![from];
    while let Some(next) = next(way[way.len() - 1], all) {
        if way.contains(&next) {
            break;
        }
        way.push(next);
    }
    way
}

/// Of the versions of a kind, one is stored, and conversions lead from each to each.
pub(in crate::check) fn one_stored_version(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let all = walk::resources(lowered);
    let mut kinds: BTreeMap<(&str, &str), Vec<&WrittenResource<'_>>> = BTreeMap::new();
    for written in all.iter().filter(|written| !written.resource.is_virtual) {
        let key = (written.group_version.group.as_str(), written.resource.kind.as_str());
        kinds.entry(key).or_default().push(written);
    }
    for ((_, kind), versions) in kinds {
        let last = |written: &WrittenResource<'_>| way(written.resource.ty, &all).pop();
        let stays = |id: Option<TypeId>| versions.iter().any(|version| Some(version.resource.ty) == id);
        let first = versions[0];
        if versions.iter().all(|version| stays(last(version)) && !version.resource.storage_version) {
            let help = "remove `storageVersion: false`";
            diagnostics.error(&first.resource.span, format!("no version of `{kind}` is stored"), help);
        }
        let mut stored = versions.iter().filter(|version| version.resource.storage_version);
        if let (Some(first), Some(second)) = (stored.next(), stored.next()) {
            let place = first.resource.span.file.display();
            let message = format!("two versions of `{kind}` are stored: the other one is in `{place}`");
            let help = "keep `storageVersion: true` of the one in which objects are to be stored";
            diagnostics.error(&second.resource.span, message, help);
        }
        for other in versions[1..].iter().filter(|other| last(other) != last(first)) {
            let (one, two) = (first.resource.span.file.display(), other.resource.span.file.display());
            let message = format!("nothing converts `{kind}` between its versions in `{one}` and in `{two}`");
            let help = "add `conversion: {to: ..}` to the older one, with steps for what is not the same";
            diagnostics.error(&other.resource.span, message, help);
        }
    }
}
