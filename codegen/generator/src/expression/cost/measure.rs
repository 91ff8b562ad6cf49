//! Walks over a typed expression, with the size of each value.

use std::collections::HashMap;

use orch_expression::{
    ast::FoldKind,
    typed::{Fold, Term, TermKind},
    types::Type,
    value::Value,
};

use super::bounds::Bounds;
use crate::{
    expression::scope,
    model::{ListSemantics, Model, Resolved, TypeId, TypeKind, Usage},
};

/// How many bytes a function reads or writes for one step, as in the interpreter.
const BYTES_PER_STEP: u64 = 10;

/// How large a value can be.
#[derive(Clone, Debug)]
pub(super) enum Extent<'m> {
    /// What stands at a place of the schema, with its name in messages.
    Place(&'m Usage, String),
    /// An object, or a text of a set of words.
    Type(TypeId),
    /// A value of so many bytes.
    Bytes(u64),
    /// So many items, or entries with keys of so many bytes.
    Items(u64, Box<Extent<'m>>, u64),
}

/// A value: its size, and the steps that it takes to make it.
#[derive(Clone, Debug)]
pub(super) struct Measured<'m> {
    pub steps: u64,
    extent: Extent<'m>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Measure<'m> {
    bounds: Bounds<'m>,
    itself: Extent<'m>,
    /// Other variables.
    others: Vec<(&'static str, Extent<'m>)>,
    locals: Vec<Extent<'m>>,
    /// A comparison with a short text is short, as it is when it is compiled.
    is_growth: bool,
    /// The steps of looking at all of an object of a type: a type is measured once, on however many ways it
    /// is reached.
    weights: HashMap<TypeId, u64>,
}

impl<'m> Measure<'m> {
    pub fn new(bounds: Bounds<'m>, itself: Extent<'m>) -> Self {
        Measure {
            bounds,
            itself,
            others: Vec::new(),
            locals: Vec::new(),
            is_growth: false,
            weights: HashMap::new(),
        }
    }

    /// To see how the steps grow with what they look at.
    pub fn growing(bounds: Bounds<'m>, itself: Extent<'m>) -> Self {
        Measure { is_growth: true, ..Measure::new(bounds, itself) }
    }

    /// With one more variable.
    pub fn add(&mut self, name: &'static str, extent: Extent<'m>) {
        self.others.push((name, extent));
    }

    /// What has no bound, of all that was looked at.
    pub fn lacking(self) -> Vec<String> {
        self.bounds.lacking
    }

    pub fn term(&mut self, term: &Term) -> Measured<'m> {
        let (steps, extent) = match &term.kind {
            TermKind::Constant(value) => (0, constant(value)),
            TermKind::Variable(name) if matches!(&**name, "self" | "oldSelf") => (0, self.itself.clone()),
            TermKind::Variable(name) => {
                let other = self.others.iter().find(|(known, _)| *known == &**name);
                (0, other.map_or(Extent::Bytes(64), |(_, extent)| extent.clone()))
            }
            TermKind::Local(position) => (0, self.locals[*position].clone()),
            TermKind::Select { operand, field, .. } => {
                let operand = self.term(operand);
                (operand.steps, self.field(&operand.extent, field))
            }
            TermKind::Has { operand, .. } => (self.term(operand).steps, Extent::Bytes(1)),
            TermKind::Index { operand, index, .. } => {
                let (operand, index) = (self.term(operand), self.term(index));
                (sum([operand.steps, index.steps]), self.item(&operand.extent))
            }
            TermKind::Call { overloads, arguments } => {
                let function = overloads.first().map_or("", |overload| overload.function);
                return self.call(term, function, arguments);
            }
            TermKind::And(operands) | TermKind::Or(operands) => {
                let steps: Vec<u64> = operands.iter().map(|operand| self.term(operand).steps).collect();
                (sum(steps), Extent::Bytes(1))
            }
            TermKind::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = self.term(condition).steps;
                let (then, otherwise) = (self.term(then), self.term(otherwise));
                let steps = then.steps.max(otherwise.steps);
                (sum([condition, steps]), self.larger(then.extent, otherwise.extent))
            }
            TermKind::List(items) => {
                let items: Vec<Measured<'m>> = items.iter().map(|item| self.term(&item.value)).collect();
                (sum(items.iter().map(|item| item.steps)), self.items_of(items, 0))
            }
            TermKind::Map(entries) => {
                let keys: Vec<Measured<'m>> = entries.iter().map(|entry| self.term(&entry.key)).collect();
                let values: Vec<Measured<'m>> = entries.iter().map(|entry| self.term(&entry.value)).collect();
                let steps = sum(keys.iter().chain(&values).map(|part| part.steps));
                let key_bytes = keys.iter().map(|key| self.bytes(&key.extent)).max().unwrap_or(0);
                (steps, self.items_of(values, key_bytes))
            }
            TermKind::Fold(fold) => return self.fold(fold),
            TermKind::Bind { value, body } | TermKind::OptionalMap { operand: value, body, .. } => {
                let value = self.term(value);
                self.locals.push(value.extent);
                let body = self.term(body);
                self.locals.pop();
                (sum([value.steps, body.steps]), body.extent)
            }
        };
        Measured { steps: sum([steps, 1]), extent }
    }

    fn items_of(&mut self, items: Vec<Measured<'m>>, key_bytes: u64) -> Extent<'m> {
        let count = items.len() as u64;
        let extents = items.into_iter().map(|item| item.extent);
        let largest = extents.reduce(|one, other| self.larger(one, other)).unwrap_or(Extent::Bytes(0));
        Extent::Items(count, Box::new(largest), key_bytes)
    }

    fn fold(&mut self, fold: &Fold) -> Measured<'m> {
        let range = self.term(&fold.range);
        let (count, item, key) = self.parts(&range.extent);
        // All texts of a list together are as long as the list: that counts once, not for each of them.
        let is_text = self.is_growth && self.text_bytes(&item).is_some();
        let item = if is_text { Extent::Bytes(SHORT) } else { item };
        let depth = self.locals.len();
        let is_map = matches!(fold.range.of, Type::Map(..));
        if fold.variables == 1 {
            self.locals.push(if is_map { Extent::Bytes(key) } else { item.clone() });
        } else {
            self.locals.extend([Extent::Bytes(key), item.clone()]);
        }
        let filter = fold.filter.as_ref().map_or(0, |filter| self.term(filter).steps);
        let body = self.term(&fold.body);
        self.locals.truncate(depth);
        let steps = sum([range.steps, count.saturating_mul(sum([filter, body.steps])), 1]);
        let extent = match fold.kind {
            FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => Extent::Bytes(1),
            FoldKind::Filter if is_map => Extent::Items(count, Box::new(Extent::Bytes(key)), 0),
            FoldKind::Filter => Extent::Items(count, Box::new(item), 0),
            FoldKind::Map => Extent::Items(count, Box::new(body.extent), 0),
            FoldKind::TransformMap => Extent::Items(count, Box::new(body.extent), key),
            FoldKind::TransformMapEntry => {
                let (made, item, key) = self.parts(&body.extent);
                Extent::Items(count.saturating_mul(made), Box::new(item), key)
            }
        };
        Measured { steps, extent }
    }

    fn call(&mut self, term: &Term, function: &str, arguments: &[Term]) -> Measured<'m> {
        let arguments_of: Vec<&Type> = arguments.iter().map(|argument| &argument.of).collect();
        let arguments: Vec<Measured<'m>> = arguments.iter().map(|argument| self.term(argument)).collect();
        let mut steps = sum(arguments.iter().map(|argument| argument.steps).chain([1]));
        let extents: Vec<Extent<'m>> = arguments.into_iter().map(|argument| argument.extent).collect();
        let read: Vec<u64> = extents.iter().filter_map(|extent| self.text_bytes(extent)).collect();
        let is_compared = matches!(function, "_==_" | "_!=_" | "startsWith" | "endsWith");
        if self.is_growth && is_compared {
            steps = sum([steps, read.iter().min().map_or(0, |bytes| bytes / BYTES_PER_STEP)]);
        } else {
            steps = sum(read.iter().map(|bytes| bytes / BYTES_PER_STEP).chain([steps]));
        }
        let counts: Vec<u64> = extents.iter().map(|extent| self.parts(extent).0).collect();
        let weights: Vec<u64> = extents.iter().map(|extent| self.weight(extent)).collect();
        let (first, second) = (counts.first().copied().unwrap_or(0), counts.get(1).copied().unwrap_or(0));
        let least = weights.iter().copied().min().unwrap_or(0);
        let most = weights.iter().copied().max().unwrap_or(0);
        let extra = match function {
            "_==_" | "_!=_" if extents.iter().any(|extent| self.is_identified(extent)) => {
                first.max(1).saturating_mul(most)
            }
            "_==_" | "_!=_" => least,
            "@in" if self.is_growth && matches!(arguments_of.get(1), Some(Type::Map(..))) => least,
            "@in" => second.saturating_mul(least.max(1)),
            "_+_" if extents.iter().any(|extent| self.is_identified(extent)) => {
                first.max(1).saturating_mul(weights.get(1).copied().unwrap_or(0))
            }
            "matches" | "find" | "findAll" => {
                let (text, pattern) = (read.first().copied().unwrap_or(0), read.get(1).copied().unwrap_or(0));
                let matching = pattern.saturating_mul(text) / 4 / BYTES_PER_STEP;
                sum([pattern.saturating_add(1).saturating_mul(20), matching, text])
            }
            "distinct" | "indexOf" | "lastIndexOf" | "isUnique" | "sets.contains" | "sets.equivalent"
            | "sets.intersects" => {
                let pairs = weights[0].saturating_mul(counts.get(1).copied().unwrap_or(first).max(1));
                pairs.saturating_mul(2)
            }
            "sort" => weights[0].saturating_mul(u64::from(first.max(1).ilog2()) + 2),
            "size" | "dyn" | "type" | "optional.of" | "hasValue" | "value" | "orValue" | "or" => 0,
            "split" => read.first().copied().unwrap_or(0),
            _ => sum(weights.iter().copied()),
        };
        let extent = self.result(term, function, &extents, &read);
        Measured { steps: sum([steps, extra]), extent }
    }

    /// What a function makes.
    fn result(&mut self, term: &Term, function: &str, extents: &[Extent<'m>], read: &[u64]) -> Extent<'m> {
        let all_bytes = sum(read.iter().copied().chain([SHORT]));
        let is_short = matches!(
            term.of,
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Timestamp | Type::Duration
        );
        match (&term.of, function) {
            _ if self.is_growth && is_short => Extent::Bytes(8),
            (Type::List(_), "split" | "findAll") => Extent::Items(
                read.first().map_or(1, |bytes| bytes + 1),
                Box::new(Extent::Bytes(all_bytes)),
                0,
            ),
            (Type::List(_), "lists.range") => Extent::Items(1 << 20, Box::new(Extent::Bytes(8)), 0),
            (Type::List(_), "_+_") => {
                let parts: Vec<_> = extents.iter().map(|extent| self.parts(extent)).collect();
                let count = sum(parts.iter().map(|(count, ..)| *count));
                let items = parts.into_iter().map(|(_, item, _)| item);
                let item = items.reduce(|one, other| self.larger(one, other)).unwrap_or(Extent::Bytes(0));
                Extent::Items(count, Box::new(item), 0)
            }
            (Type::List(_), "flatten") => {
                let (count, inner, _) = self.parts(&extents[0]);
                let (inner_count, item, _) = self.parts(&inner);
                Extent::Items(count.saturating_mul(inner_count.max(1)), Box::new(item), 0)
            }
            (Type::Text, "replace") => {
                let text = read.first().copied().unwrap_or(0);
                Extent::Bytes(text.saturating_add(1).saturating_mul(read.get(2).copied().unwrap_or(0).max(1)))
            }
            (Type::Text | Type::Bytes, "join" | "format") => {
                let weights = extents.iter().map(|extent| self.weight(extent)).collect::<Vec<_>>();
                Extent::Bytes(sum(weights).saturating_mul(BYTES_PER_STEP).saturating_add(all_bytes))
            }
            (Type::Text | Type::Bytes, _) if !read.is_empty() => Extent::Bytes(all_bytes),
            (Type::Text | Type::Bytes, _) => Extent::Bytes(SHORT),
            // `min` and `value`: a part of what it was called on; else the same size.
            (_, "min" | "max") => extents.first().map_or(Extent::Bytes(SHORT), |list| self.parts(list).1),
            _ => extents.first().cloned().unwrap_or(Extent::Bytes(SHORT)),
        }
    }

    fn model(&self) -> &'m Model {
        self.bounds.model
    }

    fn field(&mut self, of: &Extent<'m>, name: &str) -> Extent<'m> {
        let model = self.model();
        let id = match of {
            Extent::Type(id) => *id,
            Extent::Place(usage, _) => match model.resolve(usage) {
                Resolved::Object(id, _) => id,
                _ => return self.item(of),
            },
            _ => return self.item(of),
        };
        let TypeKind::Object(object) = &model.ty(id).kind else { return Extent::Bytes(SHORT) };
        let Some(field) = scope::field(object, name) else { return Extent::Bytes(SHORT) };
        Extent::Place(&field.usage, format!("{}.{}", model.ty(id).name, field.name))
    }

    fn item(&mut self, of: &Extent<'m>) -> Extent<'m> {
        match of {
            Extent::Items(_, item, _) => (**item).clone(),
            Extent::Place(usage, name) => match self.model().resolve(usage) {
                Resolved::List(item, _) | Resolved::Map { value: item, .. } => {
                    Extent::Place(item, format!("items of {name}"))
                }
                _ => of.clone(),
            },
            _ => of.clone(),
        }
    }

    /// The number of items, the largest item, and the bytes of a key.
    fn parts(&mut self, of: &Extent<'m>) -> (u64, Extent<'m>, u64) {
        match of {
            Extent::Items(count, item, key) => (*count, (**item).clone(), *key),
            Extent::Place(usage, name) => {
                let model = self.model();
                let key = match model.resolve(usage) {
                    Resolved::Map { keys, .. } => {
                        model.innermost(keys).constraints.max_length.unwrap_or(KEY_BYTES)
                    }
                    _ => 0,
                };
                let count = self.bounds.items(usage, name).unwrap_or(0);
                (count, self.item(of), key)
            }
            _ => (0, of.clone(), 0),
        }
    }

    /// The bytes of a text or byte string; nothing for other values.
    fn text_bytes(&mut self, of: &Extent<'m>) -> Option<u64> {
        match of {
            Extent::Bytes(bytes) => Some(*bytes),
            Extent::Items(..) => None,
            Extent::Type(id) => matches!(self.model().ty(*id).kind, TypeKind::Enum(_)).then_some(SHORT),
            Extent::Place(usage, name) => {
                self.model().resolve(usage).is_scalar().then(|| self.bounds.bytes(usage, name))
            }
        }
    }

    fn bytes(&mut self, of: &Extent<'m>) -> u64 {
        self.text_bytes(of).unwrap_or(0)
    }

    /// The steps of looking at all of a value.
    fn weight(&mut self, of: &Extent<'m>) -> u64 {
        self.weight_within(of, &mut Vec::new())
    }

    fn weight_within(&mut self, of: &Extent<'m>, open: &mut Vec<TypeId>) -> u64 {
        let model = self.model();
        if let Some(bytes) = self.text_bytes(of) {
            return bytes / BYTES_PER_STEP + 1;
        }
        let id = match of {
            Extent::Type(id) => Some(*id),
            Extent::Place(usage, _) => match model.resolve(usage) {
                Resolved::Object(id, _) => Some(id),
                Resolved::Any => return 1 << 20,
                _ => None,
            },
            _ => None,
        };
        let Some(id) = id else {
            let (count, item, key) = self.parts(of);
            let is_text = self.is_growth && self.text_bytes(&item).is_some();
            let item = if is_text { 1 } else { self.weight_within(&item, open) };
            return count.saturating_mul(sum([item, key / BYTES_PER_STEP])).saturating_add(1);
        };
        if open.contains(&id) {
            return 1 << 20;
        }
        if let Some(weight) = self.weights.get(&id) {
            return *weight;
        }
        open.push(id);
        let TypeKind::Object(object) = &model.ty(id).kind else { return 1 };
        let weights: Vec<u64> = object
            .fields
            .iter()
            .map(|field| {
                let name = format!("{}.{}", model.ty(id).name, field.name);
                self.weight_within(&Extent::Place(&field.usage, name), open)
            })
            .collect();
        open.pop();
        let weight = sum(weights.into_iter().chain([1]));
        self.weights.insert(id, weight);
        weight
    }

    /// Whether it is a list whose items are found by what identifies them.
    fn is_identified(&self, of: &Extent<'m>) -> bool {
        let Extent::Place(usage, _) = of else { return false };
        match self.model().resolve(usage) {
            Resolved::List(_, semantics) => *semantics != ListSemantics::Atomic,
            _ => false,
        }
    }

    fn larger(&mut self, one: Extent<'m>, other: Extent<'m>) -> Extent<'m> {
        if self.weight(&one) >= self.weight(&other) { one } else { other }
    }
}

/// Bytes of what is short, such as a number that is written.
const SHORT: u64 = 64;

/// Bytes of a key for which the schema gives no bound: keys are the names of things.
const KEY_BYTES: u64 = 317;

fn constant(value: &Value) -> Extent<'static> {
    match value {
        Value::Text(text) => Extent::Bytes(text.len() as u64),
        Value::Bytes(bytes) => Extent::Bytes(bytes.len() as u64),
        _ => Extent::Bytes(8),
    }
}

fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
