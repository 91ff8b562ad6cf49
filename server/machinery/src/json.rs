//! JSON, guided by type tables: [`decode`] reads request bodies, [`encode`] writes answers and the stored form,
//! [`pretty`] indents for people.

pub mod decode;
pub mod encode;
pub mod pretty;

/// The deepest nesting that any reader accepts, whatever its [`Limits`] say: a tree's list or object at this
/// depth is refused (the document itself is at depth 1).
pub const MAX_DEPTH: usize = 128;

/// How many values a document may hold unless the reader says otherwise: more than an object of the largest size that
/// is stored can use.
const MAX_VALUES: usize = 200_000;

/// Bounds on what a document may look like. Its size is bounded by whoever reads the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lists and objects nested this deep are refused. Values above [`MAX_DEPTH`] act like it.
    pub max_depth: usize,
    /// A document with more values than this is refused: each costs many times its text in memory.
    pub max_values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_depth: MAX_DEPTH, max_values: MAX_VALUES }
    }
}

impl Limits {
    /// The bound in force.
    pub(crate) fn effective_depth(self) -> usize {
        self.max_depth.min(MAX_DEPTH)
    }
}
