//! How large values can be, and how often a type can occur in an object.

use std::collections::HashMap;

use crate::model::{ListSemantics, Model, Resolved, Shape, TypeId, TypeKind, Usage};

/// What a body can hold at most, where the schema says nothing: bytes of a text, items of a list.
const BODY_BYTES: u64 = 3 << 20;
const BODY_ITEMS: u64 = 1 << 20;

/// What is counted for bytes, and for a number or text: no keyword bounds them, and all of them together are
/// bounded by the body.
const FIXED_BYTES: u64 = 4 << 10;

/// Longer than any number, time or the like when it is written.
const SCALAR_BYTES: u64 = 64;

/// Looks up bounds, and remembers which are missing.
#[derive(Debug)]
pub(super) struct Bounds<'m> {
    pub model: &'m Model,
    pub lacking: Vec<String>,
    /// How large a value is for which the schema says nothing, where that is not what a body can hold.
    unbounded: Option<u64>,
    /// How often the type that is counted can stand in objects of these types: a type is counted once, on
    /// however many ways it is reached.
    counted: HashMap<TypeId, u64>,
}

impl<'m> Bounds<'m> {
    pub fn new(model: &'m Model) -> Self {
        Bounds { model, lacking: Vec::new(), unbounded: None, counted: HashMap::new() }
    }

    /// With a size for each value for which the schema says nothing.
    pub fn with_unbounded(model: &'m Model, unbounded: u64) -> Self {
        Bounds { unbounded: Some(unbounded), ..Bounds::new(model) }
    }

    fn or_lacking(&mut self, bound: Option<u64>, name: &str, keyword: &str, without: u64) -> u64 {
        bound.unwrap_or_else(|| {
            let text = format!("`{name}` has no `{keyword}`");
            if !self.lacking.contains(&text) {
                self.lacking.push(text);
            }
            self.unbounded.unwrap_or(without)
        })
    }

    /// A bound that is kept: one whose error has words of its own may be a warning, or of another class, and
    /// would not keep rules from being run.
    fn kept(&self, usage: &Usage, keyword: &str, bound: Option<u64>) -> Option<u64> {
        let words = &self.model.innermost(usage).words;
        bound.filter(|_| !words.contains_key(keyword) && !words.contains_key("all"))
    }

    /// The most items or entries; nothing where it is no list or map.
    pub fn items(&mut self, usage: &Usage, name: &str) -> Option<u64> {
        let constraints = &self.model.innermost(usage).constraints;
        let (bound, keyword) = match self.model.resolve(usage) {
            Resolved::List(..) => (constraints.max_items, "maxItems"),
            Resolved::Map { .. } => (constraints.max_properties, "maxProperties"),
            _ => return None,
        };
        let bound = self.kept(usage, keyword, bound);
        Some(self.or_lacking(bound, name, keyword, BODY_ITEMS))
    }

    /// The most bytes of a single value.
    pub fn bytes(&mut self, usage: &Usage, name: &str) -> u64 {
        let constraints = &self.model.innermost(usage).constraints;
        let longest = |words: &mut dyn Iterator<Item = usize>| words.max().map(|longest| longest as u64);
        let listed = match self.model.resolve(usage) {
            Resolved::Enum(_, values) => longest(&mut values.iter().map(|value| value.value.len())),
            Resolved::Scalar(Shape::String(_)) => {
                longest(&mut constraints.enum_values.iter().map(String::len))
            }
            Resolved::Scalar(Shape::Bytes | Shape::IntOrString) => return FIXED_BYTES,
            _ => return SCALAR_BYTES,
        };
        let listed = self.kept(usage, "enum", listed);
        let bound = listed.or(self.kept(usage, "maxLength", constraints.max_length));
        self.or_lacking(bound, name, "maxLength", BODY_BYTES)
    }

    /// In how many places of one object a type can stand; 1 for a type of no kind.
    pub fn places(&mut self, target: TypeId) -> u64 {
        let model = self.model;
        self.counted.clear();
        let kinds = model.group_versions.iter().flat_map(|group_version| &group_version.resources);
        let counts: Vec<u64> =
            kinds.map(|resource| self.in_type(resource.ty, target, &mut vec![resource.ty])).collect();
        counts.into_iter().max().unwrap_or(0).max(1)
    }

    fn in_type(&mut self, ty: TypeId, target: TypeId, open: &mut Vec<TypeId>) -> u64 {
        if ty == target {
            return 1;
        }
        if let Some(count) = self.counted.get(&ty) {
            return *count;
        }
        let model = self.model;
        let TypeKind::Object(object) = &model.ty(ty).kind else { return 0 };
        let counts = object.fields.iter().map(|field| {
            let name = format!("{}.{}", model.ty(ty).name, field.name);
            self.in_usage(&field.usage, &name, target, open)
        });
        let count = counts.fold(0, u64::saturating_add);
        self.counted.insert(ty, count);
        count
    }

    fn in_usage(&mut self, usage: &Usage, name: &str, target: TypeId, open: &mut Vec<TypeId>) -> u64 {
        let model = self.model;
        let itself = model.names(usage).into_iter().any(|ty| std::ptr::eq(ty, model.ty(target)));
        if itself {
            return 1;
        }
        if !leads_to(model, usage, target, &mut Vec::new()) {
            return 0;
        }
        match model.resolve(usage) {
            Resolved::Object(id, _) if open.contains(&id) => BODY_ITEMS,
            Resolved::Object(id, _) => {
                open.push(id);
                let count = self.in_type(id, target, open);
                open.pop();
                count
            }
            Resolved::List(item, _) => {
                let inner = self.in_usage(item, name, target, open);
                inner.saturating_mul(self.items(usage, name).unwrap_or(1))
            }
            Resolved::Map { keys, value, .. } => {
                let of_keys = self.in_usage(keys, name, target, open);
                let inner = of_keys.saturating_add(self.in_usage(value, name, target, open));
                inner.saturating_mul(self.items(usage, name).unwrap_or(1))
            }
            _ => 0,
        }
    }
}

/// Whether a type stands at a place or somewhere below it.
fn leads_to(model: &Model, usage: &Usage, target: TypeId, seen: &mut Vec<TypeId>) -> bool {
    if model.names(usage).into_iter().any(|ty| std::ptr::eq(ty, model.ty(target))) {
        return true;
    }
    match model.resolve(usage) {
        Resolved::Object(id, object) => {
            if seen.contains(&id) {
                return false;
            }
            seen.push(id);
            object.fields.iter().any(|field| leads_to(model, &field.usage, target, seen))
        }
        Resolved::List(item, _) => leads_to(model, item, target, seen),
        Resolved::Map { keys, value, .. } => {
            leads_to(model, keys, target, seen) || leads_to(model, value, target, seen)
        }
        _ => false,
    }
}

/// A list or map around a type whose items cannot be told from each other over a change.
pub(in crate::expression) fn unidentified_list(model: &Model, target: TypeId) -> Option<String> {
    fn within(model: &Model, usage: &Usage, target: TypeId) -> bool {
        let is_around = |item: &Usage| leads_to(model, item, target, &mut Vec::new());
        match model.resolve(usage) {
            Resolved::List(item, ListSemantics::Map(_)) => within(model, item, target),
            Resolved::List(item, _) => is_around(item),
            Resolved::Map { value, atomic, .. } => atomic && is_around(value) || within(model, value, target),
            _ => false,
        }
    }
    model.types.iter().find_map(|ty| {
        let TypeKind::Object(object) = &ty.kind else { return None };
        let field = object.fields.iter().find(|field| within(model, &field.usage, target))?;
        Some(format!("{}.{}", ty.name, field.name))
    })
}
