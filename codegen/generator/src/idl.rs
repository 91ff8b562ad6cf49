//! Schema files as written: one struct per construct of the language, every value with its place.
//!
//! Each construct is declared once (see [`reading`]); its reader, its list of known keys and its part of
//! `schema/idl.schema.json` follow from the declaration. Nothing is resolved here: references are text, and
//! whether keywords go together is decided when they are lowered.

mod alternatives;
mod conversion;
mod defaults;
mod document;
mod format;
pub mod json_schema;
mod operation;
mod reading;
mod resource;
mod rules;
mod schema;
mod shared_rules;
mod validation;
mod vocabulary;

pub use alternatives::{Rules, each_path};
pub use conversion::{ConversionExtension, Paths, StepExtension};
pub use defaults::{DefaultRule, RoundUp};
pub use document::{Components, Document, Info};
pub use format::Format;
pub use operation::{
    DefaultFunction, DescribedGate, Discriminator, FeatureGate, FormatFunction, Immutable, UnionExtension,
};
pub use reading::{Entries, Read, Word};
pub use resource::{
    ColumnExtension, ColumnType, LifecycleExtension, ResourceExtension, SubresourceEntry,
    SubresourceExtension,
};
pub use rules::{
    ErrorWords, Exception, Moment, ObjectRule, OrderedPlace, Question, Severity, Test, When, Words, of_old,
};
pub use schema::{Additional, EmptyTexts, ListType, MapType, PatchStrategy, Schema, TypeName, Types};
pub use shared_rules::{shared, with_shared};
pub use validation::{ReasonWord, SeverityWord, ValidationExtension};
pub use vocabulary::VocabularyFile;
