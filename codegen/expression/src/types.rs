//! Types of terms and values.

mod signature;

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    sync::Arc,
};

pub(crate) use signature::Signature;

/// The type of a term, as far as it is known before the term is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Any: known when it is evaluated.
    Dyn,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// 64 bits with a sign
    Int,
    /// 64 bits without a sign
    Uint,
    /// IEEE 754, 64 bits
    Double,
    /// Text
    Text,
    /// Bytes
    Bytes,
    /// A point in time in the years 1 to 9999, to the nanosecond
    Timestamp,
    /// A length of time, to the nanosecond
    Duration,
    /// A list of items
    List(Arc<Type>),
    /// A map from keys to values
    Map(Arc<Type>, Arc<Type>),
    /// A value that may be absent
    Optional(Arc<Type>),
    /// A type as a value
    Type,
    /// An object with declared fields
    Object(Arc<ObjectType>),
    /// A type that only functions make and take
    Opaque(Opaque),
    /// Any type, the same wherever the letter stands in a signature
    Parameter(char),
    /// A type that the checker has yet to find; its number
    Unknown(usize),
}

/// Types without literals and without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// An address
    Ip,
    /// A network
    Cidr,
    /// A quantity with a unit, such as `1Gi`
    Quantity,
    /// An address of the web
    Url,
    /// A named format of texts
    Format,
}

impl Opaque {
    const ALL: [Opaque; 5] = [Opaque::Ip, Opaque::Cidr, Opaque::Quantity, Opaque::Url, Opaque::Format];

    /// The name in expressions.
    pub fn name(self) -> &'static str {
        match self {
            Opaque::Ip => "net.IP",
            Opaque::Cidr => "net.CIDR",
            Opaque::Quantity => "Quantity",
            Opaque::Url => "net.URL",
            Opaque::Format => "NamedFormat",
        }
    }
}

/// A type whose fields the caller declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectType {
    /// Shown in messages. Two types of one environment have different names.
    pub name: String,
    /// The fields. A value need not have all of them; `has()` tells.
    pub fields: BTreeMap<String, Type>,
}

/// Types with a fixed name, in expressions and in signatures.
const NAMED: &[(&str, Type)] = &[
    ("dyn", Type::Dyn),
    ("null_type", Type::Null),
    ("bool", Type::Bool),
    ("int", Type::Int),
    ("uint", Type::Uint),
    ("double", Type::Double),
    ("string", Type::Text),
    ("bytes", Type::Bytes),
    ("timestamp", Type::Timestamp),
    ("duration", Type::Duration),
    ("type", Type::Type),
];

impl Type {
    /// A list of items of this type.
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    /// A map; keys are texts, whole numbers or booleans.
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    /// A value of this type, or none.
    pub fn optional(value: Type) -> Type {
        Type::Optional(Arc::new(value))
    }

    /// An object with these fields.
    pub fn object<N: Into<String>>(name: &str, fields: impl IntoIterator<Item = (N, Type)>) -> Type {
        let fields = fields.into_iter().map(|(name, of)| (name.into(), of)).collect();
        Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields }))
    }

    /// Reads a type as it is displayed. `None` for anything else; objects cannot be written.
    pub fn parse(text: &str) -> Option<Type> {
        signature::parse_type(text)
    }

    /// Whether keys of maps may have the type.
    pub(crate) fn is_key(&self) -> bool {
        matches!(
            self,
            Type::Bool
                | Type::Int
                | Type::Uint
                | Type::Text
                | Type::Dyn
                | Type::Parameter(_)
                | Type::Unknown(_)
        )
    }
}

impl Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::List(item) => write!(out, "list({item})"),
            Type::Map(key, value) => write!(out, "map({key}, {value})"),
            Type::Optional(value) => write!(out, "optional_type({value})"),
            Type::Object(object) => out.write_str(&object.name),
            Type::Opaque(opaque) => out.write_str(opaque.name()),
            Type::Parameter(letter) => write!(out, "{letter}"),
            Type::Unknown(_) => out.write_str("dyn"),
            other => {
                let named = NAMED.iter().find(|(_, named)| named == other);
                out.write_str(named.expect("all other types are in the table").0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Type;

    #[test]
    fn types_are_read_as_they_are_shown() {
        for text in [
            "dyn",
            "list(int)",
            "map(string, list(map(int, null_type)))",
            "optional_type(list(A))",
            "net.IP",
            "timestamp",
            "type",
        ] {
            assert_eq!(Type::parse(text).map(|parsed| parsed.to_string()).as_deref(), Some(text));
        }
        for text in ["", "list", "list(int", "list(int))", "map(int)", "text", "int x", "AB"] {
            assert_eq!(Type::parse(text), None, "{text}");
        }
    }
}
