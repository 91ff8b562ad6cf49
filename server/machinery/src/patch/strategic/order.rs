//! The order of a merged list.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    slice,
};

use orch_runtime::Tree;

use super::{
    directive::Directive,
    item::{bad_type, identity},
};
use crate::patch::{PatchError, shown::listing};

/// Checks the items of a patch against its `$setElementOrder`, which must name all of them, in the same
/// relative order. Items with a directive do not count.
pub(super) fn check(change: &[Tree], wanted: &[Tree], key: Option<&str>) -> Result<(), PatchError> {
    if change.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    if let Some(other) = change.iter().find(|item| key.is_some() && !item.is_object()) {
        return Err(bad_type("map[string]interface {}", other));
    }
    let mut rest = wanted.iter();
    for item in change.iter().filter(|item| !Directive::deletes(item)) {
        // An item with a directive has no position, but may not come after the last one that is named.
        let is_named =
            if Directive::is_in(item) { rest.len() > 0 } else { comes_next(item, &mut rest, key)? };
        if !is_named {
            return Err(PatchError::Contradiction(format!(
                "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                listing(&Tree::from(change)),
                listing(&Tree::from(wanted))
            )));
        }
    }
    Ok(())
}

/// Moves on to the position at which an item is named. Returns whether it is named.
fn comes_next(
    item: &Tree,
    wanted: &mut slice::Iter<'_, Tree>,
    key: Option<&str>,
) -> Result<bool, PatchError> {
    let item = identity(item, key)?;
    for wanted in wanted {
        if identity(wanted, key)? == item {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sorts a merged list. The items in `wanted` come in that order, the others in the order of the list on the
/// `server`. Then the two sequences are merged: an item of the others comes first if it stood before the next
/// wanted item on the server.
pub(super) fn arrange(
    merged: Vec<Tree>,
    wanted: &Positions,
    server: &Positions,
    key: Option<&str>,
) -> Result<Vec<Tree>, PatchError> {
    let mut front = Vec::new();
    let mut others = Vec::new();
    for item in merged {
        let identity = identity(&item, key)?;
        let find = |positions: &Positions| positions.get(&identity).copied();
        let placed = Placed { wanted: find(wanted), server: find(server), item };
        if placed.wanted.is_some() { front.push(placed) } else { others.push(placed) }
    }
    front.sort_by_key(|placed| placed.wanted);
    others.sort_by_key(|placed| placed.server.unwrap_or(usize::MAX));
    Ok(weave(others, front))
}

struct Placed {
    wanted: Option<usize>,
    server: Option<usize>,
    item: Tree,
}

fn weave(others: Vec<Placed>, front: Vec<Placed>) -> Vec<Tree> {
    let mut woven = Vec::with_capacity(others.len() + front.len());
    let mut others = others.into_iter().peekable();
    for placed in front {
        let stood_before = |other: &Placed| match (other.server, placed.server) {
            (Some(other), Some(this)) => other < this,
            _ => false,
        };
        while let Some(other) = others.next_if(stood_before) {
            woven.push(other.item);
        }
        woven.push(placed.item);
    }
    woven.extend(others.map(|other| other.item));
    woven
}

/// The first position of each item, by its identity.
pub(super) type Positions = HashMap<String, usize>;

/// The positions in a `$setElementOrder`, whose items are compared with those of the list.
pub(super) fn wanted_positions(wanted: &[Tree], key: Option<&str>) -> Result<Positions, PatchError> {
    let other = wanted.iter().position(|item| key.is_some() && !item.is_object());
    match other {
        Some(at) => Err(PatchError::Contradiction(format!("value for key {at} is not a map"))),
        None => positions(wanted, key),
    }
}

/// The positions of the items in a list.
pub(super) fn positions(items: &[Tree], key: Option<&str>) -> Result<Positions, PatchError> {
    let mut positions = HashMap::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        positions.entry(identity(item, key)?).or_insert(position);
    }
    Ok(positions)
}

/// The positions of the items in a list on the server for an order that is set beside changes of the list.
///
/// The reference server deletes items in place before it looks at the positions, and adds items to what is
/// left. So as many new items as were deleted stand at the end of the list, as if the server had had them.
pub(super) fn server_positions(items: &[Tree], change: &[Tree], key: &str) -> Result<Positions, PatchError> {
    let mut deleted = HashSet::new();
    let mut added = Vec::new();
    for item in change {
        if Directive::deletes(item) {
            deleted.insert(identity(item, Some(key))?);
        } else if Directive::is_in(item) {
            // The only other directive here replaces the list, and nothing is added to the old one.
            return positions(items, Some(key));
        } else {
            added.push(item);
        }
    }
    let mut kept = HashMap::with_capacity(items.len());
    let mut free = 0;
    for item in items {
        let identity = identity(item, Some(key))?;
        if deleted.contains(&identity) {
            free += 1;
            continue;
        }
        let end = kept.len();
        kept.entry(identity).or_insert(end);
    }
    for item in added {
        if free == 0 {
            break;
        }
        let end = kept.len();
        if let Entry::Vacant(place) = kept.entry(identity(item, Some(key))?) {
            place.insert(end);
            free -= 1;
        }
    }
    Ok(kept)
}
