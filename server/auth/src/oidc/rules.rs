//! What an operator demands of claims and users, besides what every token must have.

use orch_expression::{
    budget::Budget,
    environment::Environment,
    error::ExpressionError,
    program::Program,
    types::Type,
    value::{Key, Value},
};
use serde_json::{Map, Value as Json};

use crate::user::UserInfo;

/// Steps that all expressions about one token may take together.
const STEPS: u64 = 1_000_000;

/// A demand on claims.
#[derive(Clone, Debug)]
pub enum ClaimRule {
    /// A claim is this text.
    Value {
        /// The claim.
        claim: String,
        /// What it must be.
        required: String,
    },
    /// An expression over the variable `claims` is true.
    Expression(Rule),
}

/// An expression that must be true.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What is evaluated.
    pub program: Program,
    /// What is said where it is not true; empty for a text of the server's own.
    pub message: String,
}

/// The claims of one token, as texts and as what expressions see.
pub(super) struct Claims<'t> {
    pub(super) fields: &'t Map<String, Json>,
    variable: Option<Value>,
    budget: Budget,
}

/// Compiles an expression over the variable `claims`, a map.
pub fn over_claims(text: &str, wanted: &Type) -> Result<Program, ExpressionError> {
    let claims = Type::map(Type::Text, Type::Dyn);
    Program::compile(text, &Environment::new().with_variable("claims", claims), wanted)
}

/// Compiles an expression over the variable `user`, with the fields `username`, `uid`, `groups` and `extra`.
pub fn over_user(text: &str) -> Result<Program, ExpressionError> {
    let user = Type::object(
        "UserInfo",
        [
            ("username", Type::Text),
            ("uid", Type::Text),
            ("groups", Type::list(Type::Text)),
            ("extra", Type::map(Type::Text, Type::list(Type::Text))),
        ],
    );
    Program::compile(text, &Environment::new().with_variable("user", user), &Type::Bool)
}

impl<'t> Claims<'t> {
    pub(super) fn new(fields: &'t Map<String, Json>) -> Self {
        Claims { fields, variable: None, budget: Budget::new(STEPS) }
    }

    /// The value of an expression over the claims, which are made ready for the first one.
    pub(super) fn evaluate(&mut self, program: &Program) -> Result<Value, String> {
        let variable = self.variable.get_or_insert_with(|| {
            let fields = self.fields.iter();
            Value::map(
                fields.map(|(name, value)| (Key::from(name.as_str()), Value::from_json(value))).collect(),
            )
        });
        let variables = [("claims", variable.clone())];
        program
            .evaluate_within(&variables, &mut self.budget)
            .map_err(|error| format!("{:?}: {error}", program.text()))
    }

    /// A claim that must be there and a text.
    pub(super) fn text(&self, claim: &str) -> Result<&'t str, String> {
        match self.fields.get(claim) {
            Some(Json::String(text)) => Ok(text),
            Some(_) => Err(format!("the claim {claim:?} is no text")),
            None => Err(format!("the claim {claim:?} is missing")),
        }
    }
}

/// Whether the claims are as all rules demand.
pub(super) fn check_claims(rules: &[ClaimRule], claims: &mut Claims<'_>) -> Result<(), String> {
    for rule in rules {
        match rule {
            ClaimRule::Value { claim, required } => {
                if claims.text(claim)? != required {
                    return Err(format!("the claim {claim:?} has another value than the required one"));
                }
            }
            ClaimRule::Expression(rule) => rule.judge(claims.evaluate(&rule.program)?)?,
        }
    }
    Ok(())
}

/// Whether a user is as all rules demand.
pub(super) fn check_user(rules: &[Rule], user: &UserInfo) -> Result<(), String> {
    if rules.is_empty() {
        return Ok(());
    }
    let texts = |texts: &[String]| Value::list(texts.iter().map(|text| Value::from(text.as_str())).collect());
    let extra = user.extra.iter().map(|(key, values)| (Key::from(key.as_str()), texts(values)));
    let user = Value::object([
        ("username", Value::from(user.name.as_str())),
        ("uid", Value::from(user.uid.as_str())),
        ("groups", texts(&user.groups)),
        ("extra", Value::map(extra.collect())),
    ]);
    let mut budget = Budget::new(STEPS);
    for rule in rules {
        let variables = [("user", user.clone())];
        let value = rule.program.evaluate_within(&variables, &mut budget);
        rule.judge(value.map_err(|error| format!("{:?}: {error}", rule.program.text()))?)?;
    }
    Ok(())
}

impl Rule {
    fn judge(&self, value: Value) -> Result<(), String> {
        match value {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) if self.message.is_empty() => {
                Err(format!("{:?} does not hold", self.program.text()))
            }
            Value::Bool(false) => Err(self.message.clone()),
            other => Err(format!("{:?} is of the type {}", self.program.text(), other.type_name())),
        }
    }
}
