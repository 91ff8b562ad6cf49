//! The order of a merged list.

use std::collections::HashMap;

use orch_runtime::Tree;

use super::{directive::ObjectDirective, list::identity};
use crate::patch::PatchError;

/// Checks the items of a patch against its `$setElementOrder`: each has to be named, in the same relative order.
/// Items that only carry a directive do not count.
pub(super) fn check(change: &[Tree], wanted: &[String], key: Option<&str>) -> Result<(), PatchError> {
    if change.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let mut rest = wanted.iter();
    for item in change {
        if ObjectDirective::of_item(item)?.is_some() {
            continue;
        }
        let identity = identity(item, key)?;
        if !rest.any(|wanted| *wanted == identity) {
            return Err(PatchError::Contradiction(format!(
                "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n[{}]\n",
                Tree::from(change),
                wanted.join(" ")
            )));
        }
    }
    Ok(())
}

/// The identities of the items that have one.
pub(super) fn known_identities(items: &[Tree], key: Option<&str>) -> Vec<String> {
    items.iter().filter_map(|item| identity(item, key).ok()).collect()
}

/// Puts a merged list in order. The items that are `wanted` come in that order; the others in the order of the
/// `server`. The two rows are then woven together: one of the others comes first where it stood before the next
/// wanted item on the server.
pub(super) fn arrange(
    merged: Vec<Tree>,
    key: Option<&str>,
    wanted: &[String],
    server: &[String],
) -> Vec<Tree> {
    let (wanted, server) = (positions(wanted), positions(server));
    let mut front = Vec::new();
    let mut others = Vec::new();
    for item in merged {
        let identity = identity(&item, key).ok();
        let find =
            |positions: &HashMap<&str, usize>| identity.as_deref().and_then(|id| positions.get(id).copied());
        let placed = Placed { wanted: find(&wanted), server: find(&server), item };
        if placed.wanted.is_some() { front.push(placed) } else { others.push(placed) }
    }
    front.sort_by_key(|placed| placed.wanted);
    others.sort_by_key(|placed| placed.server.unwrap_or(usize::MAX));
    weave(others, front)
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

/// Where each text stands first.
fn positions(texts: &[String]) -> HashMap<&str, usize> {
    let mut positions = HashMap::with_capacity(texts.len());
    for (position, text) in texts.iter().enumerate() {
        positions.entry(text.as_str()).or_insert(position);
    }
    positions
}
