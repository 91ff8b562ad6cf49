//! Functions of the library, as generated code calls them.

use super::{
    budget::Budget,
    fault::Fault,
    kind::Kind,
    library::{Implementation, TABLES},
    value::Value,
};

/// Overloads of one function, one of which takes the values.
#[derive(Debug)]
pub struct Function {
    overloads: Vec<(&'static [Kind], Implementation)>,
    name: &'static str,
}

impl Function {
    /// The overloads with these signatures, each with what it takes.
    ///
    /// # Panics
    /// If the library has no such signature; the generator takes them from there.
    pub fn new(name: &'static str, overloads: &[(&str, &'static [Kind])]) -> Self {
        let all = || TABLES.iter().copied().flatten();
        let find = |(signature, kinds): &(&str, &'static [Kind])| {
            let found = all().find(|(known, _)| known == signature);
            (*kinds, found.expect("the generator names what the library has").1)
        };
        Function { overloads: overloads.iter().map(find).collect(), name }
    }

    /// Calls the first overload that takes the values. Time and memory are bounded by what the schema says
    /// about the values, which the generator has looked at.
    pub fn call(&self, arguments: &[Value]) -> Result<Value, Fault> {
        let takes = |kinds: &[Kind]| kinds.iter().zip(arguments).all(|(kind, value)| kind.has(value));
        let overload = match &self.overloads[..] {
            [only] => Some(only),
            several => several.iter().find(|(kinds, _)| takes(kinds)),
        };
        let Some((_, implementation)) = overload else {
            let types: Vec<&str> = arguments.iter().map(Value::type_name).collect();
            return Err(Fault::NoSuchOverload(format!("{} of ({})", self.name, types.join(", "))));
        };
        implementation(arguments, &mut Budget::new(u64::MAX))
    }
}
