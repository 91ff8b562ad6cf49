//! The written form of a set: `FieldsV1`.

use orch_runtime::{Tree, TreeMap};

use super::{Element, FieldSet, FieldSetError, Node};
use crate::json::encode::ObjectWriter;

type ReadElement<'t> = fn(&'t str) -> Result<Element<'t>, FieldSetError>;

impl<'t> FieldSet<'t> {
    /// Writes the written form as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::open(out);
        self.write_into(&mut object);
        object.close();
    }

    fn write_into(&self, object: &mut ObjectWriter<'_>) {
        for Node { element, itself, below } in &self.nodes {
            let mut inner = ObjectWriter::open(object.value_of_prefixed(element.prefix(), element.text()));
            if *itself && !below.is_empty() {
                ObjectWriter::open(inner.value_of(".")).close();
            }
            below.write_into(&mut inner);
            inner.close();
        }
    }

    /// The written form.
    pub fn to_tree(&self) -> Tree {
        let nodes = self.nodes.iter().map(|node| (node.element.written(), node.to_tree()));
        Tree::Object(nodes.collect())
    }

    /// Reads the written form. Keys and values are brought into the form that this server writes.
    ///
    /// # Errors
    /// If it is not a set of fields.
    pub fn parse(tree: &'t Tree) -> Result<Self, FieldSetError> {
        FieldSet::read(tree, Element::parse)
    }

    /// Reads the written form of a set that this server wrote.
    ///
    /// # Errors
    /// If it is not a set of fields.
    pub fn of_stored(tree: &'t Tree) -> Result<Self, FieldSetError> {
        FieldSet::read(tree, Element::of_stored)
    }

    fn read(tree: &'t Tree, element: ReadElement<'t>) -> Result<Self, FieldSetError> {
        let Tree::Object(map) = tree else {
            return Err(FieldSetError("a set of fields must be an object".to_owned()));
        };
        let mut set = FieldSet { nodes: Vec::with_capacity(map.len()) };
        for (written, tree) in map.iter().filter(|(written, _)| *written != ".") {
            let below = FieldSet::read(tree, element)?;
            let itself = below.is_empty() || tree.get(".").is_some();
            set.nodes.push(Node { element: element(written)?, itself, below });
        }
        // Other texts of keys and values may stand in another order, and two of them may be one element.
        set.nodes.sort_by(|left, right| left.element.cmp(&right.element));
        set.nodes.dedup_by(|later, first| {
            let is_same = later.element == first.element;
            if is_same {
                first.itself |= later.itself;
                if !later.below.is_empty() {
                    first.below = std::mem::take(&mut later.below);
                }
            }
            is_same
        });
        Ok(set)
    }
}

impl Node<'_> {
    fn to_tree(&self) -> Tree {
        let mut below = self.below.to_tree();
        if let (true, false, Some(map)) = (self.itself, self.below.is_empty(), below.as_object_mut()) {
            map.insert(".".to_owned(), Tree::Object(TreeMap::new()));
        }
        below
    }
}
