//! The order of errors, and taking back and moving those that rules of the schema have found.
//!
//! Rules run in the order of the schema's fields, hand-written ones after them. Where the errors of a kind
//! have another order, an [`Order`] says it, one level of fields at a time.

use std::collections::BTreeSet;

use super::{FieldError, Validation};
use crate::path::Path;

/// A field, and the order of what is below it. The field `"*"` stands for all fields that are not listed, and
/// `""` for the place itself, which is otherwise one of those, or comes last where they are not listed. A
/// field may be listed several times, each time with other fields below it.
#[derive(Debug)]
pub struct Order {
    /// The name of the field.
    pub field: &'static str,
    /// The order below it, and the items of lists in theirs; none where errors stay as they are.
    pub below: &'static [Order],
}

impl Order {
    /// A field whose errors stay in their order.
    pub const fn of(field: &'static str) -> Self {
        Order { field, below: &[] }
    }

    /// A field below which there is an order too.
    pub const fn with(field: &'static str, below: &'static [Order]) -> Self {
        Order { field, below }
    }
}

impl Validation<'_> {
    /// Puts the errors at a place and below it into an order; those of the same rank stay as they are.
    pub fn arrange(&mut self, path: &Path<'_>, order: &[Order]) {
        if self.errors.len() < 2 {
            return;
        }
        let place = path.to_string();
        let below = |field: &str| rest(field, &place).map(str::to_owned);
        let slots: Vec<usize> =
            (0..self.errors.len()).filter(|slot| below(&self.errors[*slot].field).is_some()).collect();
        let mut arranged: Vec<_> = slots.iter().map(|slot| self.errors[*slot].clone()).collect();
        arranged.sort_by_cached_key(|error| rank(rest(&error.field, &place).unwrap_or_default(), order));
        for (slot, error) in slots.into_iter().zip(arranged) {
            self.errors[slot] = error;
        }
    }

    /// Whether there is an error at a place or below it.
    pub fn has_error_at(&self, path: &Path<'_>) -> bool {
        let place = if self.errors.is_empty() { return false } else { path.to_string() };
        self.errors.iter().any(|error| rest(&error.field, &place).is_some())
    }

    /// The items of a list that have errors, at them or below them.
    pub fn items_with_errors(&self, list: &Path<'_>) -> BTreeSet<usize> {
        if self.errors.is_empty() {
            return BTreeSet::new();
        }
        let list = list.to_string();
        self.errors.iter().filter_map(|error| Some(item(&error.field, &list)?.0)).collect()
    }

    /// Takes back the errors at all items of a list, and below them.
    pub fn retract_items(&mut self, list: &Path<'_>) {
        if !self.errors.is_empty() {
            let list = list.to_string();
            self.errors.retain(|error| item(&error.field, &list).is_none());
            self.count_bytes();
        }
    }

    /// Moves the errors at a field of all items of a list, and below it, to the items.
    pub fn relocate_to_items(&mut self, list: &Path<'_>, field: &str) {
        self.relocate_in_items(list, field, |list, index| format!("{list}[{index}]"));
    }

    /// Moves the errors at a field of all items of a list, and below it, to one other place.
    pub fn relocate_from_items(&mut self, list: &Path<'_>, field: &str, to: &Path<'_>) {
        self.relocate_in_items(list, field, |_, _| to.to_string());
    }

    /// One pass over the errors, because lists may have many items.
    fn relocate_in_items(&mut self, list: &Path<'_>, field: &str, to: impl Fn(&str, usize) -> String) {
        if self.errors.is_empty() {
            return;
        }
        let (list, field) = (list.to_string(), format!(".{field}"));
        for FieldError { field: at, .. } in &mut self.errors {
            if let Some((index, below)) = item(at, &list)
                && let Some(below) = rest(below, &field)
            {
                *at = format!("{}{below}", to(&list, index));
            }
        }
    }

    /// Takes back the errors at a place and below it: something else is wrong that makes them pointless.
    pub fn retract(&mut self, path: &Path<'_>) {
        if !self.errors.is_empty() {
            let place = path.to_string();
            self.errors.retain(|error| rest(&error.field, &place).is_none());
            self.count_bytes();
        }
    }

    /// Moves the errors at a place and below it to another place: some rules report a part of the object at a
    /// field other than its own.
    pub fn relocate(&mut self, from: &Path<'_>, to: &Path<'_>) {
        if self.errors.is_empty() {
            return;
        }
        let (from, to) = (from.to_string(), to.to_string());
        for error in &mut self.errors {
            if let Some(rest) = rest(&error.field, &from) {
                error.field = format!("{to}{rest}");
            }
        }
    }
}

/// The index of the item of a list that a path is at or below, and what follows the item.
fn item<'f>(field: &'f str, list: &str) -> Option<(usize, &'f str)> {
    let (index, below) = field.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, below))
}

/// What follows a place in the path of something at it or below it.
fn rest<'f>(field: &'f str, place: &str) -> Option<&'f str> {
    let rest = field.strip_prefix(place)?;
    (place.is_empty() || rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
}

/// Ranks level by level: those of fields by the order, those of items by their index, after the list itself
/// if it is listed.
fn rank(mut rest: &str, mut order: &[Order]) -> Vec<usize> {
    let place_of = |name: &str, order: &[Order]| order.iter().position(|entry| entry.field == name);
    let mut ranks = Vec::new();
    while !order.is_empty() {
        if let Some(item) = rest.strip_prefix('[') {
            let Some((index, after)) = item.split_once(']') else { break };
            let Ok(index) = index.parse::<usize>() else { break };
            ranks.push(index + 1);
            rest = after;
            continue;
        }
        if rest.is_empty() {
            let position = place_of("", order).or_else(|| place_of("*", order));
            ranks.push(position.unwrap_or(usize::MAX));
            break;
        }
        let field = rest.strip_prefix('.').unwrap_or(rest);
        let end = field.find(['.', '[']).unwrap_or(field.len());
        let position = entry_of(&field[..end], &field[end..], order).or_else(|| place_of("*", order));
        ranks.push(position.unwrap_or(order.len()));
        order = position.map_or(&[], |position| order[position].below);
        rest = &field[end..];
    }
    ranks
}

/// The entry of a field: where it is listed several times, the one that lists what is named below it.
fn entry_of(name: &str, rest: &str, order: &[Order]) -> Option<usize> {
    let mut entries = order.iter().enumerate().filter(|(_, entry)| entry.field == name);
    let (first, _) = entries.next()?;
    if entries.next().is_none() {
        return Some(first);
    }
    let below = below_items(rest);
    let lists = |entry: &Order| entry.field == name && entry.below.iter().any(|entry| entry.field == below);
    order.iter().position(lists).or(Some(first))
}

/// The field that a path names next, at once or in an item; empty where it names none.
fn below_items(rest: &str) -> &str {
    let after = match rest.strip_prefix('[').and_then(|item| item.split_once(']')) {
        Some((_, after)) => after,
        None => rest,
    };
    let field = after.strip_prefix('.').unwrap_or(after);
    &field[..field.find(['.', '[']).unwrap_or(field.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field_error::FieldError, vocabulary::EXAMPLE};

    fn validation(fields: &[&str]) -> Validation<'static> {
        let mut cx = Validation::new(&EXAMPLE);
        for field in fields {
            cx.push(FieldError::required(&Path::ROOT.field(field), ""));
        }
        cx
    }

    fn fields(cx: Validation<'_>) -> Vec<String> {
        cx.into_errors().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn errors_are_told_in_the_order_that_is_asked_for() {
        const PORT: &[Order] = &[Order::of("number"), Order::of("*"), Order::of("name")];
        const ORDER: &[Order] = &[
            Order::of("host"),
            Order::with("list", &[Order::of(""), Order::of("x")]),
            Order::with("ports", PORT),
        ];
        let mut cx = validation(&[
            "meta.z",
            "spec.ports[10].name",
            "spec.other",
            "spec.ports[2].name",
            "spec.ports[2].else",
            "spec",
            "spec.ports[2].number",
            "specific",
            "spec.list[0]",
            "spec.list",
            "spec.host.b",
            "spec.host.a",
        ]);
        cx.arrange(&Path::ROOT.field("spec"), ORDER);
        assert_eq!(
            fields(cx),
            [
                "meta.z",
                "spec.host.b",
                "spec.host.a",
                "spec.list",
                "spec.list[0]",
                "spec.ports[2].number",
                "spec.ports[2].else",
                "specific",
                "spec.ports[2].name",
                "spec.ports[10].name",
                "spec.other",
                "spec",
            ]
        );
    }

    #[test]
    fn a_field_has_several_places_in_the_order() {
        const ORDER: &[Order] = &[
            Order::with("ports", &[Order::of("name"), Order::of("number")]),
            Order::of("host"),
            Order::with("ports", &[Order::of("protocol"), Order::of("")]),
        ];
        let mut cx =
            validation(&["ports[0]", "ports[1].protocol", "host", "ports[1].name", "ports[0].number.x"]);
        cx.arrange(&Path::ROOT, ORDER);
        assert_eq!(
            fields(cx),
            ["ports[0].number.x", "ports[1].name", "host", "ports[0]", "ports[1].protocol"]
        );
    }

    #[test]
    fn errors_are_taken_back_and_moved_with_what_is_below_them() {
        let spec = Path::ROOT.field("spec");
        let mut cx = validation(&["spec.a", "spec.a.b", "spec.ab", "spec.c[0].d"]);
        assert!(cx.has_error_at(&spec.field("c")) && !cx.has_error_at(&spec.field("d")));
        cx.retract(&spec.field("a"));
        cx.relocate(&spec.field("c"), &spec.field("e"));
        assert_eq!(fields(cx), ["spec.ab", "spec.e[0].d"]);
    }

    #[test]
    fn errors_of_items_are_moved_together() {
        let list = Path::ROOT.field("list");
        let all = ["list[0].a", "list[12].a.b", "list[3].ab", "list", "lists[0].a", "list[7]"];
        assert_eq!(validation(&all).items_with_errors(&list), BTreeSet::from([0, 3, 7, 12]));
        let mut cx = validation(&all);
        cx.relocate_to_items(&list, "a");
        assert_eq!(fields(cx), ["list[0]", "list[12].b", "list[3].ab", "list", "lists[0].a", "list[7]"]);
        let mut cx = validation(&all);
        cx.relocate_from_items(&list, "a", &Path::ROOT.field("to"));
        assert_eq!(fields(cx), ["to", "to.b", "list[3].ab", "list", "lists[0].a", "list[7]"]);
        let mut cx = validation(&all);
        cx.retract_items(&list);
        assert_eq!(fields(cx), ["list", "lists[0].a"]);
    }
}
