//! Strategic merge patch: a partial document that is merged by the rules of the type.
//!
//! Objects and maps are merged and `null` removes, as in a merge patch. Lists are replaced, unless their field says
//! that they merge: then lists of single values are united and lists of objects are merged item by item, matched
//! by the field's merge key. Directives in the patch say more:
//!
//! - `$patch` in an object: `replace` it by the rest, `delete` it, or `merge` it (the default). As an item of a
//!   merged list: `delete` removes the item of the same key, `replace` replaces the list by the other items.
//! - `$retainKeys`: fields of the object that it does not name are removed.
//! - `$deleteFromPrimitiveList/<field>`: values to remove from a merged list of single values.
//! - `$setElementOrder/<field>`: the order of a merged list; every item of the patch has to be in it.
//!
//! Items that only the object has keep their places relative to the items that the patch has too; items that are
//! new come before them. Recursion is as deep as the patch, which its reader has bounded.

mod directive;
mod list;
mod order;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{PatchStrategy, Shape, TypeDef},
};

use self::directive::{ListDirectives, ObjectDirective};
use super::PatchError;

/// The object after the patch.
pub fn apply(current: &Tree, patch: &Tree, def: &'static TypeDef) -> Result<Tree, PatchError> {
    let Tree::Object(patch) = patch.clone() else {
        return Err(PatchError::Malformed("invalid JSON document".to_owned()));
    };
    let current = current.as_object().cloned().unwrap_or_default();
    let merged = merge_object(current, patch, Members::Fields(def))?;
    Ok(Tree::Object(merged.unwrap_or_default()))
}

/// What is known about the entries of an object.
#[derive(Clone, Copy)]
enum Members {
    /// They are the fields of a type.
    Fields(&'static TypeDef),
    /// They all hold the same.
    Values(&'static Shape),
    /// Nothing.
    Unknown,
}

/// What is known about one value.
#[derive(Clone, Copy)]
struct Slot {
    shape: Option<&'static Shape>,
    strategy: PatchStrategy,
}

impl Slot {
    fn of(shape: &'static Shape) -> Self {
        Slot { shape: Some(shape), strategy: PatchStrategy::DEFAULT }
    }

    /// The entries of the object in this place.
    fn members(self) -> Members {
        match self.shape {
            Some(Shape::Object(def)) => Members::Fields(def),
            Some(Shape::Map { value, .. }) => Members::Values(value),
            _ => Members::Unknown,
        }
    }

    /// The entries of the objects in the list in this place.
    fn item_members(self) -> Members {
        match self.shape {
            Some(Shape::List { item, .. }) => Slot::of(item).members(),
            _ => Members::Unknown,
        }
    }
}

impl Members {
    fn slot(self, name: &str) -> Slot {
        match self {
            Members::Fields(def) => match def.field(name) {
                Some(field) => Slot { shape: Some(&field.shape), strategy: field.patch },
                None => Slot { shape: None, strategy: PatchStrategy::DEFAULT },
            },
            Members::Values(shape) => Slot::of(shape),
            Members::Unknown => Slot { shape: None, strategy: PatchStrategy::DEFAULT },
        }
    }
}

/// None: the patch removes the object.
fn merge_object(
    mut object: TreeMap,
    mut patch: TreeMap,
    members: Members,
) -> Result<Option<TreeMap>, PatchError> {
    match ObjectDirective::take(&mut patch)? {
        ObjectDirective::Merge => {}
        ObjectDirective::Replace => object = TreeMap::new(),
        ObjectDirective::Delete => return Ok(None),
    }
    directive::retain_keys(&mut object, &mut patch)?;
    for (name, directives) in ListDirectives::take_all(&mut patch)? {
        let changes = patch.remove(&name);
        list::merge_with_directives(&mut object, name, changes, directives, members)?;
    }
    for (name, change) in patch {
        let slot = members.slot(&name);
        let merged = merge_value(object.remove(&name), change, slot)?;
        if let Some(value) = merged {
            object.insert(name, value);
        }
    }
    Ok(Some(object))
}

/// None: the patch removes the value.
fn merge_value(value: Option<Tree>, change: Tree, slot: Slot) -> Result<Option<Tree>, PatchError> {
    match change {
        Tree::Null => Ok(None),
        Tree::Object(change) => {
            // Against anything but an object the patch is taken as if there had been an empty one.
            let object = if let Some(Tree::Object(object)) = value { object } else { TreeMap::new() };
            Ok(merge_object(object, change, slot.members())?.map(Tree::Object))
        }
        Tree::Array(change) if slot.strategy.merge => {
            let items = if let Some(Tree::Array(items)) = value { items } else { Vec::new() };
            list::merge(items, change, slot).map(|items| Some(Tree::Array(items)))
        }
        other => Ok(Some(other)),
    }
}

#[cfg(test)]
mod tests;
