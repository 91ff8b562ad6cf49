//! Values.

mod equality;
mod json;
mod key;
mod show;
mod timestamp;

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use super::url::Url;
use crate::scalar::{Duration, Quantity};
pub use key::Key;
pub use timestamp::Timestamp;

pub use equality::{are_equal, compare};
pub(crate) use show::double_text;

/// What an expression is evaluated to. Copies are cheap.
///
/// Values cannot be compared with `==`, because that would take unbounded time: an evaluation has a budget.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `"text"`
    Text(Arc<str>),
    /// `b"bytes"`
    Bytes(Arc<[u8]>),
    /// A point in time in the years 1 to 9999
    Timestamp(Timestamp),
    /// A length of time
    Duration(Duration),
    /// `[1, 2]`
    List(Arc<List>),
    /// `{"key": "value"}`; objects too are maps
    Map(Arc<Map>),
    /// `optional.of(1)`, `optional.none()`
    Optional(Option<Arc<Contained>>),
    /// The name of a type
    Type(Arc<str>),
    /// An address
    Ip(IpAddr),
    /// A network: an address and the length of the prefix
    Cidr(IpAddr, u8),
    /// `1Gi`
    Quantity(Arc<Quantity>),
    /// An address of the web
    Url(Arc<Url>),
    /// A format of texts, by its name
    Format(&'static str),
}

/// The items of a list.
#[derive(Debug)]
pub struct List {
    items: Vec<Value>,
    kind: ListKind,
    depth: usize,
}

/// What identifies the items of a list (`x-orch-list-type`): it matters where lists are compared and joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Their positions.
    Plain,
    /// Their values.
    Set,
    /// The values of these fields.
    Keyed(&'static [&'static str]),
}

/// The entries of a map.
#[derive(Debug)]
pub struct Map {
    entries: BTreeMap<Key, Value>,
    depth: usize,
}

/// The value in an optional value.
#[derive(Debug)]
pub struct Contained {
    value: Value,
    depth: usize,
}

impl List {
    /// A list whose items are identified in that way.
    pub fn new(items: Vec<Value>, kind: ListKind) -> Self {
        let depth = 1 + items.iter().map(Value::depth).max().unwrap_or(0);
        List { items, kind, depth }
    }

    /// What identifies its items.
    pub fn kind(&self) -> ListKind {
        self.kind
    }

    /// In order.
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

impl Map {
    /// In the order of keys: booleans, then numbers, then texts.
    pub fn entries(&self) -> &BTreeMap<Key, Value> {
        &self.entries
    }
}

impl Value {
    /// A list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::from(List::new(items, ListKind::Plain))
    }

    /// A map.
    pub fn map(entries: BTreeMap<Key, Value>) -> Value {
        let depth = 1 + entries.values().map(Value::depth).max().unwrap_or(0);
        Value::Map(Arc::new(Map { entries, depth }))
    }

    /// An object: a map whose keys are names of fields.
    pub fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
        Value::map(fields.into_iter().map(|(name, value)| (Key::from(name), value)).collect())
    }

    /// An optional value.
    pub fn optional(value: Option<Value>) -> Value {
        Value::Optional(value.map(|value| Arc::new(Contained { depth: 1 + value.depth(), value })))
    }

    /// The value in an optional value; nothing for other values too.
    pub fn contained(&self) -> Option<&Value> {
        match self {
            Value::Optional(Some(contained)) => Some(&contained.value),
            _ => None,
        }
    }

    /// How many levels of lists, maps and optional values there are.
    pub fn depth(&self) -> usize {
        match self {
            Value::List(list) => list.depth,
            Value::Map(map) => map.depth,
            Value::Optional(Some(contained)) => contained.depth,
            _ => 0,
        }
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Ip(_) => "net.IP",
            Value::Cidr(..) => "net.CIDR",
            Value::Quantity(_) => "Quantity",
            Value::Url(_) => "net.URL",
            Value::Format(_) => "NamedFormat",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Text(value.into())
    }
}

impl From<Quantity> for Value {
    fn from(value: Quantity) -> Self {
        Value::Quantity(Arc::new(value))
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Value::Bytes(value.into())
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Value::List(Arc::new(list))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::list(items)
    }
}
