//! Kinds: names in URLs, verbs, subresources, versions.

mod conversion_places;
mod conversion_steps;
mod conversions;
mod lifecycle;
mod losses;
mod owners;

use std::collections::BTreeMap;

pub(super) use conversion_places::{annotations_are_apart, places_are_apart};
pub(super) use conversion_steps::{losses_are_kept, steps_fit, values_fit};
pub(super) use conversions::{conversion_targets, one_stored_version};
pub(super) use lifecycle::lifecycles;
pub(super) use losses::conversions_are_complete;
pub(super) use owners::owners_are_kept;

use super::walk;
use crate::{
    diagnostic::{Diagnostics, Span, suggest},
    lower::Lowered,
    model::Verb,
    source::Spanned,
};

/// What a part of an item may allow.
const PART_VERBS: [Verb; 5] = [Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];

/// A file declares one kind.
pub(super) fn one_per_file(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut first: BTreeMap<&std::path::Path, &str> = BTreeMap::new();
    let mut kinds: Vec<(&Span, &str)> = walk::resources(lowered)
        .iter()
        .map(|written| (&written.resource.span, written.resource.kind.as_str()))
        .collect();
    kinds.sort();
    for (span, kind) in kinds {
        if let Some(first) = first.get(span.file.as_path()) {
            let help = format!("move it to a file of its own: `{}.yaml`", kind.to_lowercase());
            diagnostics.error(span, format!("second kind in one file: `{first}` is the first"), help);
        } else {
            first.insert(span.file.as_path(), kind);
        }
    }
}

/// Names in URLs and on command lines are RFC 1123 labels.
pub(super) fn names(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let extension = written.extension;
        let names = std::iter::once(&extension.plural)
            .chain(&extension.singular)
            .chain(extension.short_names.iter().flatten())
            .chain(extension.categories.iter().flatten());
        for name in names.filter(|name| !orch_runtime::constraint::dns_label(&name.value).is_empty()) {
            let help = "small letters, digits and dashes: `widgets`";
            diagnostics.error(&name.span, format!("`{}` cannot stand in a URL", name.value), help);
        }
    }
}

/// Within a group, a plural or singular name belongs to one kind.
pub(super) fn unique_names(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut owners = Owners::default();
    for written in walk::resources(lowered) {
        let owner = (written.group_version.group.as_str(), written.resource.kind.as_str());
        let extension = written.extension;
        owners.claim(owner, &extension.plural.value, &extension.plural.span, "plural name", diagnostics);
        let span = extension.singular.as_ref().map_or(&written.resource.span, |singular| &singular.span);
        owners.claim(owner, &written.resource.singular, span, "singular name", diagnostics);
    }
}

/// Within a group, a short name belongs to one kind, and is no plural or singular name.
pub(super) fn unique_short_names(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut owners = Owners::default();
    for written in walk::resources(lowered) {
        let owner = (written.group_version.group.as_str(), written.resource.kind.as_str());
        for name in written.extension.short_names.iter().flatten() {
            owners.claim(owner, &name.value, &name.span, "short name", diagnostics);
        }
        for name in [&written.resource.plural, &written.resource.singular] {
            let clash = walk::resources(lowered).into_iter().find_map(|other| {
                let same_group = other.group_version.group == written.group_version.group;
                let short = other.extension.short_names.iter().flatten().find(|short| short.value == *name);
                short.filter(|_| same_group)
            });
            if let Some(short) = clash {
                let message =
                    format!("the short name `{}` is the name of `{}`", short.value, written.resource.kind);
                diagnostics.error(&short.span, message, "choose another");
            }
        }
    }
}

/// Who has which name, by group.
#[derive(Default)]
struct Owners<'l> {
    claimed: BTreeMap<(&'l str, &'l str), (&'l str, &'l Span)>,
}

impl<'l> Owners<'l> {
    fn claim(
        &mut self,
        (group, kind): (&'l str, &'l str),
        name: &'l str,
        span: &'l Span,
        noun: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let owner = self.claimed.entry((group, name)).or_insert((kind, span));
        if owner.0 == kind {
            return;
        }
        // The one that looks less like its kind is the mistake; among equals, the later one.
        let mistaken = if likeness(name, owner.0) < likeness(name, kind) {
            std::mem::replace(owner, (kind, span))
        } else {
            (kind, span)
        };
        let message = format!("duplicate {noun} `{name}`: the kind `{}` of the group has it", owner.0);
        diagnostics.error(mistaken.1, message, "choose another");
    }
}

/// With how many letters of the kind the name begins.
fn likeness(name: &str, kind: &str) -> usize {
    let letters = name.chars().zip(kind.chars());
    letters.take_while(|(name, kind)| name.eq_ignore_ascii_case(kind)).count()
}

/// Verbs fit the kind, and each is given once.
pub(super) fn verbs(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let Some(verbs) = &written.extension.verbs else { continue };
        if verbs.is_empty() {
            let span = key_span(&written.extension.keys, "verbs", &written.extension.span);
            diagnostics.error(span, "no verbs", "list the verbs, or remove it to allow everything");
        }
        twice(verbs, diagnostics);
        if written.resource.is_virtual {
            for verb in verbs.iter().filter(|verb| verb.value != Verb::Create) {
                let help = "nothing is stored: `create` is the only verb of a virtual kind";
                diagnostics.error(&verb.span, "a virtual kind has nothing to do this with", help);
            }
        }
    }
}

fn twice(verbs: &[Spanned<Verb>], diagnostics: &mut Diagnostics) {
    for (index, verb) in verbs.iter().enumerate() {
        if verbs[..index].iter().any(|other| other.value == verb.value) {
            diagnostics.error(&verb.span, "duplicate verb", "remove one of the two");
        }
    }
}

/// Subresources have names that can stand in a URL, verbs for single objects, and something to be a part of.
pub(super) fn subresources(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        for entry in written.extension.subresources.iter().flatten() {
            let (name, full) = entry.parts();
            let verbs = full.and_then(|full| full.verbs.as_ref());
            if !orch_runtime::constraint::dns_label(&name.value).is_empty() {
                let help = "small letters, digits and dashes: `status`";
                diagnostics.error(&name.span, format!("`{}` cannot stand in a URL", name.value), help);
            }
            let known = ["status", "scale"];
            if full.is_none()
                && !known.contains(&name.value.as_str())
                && let Some(meant) = suggest::nearest(&name.value, known)
            {
                let help =
                    format!("did you mean `{meant}`? One of your own is written `{{name: {}}}`", name.value);
                diagnostics.error(&name.span, format!("unknown subresource `{}`", name.value), help);
            }
            if written.resource.is_virtual {
                let help = "nothing is stored: remove it, or `virtual`";
                diagnostics.error(&name.span, "a virtual kind has no subresources", help);
            }
            let verbs = verbs.map(Vec::as_slice).unwrap_or_default();
            twice(verbs, diagnostics);
            for verb in verbs.iter().filter(|verb| !PART_VERBS.contains(&verb.value)) {
                let help =
                    "a subresource belongs to one object: `create`, `delete`, `get`, `patch`, `update`";
                diagnostics.error(&verb.span, "this verb is for collections", help);
            }
            if name.value == "status" {
                status_field(lowered, written, name, diagnostics);
            }
        }
    }
}

/// The subresource `status` shows a field.
fn status_field(
    lowered: &Lowered<'_>,
    written: walk::WrittenResource<'_>,
    name: &Spanned<String>,
    diagnostics: &mut Diagnostics,
) {
    let schema = lowered.written[written.resource.ty.0];
    let has_status = schema
        .properties
        .iter()
        .flat_map(|properties| &properties.0)
        .any(|(field, _)| field.value == "status");
    if !has_status {
        let help = "add a property `status`, or remove the subresource";
        diagnostics.error(&name.span, "the kind has no field `status`", help);
    }
}

/// Where a key is written.
fn key_span<'s>(keys: &'s [Spanned<String>], key: &str, whole: &'s Span) -> &'s Span {
    keys.iter().find(|written| written.value == key).map_or(whole, |written| &written.span)
}
