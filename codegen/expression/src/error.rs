//! What is wrong with an expression, and where.

use crate::{
    fault::Fault,
    span::{Location, Span},
};

/// An expression that cannot be compiled, or an evaluation without a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct ExpressionError {
    /// Where in the text.
    pub location: Location,
    /// The same as a range of bytes.
    pub at: Span,
    /// What.
    pub problem: Problem,
}

/// What is wrong. The texts are for whoever wrote the expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is not in the language.
    #[error("{0}")]
    Syntax(String),
    /// It uses something that is not declared, or with another type.
    #[error("{0}")]
    Type(String),
    /// It is larger than [`crate::limits::Limits`] allow.
    #[error("{0}")]
    TooLarge(String),
    /// It was evaluated and has no value.
    #[error(transparent)]
    Evaluation(#[from] Fault),
}

/// An error inside of a text that whoever returns it does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    at: Span,
    problem: Problem,
}

impl Failure {
    pub(crate) fn new(at: Span, problem: Problem) -> Box<Self> {
        Box::new(Failure { at, problem })
    }

    pub(crate) fn syntax(at: Span, text: impl Into<String>) -> Box<Self> {
        Failure::new(at, Problem::Syntax(text.into()))
    }

    pub(crate) fn wrong_type(at: Span, text: impl Into<String>) -> Box<Self> {
        Failure::new(at, Problem::Type(text.into()))
    }

    /// What an evaluation failed of.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        if let Problem::Evaluation(fault) = &self.problem { Some(fault) } else { None }
    }

    pub(crate) fn in_text(self, text: &str) -> ExpressionError {
        ExpressionError { location: self.at.location(text), at: self.at, problem: self.problem }
    }
}
