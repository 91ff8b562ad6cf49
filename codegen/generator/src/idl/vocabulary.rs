//! `vocabulary.yaml`: the product words.

use super::reading::{Entries, idl_object};
use crate::source::Spanned;

idl_object! {
    /// `schema/vocabulary.yaml`.
    pub struct VocabularyFile, "the vocabulary file", refused: &[], {
        /// Words by vocabulary: `{orch: {groupSuffix: orch.io, ...}, ...}`.
        "vocabularies" => vocabularies: Entries<Entries<Spanned<String>>>,
    }
}
