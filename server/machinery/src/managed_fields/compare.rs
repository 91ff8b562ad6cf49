//! Compares two states of an object, field by field.
//!
//! Fields of objects, entries of maps and items of keyed lists are compared one by one. Single values, atomic
//! lists and atomic objects are compared as a whole, and so are empty objects and lists. An object, map or
//! list that is added or removed is a change itself, besides the changes of its parts.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use crate::{
    fieldset::{Element, FieldSet},
    list_item::item_element,
};

/// Below this depth values are compared as a whole, so that a set is never deeper than a tree may be.
const MAX_COMPARED_DEPTH: usize = 100;

/// The fields that differ between two states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison<'t> {
    /// Fields that only the new state has.
    pub added: FieldSet<'t>,
    /// Fields with different values.
    pub modified: FieldSet<'t>,
    /// Fields that only the old state has.
    pub removed: FieldSet<'t>,
}

/// Compares two states of a top-level object, without `apiVersion` and `kind`.
pub fn compare<'t>(old: &'t Tree, new: &'t Tree, def: &'static TypeDef) -> Comparison<'t> {
    of_fields((old.as_object(), new.as_object()), def, 0)
}

impl<'t> Comparison<'t> {
    /// One of the states is absent.
    fn one_sided(added: FieldSet<'t>, removed: FieldSet<'t>) -> Self {
        Comparison { added, modified: FieldSet::EMPTY, removed }
    }

    /// Adds the differences below an element that both states have.
    fn put_below(&mut self, element: &Element<'t>, below: Comparison<'t>) {
        let Comparison { added, modified, removed } = below;
        for (set, below) in
            [(&mut self.added, added), (&mut self.modified, modified), (&mut self.removed, removed)]
        {
            if !below.is_empty() {
                set.put(element.clone(), false, below);
            }
        }
    }

    /// Compares the values of an element, which are known to differ. `depth` is the number of elements on the
    /// path to it.
    fn step(
        &mut self,
        element: Element<'t>,
        old: Option<&'t Tree>,
        new: Option<&'t Tree>,
        shape: &'static Shape,
        depth: usize,
    ) {
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => self.added.put(element, true, parts_of(new, shape, depth)),
            (Some(old), None) => self.removed.put(element, true, parts_of(old, shape, depth)),
            (Some(old), Some(new)) if is_leaf(old, new, shape, depth) => {
                self.modified.put(element, true, FieldSet::EMPTY);
            }
            (Some(old), Some(new)) => self.put_below(&element, of_parts(old, new, shape, depth + 1)),
        }
    }
}

/// Whether values of this shape have fields of their own.
fn is_divided(shape: &Shape, depth: usize) -> bool {
    let divided = match shape {
        Shape::Scalar(_) | Shape::Any => false,
        Shape::Object(def) => !def.atomic,
        Shape::Map { atomic, .. } => !atomic,
        Shape::List { semantics, .. } => *semantics != ListSemantics::Atomic,
    };
    divided && depth + 1 < MAX_COMPARED_DEPTH
}

fn is_leaf(old: &Tree, new: &Tree, shape: &Shape, depth: usize) -> bool {
    let has_no_parts = |value: &Tree| match value {
        Tree::Array(items) => items.is_empty(),
        Tree::Object(map) => map.is_empty(),
        _ => true,
    };
    !is_divided(shape, depth) || (has_no_parts(old) && has_no_parts(new))
}

/// All fields below a value that is added or removed. `depth` is the number of elements on the path to it.
fn parts_of<'t>(value: &'t Tree, shape: &'static Shape, depth: usize) -> FieldSet<'t> {
    if !is_divided(shape, depth) {
        return FieldSet::EMPTY;
    }
    let depth = depth + 1;
    match (shape, value) {
        (Shape::Object(def), Tree::Object(map)) => fields(map, def, depth),
        (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
            let mut set = FieldSet::new();
            for (key, value) in map {
                set.put(Element::field(key), true, parts_of(value, shape, depth));
            }
            set
        }
        (Shape::List { item, semantics }, Tree::Array(items)) => items_of(items, item, *semantics)
            .into_iter()
            .fold(FieldSet::new(), |mut set, (element, value)| {
                set.put_item(element, parts_of(value, item, depth));
                set
            }),
        _ => FieldSet::EMPTY,
    }
}

fn fields<'t>(map: &'t TreeMap, def: &'static TypeDef, depth: usize) -> FieldSet<'t> {
    let mut set = FieldSet::new();
    for (name, value) in map {
        if let Some(field) = def.field(name) {
            set.put(Element::field(field.name), true, parts_of(value, &field.shape, depth));
        }
    }
    set
}

/// The differences below a value of this shape that both states have. `depth` is the number of elements on
/// the path to its parts.
fn of_parts<'t>(old: &'t Tree, new: &'t Tree, shape: &'static Shape, depth: usize) -> Comparison<'t> {
    let maps = (old.as_object(), new.as_object());
    match shape {
        Shape::Object(def) => of_fields(maps, def, depth),
        Shape::Map { value, .. } => of_members(maps, |key| Some((Element::field(key), *value)), depth),
        Shape::List { item, semantics } => {
            let [old, new] = [old, new].map(|list| list.as_array().map_or(&[][..], Vec::as_slice));
            of_items([old, new].map(|list| items_of(list, item, *semantics)), item, depth)
        }
        Shape::Scalar(_) | Shape::Any => Comparison::default(),
    }
}

/// The old and the new state.
type Maps<'t> = (Option<&'t TreeMap>, Option<&'t TreeMap>);

fn of_fields<'t>(maps: Maps<'t>, def: &'static TypeDef, depth: usize) -> Comparison<'t> {
    match maps {
        (None, Some(new)) => Comparison::one_sided(fields(new, def, depth), FieldSet::EMPTY),
        (Some(old), None) => Comparison::one_sided(FieldSet::EMPTY, fields(old, def, depth)),
        maps => {
            let named = |name| def.field(name).map(|field| (Element::field(field.name), &field.shape));
            of_members(maps, named, depth)
        }
    }
}

fn of_members<'t>(
    (old, new): Maps<'t>,
    named: impl Fn(&'t str) -> Option<(Element<'t>, &'static Shape)>,
    depth: usize,
) -> Comparison<'t> {
    let mut found = Comparison::default();
    let mut new = new.into_iter().flatten().peekable();
    let mut step = |name: &'t String, old: Option<&'t Tree>, new: Option<&'t Tree>| {
        // Mostly the values are equal, and comparing them is faster than looking up the field.
        if old != new
            && let Some((element, shape)) = named(name)
        {
            found.step(element, old, new, shape, depth);
        }
    };
    for (name, value) in old.into_iter().flatten() {
        while let Some((name, added)) = new.next_if(|(other, _)| *other < name) {
            step(name, None, Some(added));
        }
        let same = new.next_if(|(other, _)| *other == name);
        step(name, Some(value), same.map(|(_, value)| value));
    }
    for (name, added) in new {
        step(name, None, Some(added));
    }
    found
}

/// The items of a list with their elements, sorted by element. An item without its key fields is an error
/// elsewhere; here its value identifies it.
fn items_of<'t>(
    items: &'t [Tree],
    shape: &'static Shape,
    semantics: ListSemantics,
) -> Vec<(Element<'t>, &'t Tree)> {
    let element = |item| item_element(item, shape, semantics).unwrap_or_else(|_| Element::value(item));
    let mut items: Vec<_> = items.iter().map(|item| (element(item), item)).collect();
    items.sort_by(|(left, _), (right, _)| left.cmp(right));
    items
}

fn of_items<'t>(
    [old, new]: [Vec<(Element<'t>, &'t Tree)>; 2],
    shape: &'static Shape,
    depth: usize,
) -> Comparison<'t> {
    let mut found = Comparison::default();
    let (mut old, mut new) = (&old[..], &new[..]);
    while let Some((element, _)) =
        old.first().into_iter().chain(new.first()).min_by(|(left, _), (right, _)| left.cmp(right))
    {
        let element = element.clone();
        let (of_old, of_new) = (split_off(&mut old, &element), split_off(&mut new, &element));
        same_items(element, of_old, of_new, shape, depth, &mut found);
    }
    found
}

/// Takes the items of an element from the front.
fn split_off<'i, 't>(
    items: &mut &'i [(Element<'t>, &'t Tree)],
    element: &Element<'t>,
) -> &'i [(Element<'t>, &'t Tree)] {
    let count = items.iter().take_while(|(other, _)| other == element).count();
    let (same, rest) = items.split_at(count);
    *items = rest;
    same
}

/// Compares the items of one element. Mostly there is one on each side. Some lists with merge keys may have a
/// key twice (the variables of a container). Such items are compared as a whole, and no manager owns parts of
/// them; the parts of a single item that they replace, or that replaces them, are removed or added.
fn same_items<'t>(
    element: Element<'t>,
    old: &[(Element<'t>, &'t Tree)],
    new: &[(Element<'t>, &'t Tree)],
    shape: &'static Shape,
    depth: usize,
    found: &mut Comparison<'t>,
) {
    if old == new {
        return;
    }
    if old.len() <= 1 && new.len() <= 1 {
        let [old, new] = [old, new].map(|items| items.first().map(|(_, item)| *item));
        return found.step(element, old, new, shape, depth);
    }
    match (old, new) {
        ([], _) => found.added.put(element, true, FieldSet::EMPTY),
        (_, []) => found.removed.put(element, true, FieldSet::EMPTY),
        _ => {
            if let [(_, old)] = old {
                found.removed.put(element.clone(), false, parts_of(old, shape, depth));
            }
            if let [(_, new)] = new {
                found.added.put(element.clone(), false, parts_of(new, shape, depth));
            }
            found.modified.put(element, true, FieldSet::EMPTY);
        }
    }
}
