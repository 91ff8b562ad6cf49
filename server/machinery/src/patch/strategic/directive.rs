//! The directives of a patch: taking them out of it, and those that concern one object.

use std::collections::{BTreeMap, HashSet};

use orch_runtime::{Tree, TreeMap, field_error::Shown as _};

use crate::patch::PatchError;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

/// `$patch` in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectDirective {
    Merge,
    Replace,
    Delete,
}

impl ObjectDirective {
    /// Takes the directive out of the patch of an object.
    pub(super) fn take(patch: &mut TreeMap) -> Result<Self, PatchError> {
        match patch.remove(PATCH) {
            None => Ok(ObjectDirective::Merge),
            Some(directive) => Self::read(&directive),
        }
    }

    /// The directive of a list item, which is left in place.
    pub(super) fn of_item(item: &Tree) -> Result<Option<Self>, PatchError> {
        item.get(PATCH).map(Self::read).transpose()
    }

    fn read(directive: &Tree) -> Result<Self, PatchError> {
        match directive.as_str() {
            Some("merge") => Ok(ObjectDirective::Merge),
            Some("replace") => Ok(ObjectDirective::Replace),
            Some("delete") => Ok(ObjectDirective::Delete),
            _ => Err(PatchError::Malformed(format!("unknown patch type: {}", directive.shown()))),
        }
    }
}

/// Carries out `$retainKeys`: removes what it does not name from the object. What the patch sets has to be named.
pub(super) fn retain_keys(object: &mut TreeMap, patch: &mut TreeMap) -> Result<(), PatchError> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let retained: HashSet<&str> =
        directive.as_array().ok_or_else(bad)?.iter().filter_map(Tree::as_str).collect();
    let about_lists = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    let sets = |(name, change): (&String, &Tree)| !change.is_null() && !about_lists(name);
    if patch.iter().any(|entry| sets(entry) && !retained.contains(entry.0.as_str())) {
        return Err(bad());
    }
    object.retain(|name, _| retained.contains(name.as_str()));
    Ok(())
}

/// The directives about one list, which stand beside it.
#[derive(Debug, Default)]
pub(super) struct ListDirectives {
    /// `$deleteFromPrimitiveList/<field>`
    pub(super) delete: Vec<Tree>,
    /// `$setElementOrder/<field>`
    pub(super) order: Option<Vec<Tree>>,
}

impl ListDirectives {
    /// Takes all of them out of the patch of an object, by field.
    pub(super) fn take_all(patch: &mut TreeMap) -> Result<BTreeMap<String, Self>, PatchError> {
        let mut found: BTreeMap<String, Self> = BTreeMap::new();
        let names: Vec<String> = patch
            .keys()
            .filter(|name| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER))
            .cloned()
            .collect();
        for name in names {
            let value = patch.remove(&name);
            match (name.split_once('/'), value) {
                (Some((DELETE_FROM_LIST, field)), Some(Tree::Array(values))) => {
                    found.entry(field.to_owned()).or_default().delete = values;
                }
                (Some((SET_ORDER, field)), Some(Tree::Array(order))) => {
                    found.entry(field.to_owned()).or_default().order = Some(order);
                }
                _ if name.starts_with(SET_ORDER) => return Err(bad_order()),
                _ => return Err(bad_delete()),
            }
        }
        Ok(found)
    }
}

/// `$setElementOrder` cannot be meant like that.
pub(super) fn bad_order() -> PatchError {
    PatchError::Malformed("invalid patch format of setElementOrder list".to_owned())
}

/// `$deleteFromPrimitiveList` cannot be meant like that.
pub(super) fn bad_delete() -> PatchError {
    PatchError::Malformed("invalid patch format of primitive list".to_owned())
}
