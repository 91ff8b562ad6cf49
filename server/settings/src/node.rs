//! A text as a tree, each node with its place.

use std::rc::Rc;

/// Line and column, counted from 1.
pub type Place = (u64, u64);

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) content: Content,
    /// How many nodes it is, with all that it contains; what is said twice with an alias counts twice.
    pub(crate) size: usize,
}

/// What a node is.
#[derive(Debug)]
pub(crate) enum Content {
    /// The text, as it is typed or inside of its quotes, and whether it has quotes.
    Scalar(String, bool),
    List(Vec<Rc<Node>>),
    /// Names, each with its place and its value, in the order of the text.
    Map(Vec<(String, Place, Rc<Node>)>),
}

/// The spellings of nothing, without quotes.
const NULLS: &[&str] = &["", "~", "null", "Null", "NULL"];

impl Node {
    /// Whether there is nothing.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(text, false) if NULLS.contains(&text.as_str()))
    }
}
