//! `x-orch-validations`: rules in the expression language.

use super::reading::{idl_object, idl_words};
use crate::source::Spanned;

idl_object! {
    /// One rule of `x-orch-validations`.
    pub struct ValidationExtension, "a rule", refused: &[("expression", "write `rule`")], {
        /// An expression over `self` and `oldSelf` that is true for good values.
        "rule" => rule: Spanned<String>,
        /// What the error says.
        "message" => message: Option<Spanned<String>>,
        /// An expression whose value is what the error says.
        "messageExpression" => message_expression: Option<Spanned<String>>,
        /// Path of the field that is blamed, from here: `.replicas`.
        "fieldPath" => field_path: Option<Spanned<String>>,
        /// Class of the error; `FieldValueInvalid` if absent.
        "reason" => reason: Option<Spanned<ReasonWord>>,
        /// Whether the value is refused; `error` if absent.
        "severity" => severity: Option<Spanned<SeverityWord>>,
        /// Whether `oldSelf` is an optional value, and the rule holds for new objects too.
        "optionalOldSelf" => optional_old_self: Option<Spanned<bool>>,
    }
}

idl_words! {
    /// Classes of errors that rules may name.
    pub enum ReasonWord {
        /// Malformed or out of range.
        Invalid = "FieldValueInvalid",
        /// Must not be set.
        Forbidden = "FieldValueForbidden",
        /// Must be set.
        Required = "FieldValueRequired",
        /// Must be unique.
        Duplicate = "FieldValueDuplicate",
    }
}

idl_words! {
    /// What a broken rule means.
    pub enum SeverityWord {
        /// The value is refused.
        Error = "error",
        /// The value is accepted, and the client is warned.
        Warning = "warning",
    }
}
