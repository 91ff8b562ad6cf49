//! JSON, guided by type tables: [`decode`] reads request bodies, [`encode`] writes answers and the stored
//! form, [`pretty`] indents for people.

pub(crate) mod budget;
mod cost;
pub mod decode;
pub mod encode;
pub mod pretty;

pub use budget::Exceeded;
pub use cost::check_cost;

/// The deepest nesting that any reader accepts, whatever its [`Limits`] say. A list or object at this depth
/// is refused; the document itself is at depth 1.
pub const MAX_DEPTH: usize = 128;

/// How many values a document may hold unless the caller says otherwise. The largest stored object has fewer.
const MAX_VALUES: usize = 200_000;

/// How much memory the values of a document may take unless the caller says otherwise, in bytes. Objects as
/// they are made by people and programs take a tenth of it.
const MAX_MEMORY: usize = 20 * 1024 * 1024;

/// Limits of a document. Its size is limited by the code that reads the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lists and objects at this depth are refused. Values above [`MAX_DEPTH`] mean [`MAX_DEPTH`].
    pub max_depth: usize,
    /// A document with more values is refused: a value takes many times the memory of its text.
    pub max_values: usize,
    /// A document whose values would take more memory, in bytes, is refused: as a tree and as a typed object
    /// together, by estimate. A write has several of each at once.
    pub max_memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_depth: MAX_DEPTH, max_values: MAX_VALUES, max_memory: MAX_MEMORY }
    }
}

impl Limits {
    /// Those of what is stored: none but the depth. Its size is limited, and its values were counted when it
    /// was written; what a write accepts, each read must be able to read.
    pub const STORED: Limits =
        Limits { max_depth: MAX_DEPTH, max_values: usize::MAX, max_memory: usize::MAX };

    /// The depth limit that applies.
    pub(crate) fn effective_depth(self) -> usize {
        self.max_depth.min(MAX_DEPTH)
    }
}
