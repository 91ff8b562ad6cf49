//! Keys of maps.

use std::{
    cmp::Ordering,
    fmt::{self, Display},
    sync::Arc,
};

use super::Value;

/// A key. Whole numbers of both types are the same key if they are the same number.
#[derive(Clone, Debug)]
pub enum Key {
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `"key"`
    Text(Arc<str>),
}

impl Key {
    /// The key that equals this value, if values of its type can be keys. A `double` finds the number that it
    /// equals.
    pub fn of(value: &Value) -> Option<Key> {
        match value {
            Value::Bool(value) => Some(Key::Bool(*value)),
            Value::Int(value) => Some(Key::Int(*value)),
            Value::Uint(value) => Some(Key::Uint(*value)),
            Value::Text(value) => Some(Key::Text(Arc::clone(value))),
            Value::Double(value) if value.fract() == 0.0 && value.abs() < 9e18 => {
                Some(Key::Int(*value as i64))
            }
            _ => None,
        }
    }

    /// The key as a value of its own.
    pub fn value(&self) -> Value {
        match self {
            Key::Bool(value) => Value::Bool(*value),
            Key::Int(value) => Value::Int(*value),
            Key::Uint(value) => Value::Uint(*value),
            Key::Text(value) => Value::Text(Arc::clone(value)),
        }
    }

    /// Numbers in a type that has room for both.
    fn number(&self) -> Option<i128> {
        match self {
            Key::Int(value) => Some(i128::from(*value)),
            Key::Uint(value) => Some(i128::from(*value)),
            Key::Bool(_) | Key::Text(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Key::Bool(_) => 0,
            Key::Int(_) | Key::Uint(_) => 1,
            Key::Text(_) => 2,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Text(one), Key::Text(other)) => one.cmp(other),
            (Key::Bool(one), Key::Bool(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()).then_with(|| self.number().cmp(&other.number())),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl From<&str> for Key {
    fn from(value: &str) -> Self {
        Key::Text(value.into())
    }
}

impl Display for Key {
    /// As in an expression; texts without quotes.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(value) => write!(out, "{value}"),
            Key::Int(value) => write!(out, "{value}"),
            Key::Uint(value) => write!(out, "{value}"),
            Key::Text(value) => out.write_str(value),
        }
    }
}
