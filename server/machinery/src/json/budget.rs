//! What one document may cost: the number of its values, and the memory that it takes once it is read.
//!
//! A tree and the object that is made of it take many times the bytes of the document: a list of empty
//! objects has three bytes for each in JSON, and two in protobuf. So every reader counts while it reads, and
//! stops.

use orch_runtime::{
    Tree,
    type_def::{Shape, TypeDef},
};

use super::Limits;

/// The memory of one value in a tree.
const VALUE: usize = size_of::<Tree>();

/// The memory of a text besides its bytes: its allocation is rounded up.
const TEXT: usize = 16;

/// The memory of the first entry of a map in a tree: its node has room for eleven.
const FIRST_ENTRY: usize = 640;

/// How many entries the first node has, and what each further one costs: later nodes are mostly half full.
const NODE_ENTRIES: usize = 11;
const FURTHER_ENTRY: usize = 110;

/// What is left of the limits of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    values: usize,
    memory: usize,
}

/// A limit that the document exceeds. The text is meant for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// There are more values than a document may hold.
    #[error("the document holds more than {0} values")]
    Values(usize),
    /// Its values take more memory, in bytes, than those of a document may.
    #[error("the values of the document take more than {0} bytes of memory")]
    Memory(usize),
}

impl Budget {
    /// The budget of a document.
    pub(crate) fn of(limits: Limits) -> Self {
        Budget { limits, values: 0, memory: 0 }
    }

    /// Counts a value of any type.
    pub(crate) fn value(&mut self) -> Result<(), Exceeded> {
        self.values += 1;
        if self.values > self.limits.max_values {
            return Err(Exceeded::Values(self.limits.max_values));
        }
        self.takes(VALUE)
    }

    /// Counts the bytes of a text, beside its value.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Exceeded> {
        self.takes(TEXT + text.len())
    }

    /// Counts an entry of a map that has `count` entries already, beside its value.
    pub(crate) fn entry(&mut self, count: usize, name: &str) -> Result<(), Exceeded> {
        self.takes(TEXT + name.len())?;
        match count {
            0 => self.takes(FIRST_ENTRY),
            1..NODE_ENTRIES => Ok(()),
            _ => self.takes(FURTHER_ENTRY),
        }
    }

    /// Counts the typed object that is made of a value, beside the value.
    pub(crate) fn object(&mut self, def: &TypeDef) -> Result<(), Exceeded> {
        self.takes(def.size)
    }

    /// Counts all values of a tree.
    pub(crate) fn tree(&mut self, tree: &Tree) -> Result<(), Exceeded> {
        self.value()?;
        match tree {
            Tree::String(text) => self.text(text),
            Tree::Array(items) => items.iter().try_for_each(|item| self.tree(item)),
            Tree::Object(map) => map.iter().enumerate().try_for_each(|(count, (name, value))| {
                self.entry(count, name)?;
                self.tree(value)
            }),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
        }
    }

    /// Counts all values of an object, and the typed objects that are made of them.
    pub(crate) fn fields(&mut self, tree: &Tree, def: &'static TypeDef) -> Result<(), Exceeded> {
        let Tree::Object(map) = tree else { return self.tree(tree) };
        self.value()?;
        self.object(def)?;
        map.iter().enumerate().try_for_each(|(count, (name, value))| {
            self.entry(count, name)?;
            match def.field(name) {
                Some(field) => self.shaped(value, &field.shape),
                None => self.tree(value),
            }
        })
    }

    fn shaped(&mut self, tree: &Tree, shape: &'static Shape) -> Result<(), Exceeded> {
        match (tree, shape) {
            (Tree::Object(_), Shape::Object(def)) => self.fields(tree, def),
            (Tree::Object(map), Shape::Map { value: shape, .. }) => {
                self.value()?;
                map.iter().enumerate().try_for_each(|(count, (name, value))| {
                    self.entry(count, name)?;
                    self.shaped(value, shape)
                })
            }
            (Tree::Array(items), Shape::List { item, .. }) => {
                self.value()?;
                items.iter().try_for_each(|value| self.shaped(value, item))
            }
            _ => self.tree(tree),
        }
    }

    fn takes(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.limits.max_memory {
            return Err(Exceeded::Memory(self.limits.max_memory));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_memory_are_limited() {
        let limits = Limits { max_values: 4, ..Limits::default() };
        assert_eq!(Budget::of(limits).tree(&json!([1, {"a": null}])), Ok(()));
        assert_eq!(Budget::of(limits).tree(&json!([1, {"a": null}, 2])), Err(Exceeded::Values(4)));
        let limits = Limits { max_memory: 2_000, ..Limits::default() };
        assert_eq!(Budget::of(limits).tree(&json!([{"a": 1}, {"a": 1}])), Ok(()));
        for large in [json!([{"a": 1}, {"a": 1}, {"a": 1}]), json!("x".repeat(2_000))] {
            assert_eq!(Budget::of(limits).tree(&large), Err(Exceeded::Memory(2_000)));
        }
        let map: Tree = (0..40).map(|n| (format!("{n:02}"), Tree::Null)).collect();
        assert_eq!(Budget::of(limits).tree(&map), Err(Exceeded::Memory(2_000)));
    }
}
