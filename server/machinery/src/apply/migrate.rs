//! Migration from client-side apply, which keeps the last configuration in an annotation, to server-side
//! apply.

use orch_runtime::{Tree, type_def::TypeDef};

use super::fields::fields_of;
use crate::{
    fieldset::FieldSet,
    json::{
        Limits,
        decode::decode_any,
        encode::{text_of, with_html_escapes},
    },
    managed_fields::compare,
    meta::{Meta, metadata_mut},
};

/// The manager whose applies migrate: the default manager of the command line client.
pub(super) const MIGRATING_MANAGER: &str = "kubectl";

/// The annotation that holds the last configuration, as JSON text.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Limit of the keys and values of all annotations together, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The fields that client-side apply set and that still have the value that it set. They are taken over
/// without a conflict. None if there is no last configuration in this version.
pub(super) fn taken_over(live: &Tree, api_version: &str, def: &'static TypeDef) -> Option<FieldSet<'static>> {
    let text = Meta::of(live).annotation(LAST_APPLIED).filter(|text| !text.is_empty())?;
    let last = decode_any(text.as_bytes(), &Limits::STORED).ok()?;
    if last.get("apiVersion").and_then(Tree::as_str) != Some(api_version)
        || super::check::check(&last, def).is_err()
    {
        return None;
    }
    let changed = compare(&last, live, def);
    let fields = fields_of(&last, def);
    let kept = fields.difference(&changed.modified).difference(&changed.added).difference(&changed.removed);
    Some(kept.into_owned())
}

/// Writes the applied configuration into the annotation, if the object has one, so that client-side apply
/// goes on working. The annotation is removed if it would be too long.
pub(super) fn refresh_annotation(object: &mut Tree, config: &Tree) {
    if Meta::of(object).annotation(LAST_APPLIED).is_none_or(str::is_empty) {
        return;
    }
    let mut config = config.clone();
    match metadata_mut(&mut config).get_mut("annotations") {
        Some(Tree::Object(annotations)) => drop(annotations.remove(LAST_APPLIED)),
        Some(Tree::Null) => drop(metadata_mut(&mut config).remove("annotations")),
        _ => {}
    }
    let text = with_html_escapes(&text_of(&config)) + "\n";
    let others = Meta::of(object).annotations().filter(|(key, _)| *key != LAST_APPLIED);
    let others: usize = others.map(|(key, value)| key.len() + value.len()).sum();
    let Some(Tree::Object(annotations)) = metadata_mut(object).get_mut("annotations") else { return };
    if others + LAST_APPLIED.len() + text.len() > MAX_ANNOTATIONS {
        annotations.remove(LAST_APPLIED);
    } else {
        annotations.insert(LAST_APPLIED.to_owned(), text.into());
    }
}
