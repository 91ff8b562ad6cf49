//! Defaults that depend on other fields, and rounding: `x-orch-defaults`, `x-orch-round-up`.

use super::{
    reading::{Entries, idl_object, idl_words},
    rules::Test,
};
use crate::source::{Node, Spanned};

idl_object! {
    /// One default of `x-orch-defaults`.
    pub struct DefaultRule, "a default of x-orch-defaults", refused: &[
        ("if", "write `when`"),
        ("default", "write `value`"),
    ], {
        /// The field that is filled in where it is not given: `.spec.volumeMode`.
        "field" => field: Spanned<String>,
        /// When: each path with the values, or the question, that must hold.
        "when" => when: Option<Entries<Test>>,
        /// The value.
        "value" => value: Option<Node>,
        /// The field of the same object whose value it gets: `.port`.
        "from" => from: Option<Spanned<String>>,
    }
}

idl_words! {
    /// To what quantities are rounded up.
    pub enum RoundUp {
        /// Thousandths.
        Milli = "milli",
    }
}
