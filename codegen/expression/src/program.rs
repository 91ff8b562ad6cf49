//! A compiled expression.

use std::fmt;

use crate::{
    budget::Budget, check::check, environment::Environment, error::ExpressionError, evaluate::evaluate,
    parser::parse, typed::Term, types::Type, value::Value,
};

/// An expression that was parsed and whose types were checked.
#[derive(Clone)]
pub struct Program {
    text: String,
    term: Term,
    steps: u64,
}

impl Program {
    /// Compiles a text. Its value is of the wanted type, or of the type `dyn`: then only the evaluation
    /// tells.
    pub fn compile(text: &str, environment: &Environment, wanted: &Type) -> Result<Self, ExpressionError> {
        let compiled = parse(text, environment.limits()).and_then(|node| check(&node, environment, wanted));
        let term = compiled.map_err(|failure| failure.in_text(text))?;
        Ok(Program { text: text.to_owned(), term, steps: environment.limits().steps })
    }

    /// What was compiled.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The typed form.
    pub fn term(&self) -> &Term {
        &self.term
    }

    /// The value, within the limits of the environment. Each variable that the expression uses has a value.
    pub fn evaluate(&self, variables: &[(&str, Value)]) -> Result<Value, ExpressionError> {
        self.evaluate_within(variables, &mut Budget::new(self.steps))
    }

    /// The value, within a budget that several evaluations share.
    pub fn evaluate_within(
        &self,
        variables: &[(&str, Value)],
        budget: &mut Budget,
    ) -> Result<Value, ExpressionError> {
        evaluate(&self.term, variables, budget).map_err(|failure| failure.in_text(&self.text))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Program({:?})", self.text)
    }
}
