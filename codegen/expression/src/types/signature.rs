//! Signatures of functions, which tables of functions give as texts: `size(list(A)) -> int`, and
//! `(string).startsWith(string) -> bool` for a function that is called on its first argument.

use super::{NAMED, Opaque, Type};

/// What a function is called and takes and makes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub(crate) function: &'static str,
    pub(crate) is_method: bool,
    /// For a method, the first is what it is called on.
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Type,
}

impl Signature {
    /// `None` if the text is not a signature.
    pub(crate) fn parse(text: &'static str) -> Option<Signature> {
        let mut parameters = Vec::new();
        let mut rest = text;
        let is_method = rest.starts_with('(');
        if is_method {
            let (receiver, after) = leading_type(rest.strip_prefix('(')?)?;
            parameters.push(receiver);
            rest = after.strip_prefix(").")?;
        }
        let (function, mut rest) = rest.split_at(rest.find('(')?);
        rest = &rest[1..];
        while !rest.starts_with(')') {
            let (parameter, after) = leading_type(rest)?;
            parameters.push(parameter);
            rest = after.strip_prefix(", ").unwrap_or(after);
        }
        let result = parse_type(rest.strip_prefix(") -> ")?)?;
        Some(Signature { function, is_method, parameters, result })
    }
}

pub(super) fn parse_type(text: &str) -> Option<Type> {
    leading_type(text).filter(|(_, rest)| rest.is_empty()).map(|(found, _)| found)
}

/// The type at the start of the text, and what follows it.
fn leading_type(text: &str) -> Option<(Type, &str)> {
    let end = text.find(|ch: char| !ch.is_ascii_alphanumeric() && !"._".contains(ch)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let inside = rest.strip_prefix('(');
    let (found, rest) = match (name, inside) {
        ("list", Some(inside)) => one(inside, Type::list)?,
        ("optional_type", Some(inside)) => one(inside, Type::optional)?,
        ("map", Some(inside)) => {
            let (key, rest) = leading_type(inside)?;
            let (value, rest) = leading_type(rest.strip_prefix(", ")?)?;
            (Type::map(key, value), rest.strip_prefix(')')?)
        }
        _ => (named(name)?, rest),
    };
    Some((found, rest))
}

/// A type over one other, which stands before a closing bracket.
fn one(text: &str, over: fn(Type) -> Type) -> Option<(Type, &str)> {
    let (inner, rest) = leading_type(text)?;
    Some((over(inner), rest.strip_prefix(')')?))
}

fn named(name: &str) -> Option<Type> {
    if let [letter @ b'A'..=b'Z'] = name.as_bytes() {
        return Some(Type::Parameter(char::from(*letter)));
    }
    let opaque = || Opaque::ALL.into_iter().find(|opaque| opaque.name() == name).map(Type::Opaque);
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, of)| of.clone()).or_else(opaque)
}

#[cfg(test)]
mod tests {
    use super::{Signature, Type};

    #[test]
    fn signatures_are_read() {
        let size = Signature::parse("size(map(A, B)) -> int").unwrap();
        let map = Type::map(Type::Parameter('A'), Type::Parameter('B'));
        assert_eq!((size.function, size.is_method), ("size", false));
        assert_eq!((size.parameters, size.result), (vec![map], Type::Int));
        let method = Signature::parse("(string).replace(string, string) -> string").unwrap();
        assert_eq!((method.function, method.is_method), ("replace", true));
        assert_eq!(method.parameters, [Type::Text, Type::Text, Type::Text]);
        let none = Signature::parse("optional.none() -> optional_type(A)").unwrap();
        assert_eq!((none.function, none.parameters.len()), ("optional.none", 0));
        for wrong in ["size", "size(int)", "size(integer) -> int", "(string.size() -> int", "size(int -> int"]
        {
            assert_eq!(Signature::parse(wrong), None, "{wrong}");
        }
    }
}
