//! Strategic merge patch: a partial document that is merged by the rules of the type.
//!
//! Objects and maps are merged and `null` removes, as in a merge patch. A list is replaced, unless its field
//! says that it merges. Then lists of single values are united, and lists of objects are merged item by item;
//! the merge key of the field identifies an item. Directives in the patch can change that:
//!
//! - `$patch` in an object: `replace` replaces it by the rest of the patch, `delete` removes its content. As
//!   an item of a merged list: `delete` removes the item with the same key, `replace` replaces the list by
//!   the other items.
//! - `$retainKeys`: fields of the object that it does not name are removed.
//! - `$deleteFromPrimitiveList/<field>`: values to remove from a merged list of single values.
//! - `$setElementOrder/<field>`: the order of a merged list; it must name every item of the patch.
//!
//! A value that the object does not have, or has with another type, is copied from the patch. The rules are
//! those of the reference server, also where they are surprising.
//!
//! Items that only the object has keep their positions relative to the items that the patch has too. New
//! items come before them. Recursion is as deep as the patch, whose depth its reader has limited.

mod directive;
mod item;
mod list;
mod order;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{PatchStrategy, Shape, TypeDef},
};

use self::directive::{Directive, Entry};
use super::{PatchError, shown::cannot_unmarshal};
use crate::tree::weight;

/// The object after the patch.
pub fn apply(current: &Tree, patch: &Tree, def: &'static TypeDef) -> Result<Tree, PatchError> {
    let patch = match patch.clone() {
        Tree::Object(patch) => patch,
        Tree::Null => TreeMap::new(),
        other => return Err(PatchError::Malformed(cannot_unmarshal(&other, "map[string]interface {}"))),
    };
    let current = current.as_object().cloned().unwrap_or_default();
    merge_object(current, patch, Members::Fields(def), &mut Work::default()).map(Tree::Object)
}

/// How much a patch may merge again, in bytes of JSON.
const MAX_REPEATED: usize = 10 * 1024 * 1024;

/// Work beyond one visit of object and patch. A patch that names an item of a list many times merges it as
/// often, so that a small patch could cost its length times that of the object.
#[derive(Default)]
struct Work {
    repeated: usize,
}

impl Work {
    /// Counts that an item is merged another time.
    fn repeats(&mut self, item: &Tree) -> Result<(), PatchError> {
        self.repeated = self.repeated.saturating_add(weight(item));
        if self.repeated > MAX_REPEATED {
            return Err(PatchError::TooLarge(
                "the patch merges the same items of a list too often".to_owned(),
            ));
        }
        Ok(())
    }
}

/// The rules for the entries of an object.
#[derive(Clone, Copy)]
enum Members {
    /// The fields of a type.
    Fields(&'static TypeDef),
    /// All entries have this shape.
    Values(&'static Shape),
    /// There are no rules.
    Unknown,
}

/// The rules for one value.
#[derive(Clone, Copy)]
struct Slot {
    shape: Option<&'static Shape>,
    strategy: PatchStrategy,
}

impl Slot {
    fn of(shape: &'static Shape) -> Self {
        Slot { shape: Some(shape), strategy: PatchStrategy::DEFAULT }
    }

    /// The rules for the entries of this value, which is an object.
    fn members(self) -> Members {
        match self.shape {
            Some(Shape::Object(def)) => Members::Fields(def),
            Some(Shape::Map { value, .. }) => Members::Values(value),
            _ => Members::Unknown,
        }
    }

    /// Whether this value is a list of objects.
    fn holds_objects(self) -> bool {
        matches!(self.shape, Some(Shape::List { item: Shape::Object(_), .. }))
    }

    /// The rules for the entries of the objects in this list.
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

fn merge_object(
    mut object: TreeMap,
    mut patch: TreeMap,
    members: Members,
    work: &mut Work,
) -> Result<TreeMap, PatchError> {
    match list::directive_of_object(&patch)? {
        Some(Directive::Replace) => {
            Directive::remove_from(&mut patch);
            return Ok(patch);
        }
        Some(Directive::Delete) => return Ok(TreeMap::new()),
        Some(Directive::Merge) | None => {}
    }
    directive::retain_keys(&mut object, &mut patch)?;
    for (name, order) in directive::take_orders(&mut patch)? {
        list::merge_in_order((&mut object, &mut patch), &name, order, members, work)?;
    }
    for (name, change) in patch {
        match Entry::of(&name)? {
            Entry::Field(name) => merge_field(&mut object, name, change, members.slot(name), work)?,
            Entry::Deletion(name) => {
                delete_values(&mut object, name, change, members.slot(name), work)?;
            }
        }
    }
    Ok(object)
}

/// Merges the patch of one field. An absent value, or one of another type, gets the value of the patch.
fn merge_field(
    object: &mut TreeMap,
    name: &str,
    change: Tree,
    slot: Slot,
    work: &mut Work,
) -> Result<(), PatchError> {
    if change.is_null() {
        object.remove(name);
        return Ok(());
    }
    let merged = match (object.remove(name), change) {
        (Some(Tree::Object(inner)), Tree::Object(change)) => {
            let inner = if slot.strategy.replace { TreeMap::new() } else { inner };
            Some(Tree::Object(merge_object(inner, change, slot.members(), work)?))
        }
        (Some(Tree::Array(items)), Tree::Array(change)) => {
            Some(Tree::Array(list::merge(items, change, slot, work)?))
        }
        (_, change) => directive::without_directives(directive::without_nulls(change)),
    };
    if let Some(value) = merged {
        object.insert(name.to_owned(), value);
    }
    Ok(())
}

/// Removes values from a list, if there is one; `null` removes the list.
fn delete_values(
    object: &mut TreeMap,
    name: &str,
    deleted: Tree,
    slot: Slot,
    work: &mut Work,
) -> Result<(), PatchError> {
    match (object.get_mut(name), deleted) {
        (_, Tree::Null) => drop(object.remove(name)),
        (Some(Tree::Array(items)), Tree::Array(deleted)) => {
            *items = list::delete(std::mem::take(items), deleted, slot, work)?;
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
