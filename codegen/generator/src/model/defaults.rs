//! Defaults that depend on other fields: `x-orch-defaults`.

use super::{Condition, Step};
use crate::diagnostic::Span;

/// What a field gets where it is not given.
#[derive(Debug)]
pub struct ConditionalDefault {
    /// The field; objects on the way are made where they are missing.
    pub field: Vec<Step>,
    /// All of these must hold.
    pub when: Vec<Condition>,
    /// The value.
    pub source: DefaultSource,
    /// Where it is written.
    pub span: Span,
}

/// Where a default comes from.
#[derive(Debug)]
pub enum DefaultSource {
    /// A constant.
    Value(serde_json::Value),
    /// The value of another field.
    Field(Vec<Step>),
}
