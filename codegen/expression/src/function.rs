//! Functions: tables of signatures, each with the code that does it.
//!
//! A table line says everything about an overload: `("(string).endsWith(string) -> bool", |args, _| ...)`.
//! The checker chooses overloads by signature, and the evaluator the first of these that takes the values.

mod arithmetic;
mod collection;
mod conversion;
mod format;
mod list;
mod network;
mod optional;
mod order;
mod pattern;
mod quantity;
mod sets;
mod text;
mod time;

use std::{collections::HashMap, fmt, sync::Arc};

use orch_runtime::scalar::Duration;

use crate::{
    budget::Budget,
    fault::Fault,
    types::{Opaque, Signature, Type},
    value::{List, Map, Timestamp, Value},
};

/// What an overload does. It gets as many values as the signature says; it checks their types itself, because
/// a term of the type `dyn` may have any. It spends what its work costs beyond one step and beyond reading
/// the texts among the arguments, which are paid for.
pub type Implementation = fn(&[Value], &mut Budget) -> Result<Value, Fault>;

/// Overloads with their signatures.
type Table = &'static [(&'static str, Implementation)];

const TABLES: &[Table] = &[
    arithmetic::TABLE,
    collection::TABLE,
    conversion::TABLE,
    format::TABLE,
    list::TABLE,
    network::TABLE,
    optional::TABLE,
    order::TABLE,
    pattern::TABLE,
    quantity::TABLE,
    sets::TABLE,
    text::TABLE,
    time::TABLE,
];

/// One function for values of certain types.
pub struct Overload {
    /// As in the table: it names the overload.
    pub signature: &'static str,
    /// The name of the function; an operator is called `_+_` or the like.
    pub function: &'static str,
    /// Whether it is called on its first argument.
    pub is_method: bool,
    /// The types of its arguments; for a method, the first is what it is called on.
    pub parameters: Vec<Type>,
    /// The type of what it makes.
    pub result: Type,
    /// The code.
    pub implementation: Implementation,
}

impl fmt::Debug for Overload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.signature)
    }
}

impl Overload {
    /// Whether the values have the outer types that it takes.
    pub(crate) fn takes(&self, arguments: &[Value]) -> bool {
        self.parameters.iter().zip(arguments).all(|(parameter, value)| is_of(value, parameter))
    }
}

/// All functions by name.
pub(crate) fn all() -> HashMap<&'static str, Vec<Arc<Overload>>> {
    let mut functions: HashMap<&'static str, Vec<Arc<Overload>>> = HashMap::new();
    for (signature, implementation) in TABLES.iter().copied().flatten() {
        let Signature { function, is_method, parameters, result } =
            Signature::parse(signature).expect("the signatures of the tables are right, as a test says");
        let overload =
            Overload { signature, function, is_method, parameters, result, implementation: *implementation };
        functions.entry(function).or_default().push(Arc::new(overload));
    }
    functions
}

/// Whether a value has the outer type.
fn is_of(value: &Value, declared: &Type) -> bool {
    match declared {
        Type::Dyn | Type::Parameter(_) | Type::Unknown(_) => true,
        Type::Null => matches!(value, Value::Null),
        Type::Bool => matches!(value, Value::Bool(_)),
        Type::Int => matches!(value, Value::Int(_)),
        Type::Uint => matches!(value, Value::Uint(_)),
        Type::Double => matches!(value, Value::Double(_)),
        Type::Text => matches!(value, Value::Text(_)),
        Type::Bytes => matches!(value, Value::Bytes(_)),
        Type::Timestamp => matches!(value, Value::Timestamp(_)),
        Type::Duration => matches!(value, Value::Duration(_)),
        Type::List(_) => matches!(value, Value::List(_)),
        Type::Map(..) | Type::Object(_) => matches!(value, Value::Map(_)),
        Type::Optional(_) => matches!(value, Value::Optional(_)),
        Type::Type => matches!(value, Value::Type(_)),
        Type::Opaque(Opaque::Ip) => matches!(value, Value::Ip(_)),
        Type::Opaque(Opaque::Cidr) => matches!(value, Value::Cidr(..)),
        Type::Opaque(Opaque::Quantity) => matches!(value, Value::Quantity(_)),
    }
}

fn text(value: &Value) -> Result<&str, Fault> {
    if let Value::Text(text) = value { Ok(text) } else { Err(Fault::wrong_type()) }
}

fn bytes(value: &Value) -> Result<&[u8], Fault> {
    if let Value::Bytes(bytes) = value { Ok(bytes) } else { Err(Fault::wrong_type()) }
}

fn int(value: &Value) -> Result<i64, Fault> {
    if let Value::Int(int) = value { Ok(*int) } else { Err(Fault::wrong_type()) }
}

fn boolean(value: &Value) -> Result<bool, Fault> {
    if let Value::Bool(bool) = value { Ok(*bool) } else { Err(Fault::wrong_type()) }
}

fn items(value: &Value) -> Result<&[Value], Fault> {
    if let Value::List(list) = value { Ok(List::items(list)) } else { Err(Fault::wrong_type()) }
}

fn map(value: &Value) -> Result<&Map, Fault> {
    if let Value::Map(map) = value { Ok(map) } else { Err(Fault::wrong_type()) }
}

fn timestamp(value: &Value) -> Result<Timestamp, Fault> {
    if let Value::Timestamp(time) = value { Ok(*time) } else { Err(Fault::wrong_type()) }
}

fn duration(value: &Value) -> Result<Duration, Fault> {
    if let Value::Duration(duration) = value { Ok(*duration) } else { Err(Fault::wrong_type()) }
}

/// A number of things, as a value.
fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A position in a row of that length, or the place behind its end.
fn position(value: &Value, length: usize) -> Result<usize, Fault> {
    let number = int(value)?;
    let position = usize::try_from(number).ok().filter(|position| *position <= length);
    position.ok_or_else(|| Fault::invalid(format!("index out of range: {number}")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{TABLES, all};
    use crate::types::Signature;

    #[test]
    fn every_signature_is_right_and_stands_there_once() {
        let mut seen = BTreeSet::new();
        for (signature, _) in TABLES.iter().copied().flatten() {
            assert!(Signature::parse(signature).is_some(), "{signature}");
            assert!(seen.insert(*signature), "{signature} stands there twice");
        }
        assert_eq!(all().values().map(Vec::len).sum::<usize>(), seen.len());
    }
}
