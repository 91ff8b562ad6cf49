//! Why an evaluation has no value.

use std::borrow::Cow;

/// What went wrong. `&&`, `||`, `all` and `exists` may still have a result where one of their operands
/// failed, as the language says; [`Fault::is_final`] tells which faults end the evaluation all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A map has no such key, or an object has not set this field.
    #[error("no such key: {0}")]
    NoSuchKey(Cow<'static, str>),
    /// Not an index of the list.
    #[error("index out of bounds: {0}")]
    IndexOutOfBounds(String),
    /// `/ 0`.
    #[error("division by zero")]
    DivisionByZero,
    /// `% 0`.
    #[error("modulus by zero")]
    ModulusByZero,
    /// A result does not fit its type.
    #[error("{0} overflow")]
    Overflow(&'static str),
    /// No overload of the function takes values of these types.
    #[error("no such overload: {0}")]
    NoSuchOverload(String),
    /// An argument that the function cannot use.
    #[error("{0}")]
    Invalid(String),
    /// The evaluation would take more steps than it may.
    #[error("the expression takes more steps than are allowed")]
    TooManySteps,
    /// A value would be nested deeper than values may be.
    #[error("a value is nested too deep")]
    TooDeep,
    /// The caller gave a declared variable no value.
    #[error("the variable {0} has no value")]
    Unbound(String),
}

impl Fault {
    /// Whether no other operand can make up for it.
    pub fn is_final(&self) -> bool {
        matches!(self, Fault::TooManySteps | Fault::TooDeep | Fault::Unbound(_))
    }

    /// A function that got values of other types than it takes.
    pub fn wrong_type() -> Self {
        Fault::NoSuchOverload("a value has another type".to_owned())
    }

    /// An argument that the function cannot use.
    pub fn invalid(text: impl Into<String>) -> Self {
        Fault::Invalid(text.into())
    }
}
