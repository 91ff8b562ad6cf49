//! Rules in the expression language.

use orch_expression::typed::{Term, TermKind};

use crate::diagnostic::Span;

/// One rule of `x-orch-validations`, compiled.
#[derive(Debug)]
pub struct ValidationRule {
    /// The expression over `self` and `oldSelf`, which is true for good values.
    pub rule: Expression,
    /// What the error says.
    pub message: Option<String>,
    /// An expression that says it.
    pub message_expression: Option<Expression>,
    /// From the place of the rule to the field that is blamed.
    pub field_path: Vec<PathStep>,
    /// The same as it is written.
    pub field_path_text: Option<String>,
    /// The class of the error.
    pub reason: Option<RuleReason>,
    /// Whether the value is accepted, with a warning.
    pub is_warning: bool,
    /// Whether `oldSelf` is an optional value, so that the rule holds for new objects too.
    pub optional_old_self: bool,
    /// Where it is written.
    pub span: Span,
}

impl ValidationRule {
    /// Whether it is about a change: the rule itself looks at the value before. Where only the message does,
    /// new objects are judged too.
    pub fn is_about_change(&self) -> bool {
        self.rule.uses_old()
    }

    /// Whether its message looks at the value before.
    pub fn tells_old(&self) -> bool {
        self.message_expression.as_ref().is_some_and(Expression::uses_old)
    }
}

/// An expression and what it means.
#[derive(Debug)]
pub struct Expression {
    /// As written.
    pub text: String,
    /// Names resolved, types known.
    pub term: Term,
}

impl Expression {
    /// Whether it looks at the value before.
    fn uses_old(&self) -> bool {
        let is_old = |term: &Term| matches!(&term.kind, TermKind::Variable(name) if &**name == "oldSelf");
        self.term.any(&mut { is_old })
    }
}

/// A step of a path below an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A field.
    Field(String),
    /// A key of a map.
    Key(String),
}

/// Classes of errors that rules may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleReason {
    /// `FieldValueInvalid`.
    Invalid,
    /// `FieldValueForbidden`.
    Forbidden,
    /// `FieldValueRequired`.
    Required,
    /// `FieldValueDuplicate`.
    Duplicate,
}
