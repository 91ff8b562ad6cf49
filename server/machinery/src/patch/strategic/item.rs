//! Items of merged lists: their merge key, and the errors about items that do not fit.

use orch_runtime::{Tree, TreeMap};

use crate::patch::{
    PatchError,
    shown::{listing, type_name},
};

/// The value of an item's merge key; [`PatchError::Contradiction`] if it has none.
pub(super) fn merge_key<'i>(item: &'i TreeMap, key: &str) -> Result<&'i Tree, PatchError> {
    item.get(key).ok_or_else(|| {
        let shown = listing(&Tree::Object(item.clone()));
        PatchError::Contradiction(format!("map: {shown} does not contain declared merge key: {key}"))
    })
}

/// The identity of an item: the value itself, or the value of its merge key, as text.
pub(super) fn identity(item: &Tree, key: Option<&str>) -> Result<String, PatchError> {
    match (item, key) {
        (Tree::Object(object), key) => merge_key(object, key.unwrap_or_default()).map(ToString::to_string),
        (_, None) => Ok(item.to_string()),
        (_, Some(_)) => Err(bad_type("map[string]interface {}", item)),
    }
}

/// The error for a list or an item of the wrong type. `wanted` is the name of the right type in the reference
/// server.
pub(super) fn bad_type(wanted: &str, value: &Tree) -> PatchError {
    PatchError::Contradiction(format!("expected a {wanted}, but received a {}", type_name(value)))
}
