//! Rules about the members of an object, and how broken rules are told: `x-orch-rules` and `x-orch-errors`.

use orch_runtime::field_error::Reason;

use super::{Constraints, Expression, Immutability, Rule, Step, StringFormat, TypeId, rules};
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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the schema language, independent of the others"
)]
pub struct Check {
    /// What it is about; empty: the object itself.
    pub field: Vec<Step>,
    /// It is about the object before: all of its paths are.
    pub of_old: bool,
    /// All of these must hold for the rule to apply.
    pub when: Vec<Condition>,
    /// What must hold then.
    pub demand: Demand,
    /// The items of a loop, each of which is judged by itself by rules about several values; empty: all
    /// values of the object are compared.
    pub within: Vec<Step>,
    /// How it is told.
    pub words: Words,
    /// When it is judged.
    pub moment: Moment,
    /// On a change, wrong values that stay as they were are accepted.
    pub accepts_unchanged: bool,
    /// It is judged only where the rule before it is not broken.
    pub is_otherwise: bool,
    /// It is judged before the fields of the object.
    pub is_first: bool,
    /// Where it is broken, other errors at its place are taken back.
    pub is_alone: bool,
    /// Where it is broken, the rules for the change after it are not judged.
    pub stops: bool,
    /// It is told of the first item alone that breaks it.
    pub is_told_once: bool,
    /// It is not judged item by item with the rule before it.
    pub is_anew: bool,
    /// What may change, of a value that may not.
    pub exceptions: Vec<Exception>,
    /// Its errors come after those that `x-orch-error-order` arranges.
    pub is_last: bool,
    /// Its expressions, compiled when all types are known.
    pub expressions: Expressions,
    /// Where it is written.
    pub span: Span,
}

/// What may change, of a value that may not.
#[derive(Debug)]
pub struct Exception {
    /// The value.
    pub field: Vec<Step>,
    /// All of these must hold of the object before.
    pub when: Vec<Condition>,
}

/// When a rule is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// With the rules for the object.
    Write,
    /// With the rules for the change of an object.
    Change,
    /// With both.
    Always,
}

impl Check {
    /// Whether it is about a change, and only that.
    pub fn is_about_change(&self) -> bool {
        self.moment == Moment::Change || matches!(self.demand, Demand::Immutable(_))
    }

    /// Whether it is judged whenever an object is written, without a look at the object before.
    pub fn is_judged_on_write(&self) -> bool {
        !self.is_about_change() && !self.accepts_unchanged
    }

    /// Whether it is judged with the rules for a change.
    pub fn is_judged_on_change(&self) -> bool {
        self.moment != Moment::Write || matches!(self.demand, Demand::Immutable(_))
    }
}

/// The expressions of a rule.
#[derive(Debug, Default)]
pub struct Expressions {
    /// The type of `self`.
    pub owner: Option<TypeId>,
    /// `when`, where it is an expression.
    pub when: Option<Expression>,
    /// `rule`.
    pub rule: Option<Expression>,
    /// `of`.
    pub of: Option<Expression>,
    /// `where`.
    pub of_items: Option<Expression>,
    /// `messageExpression`.
    pub message: Option<Expression>,
    /// `showsExpression`.
    pub shows: Option<Expression>,
    /// The conditions of [`Check::exceptions`], in their order.
    pub exceptions: Vec<Option<Expression>>,
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
    /// It is another one than before, or it is the same.
    Changed(bool),
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
    /// An expression is true: [`Expressions::rule`].
    Expression,
    /// What the schema says of the field itself is not judged.
    Ignored,
    /// No two values at the path are the same, nor the same as one at the others.
    Unique {
        /// The other paths.
        others: Vec<Vec<Step>>,
        /// The fields of an item that are compared together, where it is not a single value.
        by: Vec<Vec<Step>>,
    },
    /// No value at the other path is the same.
    DiffersFrom(Vec<Step>),
    /// A value at one of the other paths is the same.
    RefersTo {
        /// The other paths.
        paths: Vec<Vec<Step>>,
        /// Items of its list about which there are errors do not count.
        is_correct: bool,
        /// The values are those of the object before.
        in_old: bool,
        /// The fields of an item that are compared together, where it is not a single value.
        by: Vec<Vec<Step>>,
    },
    /// A hand-written function of the crate is content.
    Function(String),
    /// The value does not change.
    Immutable(Immutability),
    /// One of the values, or more, is given.
    AtLeastOne(Vec<Vec<Step>>),
    /// Not more than one of the values is given.
    AtMostOne {
        /// Where they are.
        members: Vec<Vec<Step>>,
        /// Fields that errors call otherwise.
        told_as: Vec<(String, String)>,
    },
}

impl Demand {
    /// The other paths whose values are compared with.
    pub fn others(&self) -> &[Vec<Step>] {
        match self {
            Demand::Unique { others, .. } => others,
            Demand::RefersTo { paths, .. } => paths,
            Demand::DiffersFrom(path) => std::slice::from_ref(path),
            _ => &[],
        }
    }

    /// The fields of an item that are compared together.
    pub fn by(&self) -> &[Vec<Step>] {
        match self {
            Demand::Unique { by, .. } | Demand::RefersTo { by, .. } => by,
            _ => &[],
        }
    }

    /// The keyword that states it.
    pub fn keyword(&self) -> &'static str {
        match self {
            Demand::Required => "required",
            Demand::Forbidden => "forbidden",
            Demand::Equals(_) => "equals",
            Demand::Value(..) => "value",
            Demand::Expression => "rule",
            Demand::Function(_) => "fn",
            Demand::Ignored => "ignored",
            Demand::Unique { .. } => "unique",
            Demand::DiffersFrom(_) => "differsFrom",
            Demand::RefersTo { .. } => "refersTo",
            Demand::Immutable(_) => "immutable",
            Demand::AtLeastOne(_) => "atLeastOne",
            Demand::AtMostOne { .. } => "atMostOne",
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
