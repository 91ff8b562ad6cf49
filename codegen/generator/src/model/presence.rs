//! How a field shows that it has no value, and what that means: the table in the schema language's
//! description.

use serde_json::Value;

use super::{Field, Model, Resolved, Shape};

/// How a struct's field holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// `Option<T>` instead of `T`.
    pub optional: bool,
    /// When it is left out of what is written.
    pub omitted: Omitted,
}

/// When a field is left out of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omitted {
    /// It is always written.
    Never,
    /// When there is no value.
    None,
    /// When it is empty.
    Empty,
}

/// What it means that a field which is no `Option` holds the empty value of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The value is missing, which is an error.
    Missing,
    /// The value is missing, so no rule applies to it.
    Absent,
    /// It is a value like any other.
    Value,
}

impl Field {
    /// How the field holds its value.
    pub fn presence(&self, model: &Model) -> Presence {
        const PLAIN: Presence = Presence { optional: false, omitted: Omitted::Never };
        const ABSENT: Presence = Presence { optional: true, omitted: Omitted::None };
        const EMPTY: Presence = Presence { optional: false, omitted: Omitted::Empty };
        if self.required {
            return Presence { optional: self.usage.nullable, omitted: Omitted::Never };
        }
        if self.null_when_absent {
            return Presence { optional: true, omitted: Omitted::Never };
        }
        match model.resolve(&self.usage) {
            Resolved::Object(..) if is_empty_object(self.default.as_ref()) => PLAIN,
            Resolved::Enum(..) | Resolved::Any => ABSENT,
            _ if self.omit_empty => EMPTY,
            _ => ABSENT,
        }
    }

    /// What its empty value means. Texts may be empty where the schema says so; lists and maps must not be
    /// where it says `minItems: 1` or `minProperties: 1`. Zero and false are values unless the schema says
    /// `x-orch-omit-empty`.
    pub fn empty(&self, model: &Model) -> Empty {
        let constraints = &model.innermost(&self.usage).constraints;
        let is_a_value = match model.resolve(&self.usage) {
            Resolved::Scalar(Shape::String(_)) => {
                self.required && constraints.min_length.map_or(self.accepts_empty, |least| least == 0)
            }
            Resolved::Scalar(Shape::Time | Shape::MicroTime) | Resolved::Any => false,
            Resolved::List(..) => constraints.min_items.is_none_or(|min| min == 0),
            Resolved::Map { .. } => constraints.min_properties.is_none_or(|min| min == 0),
            _ => self.required,
        };
        if is_a_value {
            Empty::Value
        } else if self.required {
            Empty::Missing
        } else if self.presence(model).omitted == Omitted::Empty {
            Empty::Absent
        } else {
            Empty::Value
        }
    }

    /// Whether its default changes a value that is absent: it does not where it says no more than that the
    /// value is empty.
    pub fn is_filled(&self, model: &Model) -> bool {
        if self.default_fn.is_some() {
            return true;
        }
        let Some(default) = &self.default else { return false };
        let presence = self.presence(model);
        // A plain object is always there, and its own fields have their own defaults.
        let is_there =
            presence.omitted == Omitted::Never && matches!(model.resolve(&self.usage), Resolved::Object(..));
        presence.optional || !(is_empty_constant(default) || is_there)
    }
}

fn is_empty_object(default: Option<&Value>) -> bool {
    default.and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
}

/// A default that says no more than that the value is empty.
fn is_empty_constant(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
