//! The outer type of a value: what an overload is chosen by where types are not known before.

use super::value::Value;

/// The outer type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any.
    Any,
    /// `null`
    Null,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `double`
    Double,
    /// `string`
    Text,
    /// `bytes`
    Bytes,
    /// A point in time.
    Timestamp,
    /// A length of time.
    Duration,
    /// A list of anything.
    List,
    /// A map of anything, or an object.
    Map,
    /// An optional value.
    Optional,
    /// The name of a type.
    Type,
    /// An address.
    Ip,
    /// A network.
    Cidr,
    /// A quantity.
    Quantity,
    /// An address of the web.
    Url,
    /// A named format of texts.
    Format,
}

impl Kind {
    /// The kind of a value; never [`Kind::Any`].
    pub fn of(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Uint(_) => Kind::Uint,
            Value::Double(_) => Kind::Double,
            Value::Text(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Timestamp(_) => Kind::Timestamp,
            Value::Duration(_) => Kind::Duration,
            Value::List(_) => Kind::List,
            Value::Map(_) => Kind::Map,
            Value::Optional(_) => Kind::Optional,
            Value::Type(_) => Kind::Type,
            Value::Ip(_) => Kind::Ip,
            Value::Cidr(..) => Kind::Cidr,
            Value::Quantity(_) => Kind::Quantity,
            Value::Url(_) => Kind::Url,
            Value::Format(_) => Kind::Format,
        }
    }

    /// Whether a value is of this kind.
    pub fn has(self, value: &Value) -> bool {
        self == Kind::Any || self == Kind::of(value)
    }
}
