//! A schema folder as an input: the whole of it, or some of its entries.

use std::path::PathBuf;

/// A folder of schema files, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// The names of the entries that count: `meta`, `vocabulary.yaml`. All entries count where none is named.
    pub only: Vec<String>,
}

impl Folder {
    /// Whether an entry of the folder counts.
    pub fn holds(&self, entry: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == entry)
    }

    /// What to watch: a change anywhere below these paths may change the result.
    pub fn watched(&self) -> Vec<PathBuf> {
        match self.only.as_slice() {
            [] => vec![self.path.clone()],
            names => names.iter().map(|name| self.path.join(name)).collect(),
        }
    }
}

/// The whole folder at that path.
impl<P: Into<PathBuf>> From<P> for Folder {
    fn from(path: P) -> Self {
        Folder { path: path.into(), only: Vec::new() }
    }
}
