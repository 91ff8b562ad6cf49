//! Functions as the checker and the evaluator see them: overloads with the types that they take and make.

use std::{collections::HashMap, fmt, sync::Arc};

use orch_runtime::expression::{
    kind::Kind,
    library::{Implementation, TABLES},
};

use crate::{
    types::{Opaque, Signature, Type},
    value::Value,
};

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
    /// The outer types of what it takes.
    pub fn kinds(&self) -> Vec<Kind> {
        self.parameters.iter().map(kind).collect()
    }

    /// Whether the values have the outer types that it takes.
    pub(crate) fn takes(&self, arguments: &[Value]) -> bool {
        self.parameters.iter().zip(arguments).all(|(parameter, value)| kind(parameter).has(value))
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

/// The outer type, as far as values have it.
fn kind(declared: &Type) -> Kind {
    match declared {
        Type::Dyn | Type::Parameter(_) | Type::Unknown(_) => Kind::Any,
        Type::Null => Kind::Null,
        Type::Bool => Kind::Bool,
        Type::Int => Kind::Int,
        Type::Uint => Kind::Uint,
        Type::Double => Kind::Double,
        Type::Text => Kind::Text,
        Type::Bytes => Kind::Bytes,
        Type::Timestamp => Kind::Timestamp,
        Type::Duration => Kind::Duration,
        Type::List(_) => Kind::List,
        Type::Map(..) | Type::Object(_) => Kind::Map,
        Type::Optional(_) => Kind::Optional,
        Type::Type => Kind::Type,
        Type::Opaque(Opaque::Ip) => Kind::Ip,
        Type::Opaque(Opaque::Cidr) => Kind::Cidr,
        Type::Opaque(Opaque::Quantity) => Kind::Quantity,
        Type::Opaque(Opaque::Url) => Kind::Url,
        Type::Opaque(Opaque::Format) => Kind::Format,
    }
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
