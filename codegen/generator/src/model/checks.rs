//! Rules about the members of an object, and how broken rules are told: `x-orch-rules` and `x-orch-errors`.

use orch_runtime::field_error::Reason;

use super::{Constraints, Immutability, Rule, Step, StringFormat, rules};
use crate::diagnostic::Span;

/// How a broken rule is told. What is not said is as the rule's keyword has it.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// What the error says.
    pub message: Option<String>,
    /// Its class.
    pub reason: Option<Reason>,
    /// Where it is reported, instead of the value's own place.
    pub place: Option<Vec<Step>>,
    /// The value is accepted, with a warning.
    pub is_warning: bool,
    /// What is shown instead of the value.
    pub shows: Option<Shows>,
}

/// What an error shows instead of the value.
#[derive(Clone, Debug)]
pub enum Shows {
    /// Another value.
    Value(Vec<Step>),
    /// A text.
    Text(String),
}

/// One rule of `x-orch-rules`.
#[derive(Debug)]
pub struct Check {
    /// What it is about; empty: the object itself.
    pub field: Vec<Step>,
    /// All of these must hold for the rule to apply.
    pub when: Vec<Condition>,
    /// What must hold then.
    pub demand: Demand,
    /// How it is told.
    pub words: Words,
    /// Where it is written.
    pub span: Span,
}

/// A part of `when`.
#[derive(Debug)]
pub struct Condition {
    /// Of which value.
    pub path: Vec<Step>,
    /// What must hold of it.
    pub test: Test,
    /// Where it is written.
    pub span: Span,
}

/// What must hold of a value.
#[derive(Debug)]
pub enum Test {
    /// It is one of these.
    OneOf(Vec<Constant>),
    /// It is none of these.
    NoneOf(Vec<Constant>),
    /// It is given, or it is not.
    Given(bool),
    /// The text matches a pattern.
    Matches(String),
    /// The number, the length or the count of items lies between these.
    Between(Option<i64>, Option<i64>),
}

/// A constant of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// `true`.
    Boolean(bool),
    /// `1`.
    Integer(i64),
    /// `Local`.
    Text(String),
}

/// What a rule demands.
#[derive(Debug)]
pub enum Demand {
    /// The value is given.
    Required,
    /// The value is not given.
    Forbidden,
    /// The boolean is this one.
    Equals(bool),
    /// What OpenAPI's own keywords say of a single value.
    Value(Box<Constraints>, Option<StringFormat>),
    /// No two values at the path are the same, nor the same as one at the others.
    Unique(Vec<Vec<Step>>),
    /// A value at the other path is the same.
    RefersTo(Vec<Step>),
    /// The value does not change.
    Immutable(Immutability),
    /// One of the values, or more, is given.
    AtLeastOne(Vec<Vec<Step>>),
    /// Not more than one of the values is given.
    AtMostOne(Vec<Vec<Step>>),
}

impl Demand {
    /// Whether it is about a change.
    pub fn is_about_change(&self) -> bool {
        matches!(self, Demand::Immutable(_))
    }

    /// The keyword that states it.
    pub fn keyword(&self) -> &'static str {
        match self {
            Demand::Required => "required",
            Demand::Forbidden => "forbidden",
            Demand::Equals(_) => "equals",
            Demand::Value(..) => "value",
            Demand::Unique(_) => "unique",
            Demand::RefersTo(_) => "refersTo",
            Demand::Immutable(_) => "immutable",
            Demand::AtLeastOne(_) => "atLeastOne",
            Demand::AtMostOne(_) => "atMostOne",
        }
    }

    /// The rules of a [`Demand::Value`].
    pub fn rules(&self) -> Vec<Rule<'_>> {
        match self {
            Demand::Value(constraints, format) => rules::stated(*format, constraints),
            _ => Vec::new(),
        }
    }
}

impl Rule<'_> {
    /// The keyword under which `x-orch-errors` has the words of the rule.
    pub fn keyword(&self) -> &'static str {
        match self {
            Rule::Between(..) | Rule::Minimum(_) => "minimum",
            Rule::ExclusiveMinimum(_) => "exclusiveMinimum",
            Rule::Maximum(_) => "maximum",
            Rule::ExclusiveMaximum(_) => "exclusiveMaximum",
            Rule::MultipleOf(_) => "multipleOf",
            Rule::OneOf(_) => "enum",
            Rule::Format(_) => "format",
            Rule::OwnFormat(_) => "x-orch-format",
            Rule::Pattern(_) => "pattern",
            Rule::MinLength(_) => "minLength",
            Rule::MaxLength(_) => "maxLength",
            Rule::MinItems(_) => "minItems",
            Rule::MaxItems(_) => "maxItems",
            Rule::UniqueItems => "uniqueItems",
            Rule::UniqueKeys(_) => "x-orch-list-map-keys",
            Rule::MinProperties(_) => "minProperties",
            Rule::MaxProperties(_) => "maxProperties",
        }
    }
}
