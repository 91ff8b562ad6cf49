//! Words and places of errors, and rules that hold under conditions: `x-orch-errors` and `x-orch-rules`.

mod conditions;

use std::borrow::Cow;

use orch_runtime::field_error::Reason;
use schemars::{JsonSchema, SchemaGenerator, json_schema};

pub use self::conditions::{Question, Test, When};
use super::{
    format::Format,
    operation::FormatFunction,
    reading::{Entries, OneOf, Read, idl_object, idl_word_list, idl_words, mismatch},
};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

idl_word_list!(Reason {
    Required = "FieldValueRequired",
    Invalid = "FieldValueInvalid",
    NotSupported = "FieldValueNotSupported",
    Forbidden = "FieldValueForbidden",
    Duplicate = "FieldValueDuplicate",
    NotFound = "FieldValueNotFound",
    TooLong = "FieldValueTooLong",
    TooMany = "FieldValueTooMany",
});

idl_words! {
    /// What a broken rule is.
    pub enum Severity {
        /// The object is refused.
        Error = "error",
        /// The object is accepted, and the client is warned.
        Warning = "warning",
    }
}

idl_object! {
    /// How a broken rule is told.
    pub struct Words, "x-orch-errors", refused: &[("path", "write `fieldPath`")], {
        /// What the error says; `{value}` and `{.field}` stand for values.
        "message" => message: Option<Spanned<String>>,
        /// Class of the error.
        #[schemars(with = "Option<OneOf<Reason>>")]
        "reason" => reason: Option<Spanned<Reason>>,
        /// Where it is reported: `.name` is below the value, `^` is what holds it.
        "fieldPath" => field_path: Option<Spanned<String>>,
        /// Whether it is an error or a warning.
        "severity" => severity: Option<Spanned<Severity>>,
        /// What is shown instead of the value: a path such as `.name`, or a text.
        "shows" => shows: Option<Spanned<String>>,
    }
}

/// A message, or more.
#[derive(Debug)]
pub enum ErrorWords {
    /// The message.
    Message(Spanned<String>),
    /// Message, reason, place.
    Words(Box<Words>),
}

impl Read for ErrorWords {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(_) => Spanned::read(node, diagnostics).map(ErrorWords::Message),
            Value::Map(_) => Box::read(node, diagnostics).map(ErrorWords::Words),
            _ => {
                mismatch(node, "a message, or a map", "write `{message: must be even}`", diagnostics);
                None
            }
        }
    }
}

impl JsonSchema for ErrorWords {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ErrorWords".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let words = generator.subschema_for::<Words>();
        json_schema!({ "anyOf": [{ "type": "string" }, words] })
    }
}

idl_words! {
    /// When a rule is judged.
    pub enum Moment {
        /// Whenever an object is written.
        Write = "write",
        /// When an object is changed.
        Change = "change",
        /// Both: for kinds whose rules are not judged again on a change.
        Always = "always",
    }
}

idl_words! {
    /// What is made of a wrong value that stays as it was.
    pub enum Unchanged {
        /// It is accepted.
        Accepted = "accepted",
    }
}

idl_object! {
    /// What may change under a condition.
    pub struct ConditionalException, "an exception", refused: &[("path", "write `field`")], {
        /// What may change.
        "field" => field: Spanned<String>,
        /// When: as in rules.
        "when" => when: Option<When>,
    }
}

/// What may change although what is around it may not.
#[derive(Debug)]
pub enum Exception {
    /// A path.
    Path(Spanned<String>),
    /// A path, with a condition.
    Conditional(Box<ConditionalException>),
}

impl Exception {
    /// What may change.
    pub fn field(&self) -> &Spanned<String> {
        match self {
            Exception::Path(field) => field,
            Exception::Conditional(exception) => &exception.field,
        }
    }

    /// When.
    pub fn when(&self) -> Option<&When> {
        match self {
            Exception::Path(_) => None,
            Exception::Conditional(exception) => exception.when.as_ref(),
        }
    }
}

impl Read for Exception {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Box::read(node, diagnostics).map(Exception::Conditional),
            _ => Spanned::read(node, diagnostics).map(Exception::Path),
        }
    }
}

impl JsonSchema for Exception {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Exception".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let conditional = generator.subschema_for::<ConditionalException>();
        json_schema!({ "anyOf": [{ "type": "string" }, conditional] })
    }
}

/// A place in the order in which errors are told: a field, and the order of what is below it.
#[derive(Debug)]
pub struct OrderedPlace {
    /// The name of the field, `"*"` or `"."`.
    pub field: Spanned<String>,
    /// The order below it.
    pub below: Vec<OrderedPlace>,
}

impl Read for OrderedPlace {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(_) => {
                Spanned::read(node, diagnostics).map(|field| OrderedPlace { field, below: Vec::new() })
            }
            Value::Map(entries) if entries.len() == 1 => {
                let (field, below) = &entries[0];
                Some(OrderedPlace { field: field.clone(), below: Vec::read(below, diagnostics)? })
            }
            _ => {
                let help = "write `name`, or `name: [first, second]` for an order below it";
                mismatch(node, "a field, or a field with the order below it", help, diagnostics);
                None
            }
        }
    }
}

impl JsonSchema for OrderedPlace {
    fn schema_name() -> Cow<'static, str> {
        "OrderedPlace".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let below = generator.subschema_for::<Vec<OrderedPlace>>();
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "object", "additionalProperties": below, "minProperties": 1, "maxProperties": 1 },
            ]
        })
    }
}

idl_object! {
    /// One rule of `x-orch-rules`.
    pub struct ObjectRule, "a rule of x-orch-rules", refused: &[
        ("path", "write `field`, and `fieldPath` for the place of the error"),
        ("if", "write `when`"),
        ("const", "write `enum` with one value"),
    ], {
        /// The rules that another type shares under the name in `shared`, in place of a rule: they are
        /// written there, and hold here too. `on`, `first` and `last` stand for theirs.
        "rulesOf" => rules_of: Option<Spanned<String>>,
        /// The name under which rules are shared with other types.
        "shared" => shared: Option<Spanned<String>>,
        /// What the rule is about: `.spec.ports[*].name`; the object itself if absent. `oldSelf.spec` is of
        /// the object before.
        "field" => field: Option<Spanned<String>>,
        /// When the rule applies: each path with the values, or the question, that must hold; or an
        /// expression.
        "when" => when: Option<When>,
        /// Whether it is judged on every write, on a change alone, or on both.
        "on" => on: Option<Spanned<Moment>>,
        /// Whether wrong values are accepted on a change that leaves them as they are: `accepted`.
        "unchanged" => unchanged: Option<Spanned<Unchanged>>,
        /// Whether it is judged only where the rule before it is not broken.
        "otherwise" => otherwise: Option<Spanned<bool>>,
        /// Whether it is judged before the fields of the object.
        "first" => first: Option<Spanned<bool>>,
        /// Whether other errors at the field and below it are not told where the rule is broken.
        "alone" => alone: Option<Spanned<bool>>,
        /// Whether it is told of the first item alone that breaks it.
        "once" => once: Option<Spanned<bool>>,
        /// Whether it goes through all items after the rule before it has, instead of item by item with it.
        "anew" => anew: Option<Spanned<bool>>,
        /// Whether the rules for the change that come after it are not judged where it is broken.
        "stop" => stop: Option<Spanned<bool>>,
        /// Whether its errors are told after all others of the object, whatever `x-orch-error-order` says.
        "last" => last: Option<Spanned<bool>>,
        /// An expression that is true for good values.
        "rule" => rule: Option<Spanned<String>>,
        /// An expression for the text that is judged instead of the field's own.
        "of" => of: Option<Spanned<String>>,
        /// What the schema says of the field itself is not judged.
        "ignored" => ignored: Option<Spanned<bool>>,
        /// It must be given.
        "required" => required: Option<Spanned<bool>>,
        /// It must not be given.
        "forbidden" => forbidden: Option<Spanned<bool>>,
        /// It is one of these.
        "enum" => enumeration: Option<Spanned<Vec<Spanned<String>>>>,
        /// It is this boolean.
        "equals" => equals: Option<Spanned<bool>>,
        /// It has a format of the crate.
        "x-orch-format" => own_format: Option<FormatFunction>,
        /// A function of the crate judges it.
        "fn" => function: Option<Spanned<String>>,
        /// It has this format.
        "format" => format: Option<Spanned<Format>>,
        /// It matches this pattern.
        "pattern" => pattern: Option<Spanned<String>>,
        /// Least number.
        "minimum" => minimum: Option<Spanned<f64>>,
        /// Greatest number.
        "maximum" => maximum: Option<Spanned<f64>>,
        /// Least length, in bytes.
        "minLength" => min_length: Option<Spanned<u64>>,
        /// Greatest length, in bytes.
        "maxLength" => max_length: Option<Spanned<u64>>,
        /// Least number of items.
        "minItems" => min_items: Option<Spanned<u64>>,
        /// Greatest number of items.
        "maxItems" => max_items: Option<Spanned<u64>>,
        /// No two values at this path are the same, nor the same as one at the paths listed:
        /// `[.other[*].name]`.
        "unique" => unique: Option<Vec<Spanned<String>>>,
        /// With `unique` or `refersTo`: the fields of an item that are compared together:
        /// `[.protocol, .port]`.
        "by" => by: Option<Vec<Spanned<String>>>,
        /// No value at this path is the same: `.devices[*].name`.
        "differsFrom" => differs_from: Option<Spanned<String>>,
        /// With `refersTo`: items about which there are errors do not count.
        "correct" => correct: Option<Spanned<bool>>,
        /// There is a value at this path that is the same: `.volumes[*].name`, or `oldSelf.volumes[*].name`.
        "refersTo" => refers_to: Option<Spanned<String>>,
        /// With `refersTo` or `differsFrom`: an expression for the items that count.
        "where" => of_items: Option<Spanned<String>>,
        /// With `unique`, `refersTo` or `differsFrom`: only what is in the same one of these is compared:
        /// `.containers[*]`.
        "within" => within: Option<Spanned<String>>,
        /// It does not change: `true`, or `once-set`.
        "immutable" => immutable: Option<Spanned<super::Immutable>>,
        /// With `immutable`: what may change all the same: `[.spec.replicas]`, or
        /// `{field: .spec.replicas, when: ...}`.
        "except" => except: Option<Vec<Exception>>,
        /// One of these, or more, is given.
        "atLeastOne" => at_least_one: Option<Vec<Spanned<String>>>,
        /// Not more than one of these is given.
        "atMostOne" => at_most_one: Option<Vec<Spanned<String>>>,
        /// With `atMostOne`: fields that errors call otherwise: `{cephfs: cephFS}`.
        "toldAs" => told_as: Option<Entries<Spanned<String>>>,
        /// What the error says; `{value}` and `{.field}` stand for values.
        "message" => message: Option<Spanned<String>>,
        /// An expression whose value is what the error says.
        "messageExpression" => message_expression: Option<Spanned<String>>,
        /// Class of the error.
        #[schemars(with = "Option<OneOf<Reason>>")]
        "reason" => reason: Option<Spanned<Reason>>,
        /// Where it is reported, from the object: `.name`.
        "fieldPath" => field_path: Option<Spanned<String>>,
        /// Whether it is an error or a warning.
        "severity" => severity: Option<Spanned<Severity>>,
        /// What is shown instead of the value: a path such as `.name`, or a text.
        "shows" => shows: Option<Spanned<String>>,
        /// An expression for what is shown instead of the value.
        "showsExpression" => shows_expression: Option<Spanned<String>>,
    }
}

/// A path, and whether it is one of the object before a change: `oldSelf.ports[*].name`.
pub fn of_old(path: &Spanned<String>) -> (Spanned<String>, bool) {
    let rest = path.value.strip_prefix("oldSelf").filter(|rest| rest.starts_with('.'));
    let text = rest.unwrap_or(&path.value).to_owned();
    (Spanned { value: text, span: path.span.clone() }, rest.is_some())
}

impl ObjectRule {
    /// The conditions that are written as paths.
    pub fn conditions(&self) -> impl Iterator<Item = &(Spanned<String>, Test)> {
        self.when.iter().flat_map(When::conditions)
    }

    /// What may change although the field may not.
    pub fn exceptions(&self) -> impl Iterator<Item = &Exception> {
        self.except.iter().flatten()
    }
}
