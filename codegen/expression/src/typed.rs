//! An expression whose names are resolved and whose types are known: what is evaluated, and what can be
//! translated to code.

use std::sync::Arc;

use crate::{
    ast::{Element, Entry, FoldKind},
    function::Overload,
    span::Span,
    types::Type,
    value::Value,
};

/// A part of an expression.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// The type of its value; `dyn` where only the evaluation will tell.
    pub of: Type,
    /// Where it stands.
    pub at: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// A value that is known.
    Constant(Value),
    /// A declared variable, by its name.
    Variable(Arc<str>),
    /// A variable of a macro: those around it are numbered from the outermost.
    Local(usize),
    /// A field of an object or map. If it is optional, or if the operand is, so is the result.
    Select {
        /// What has the field.
        operand: Box<Term>,
        /// Its name.
        field: Arc<str>,
        /// Whether an absent field is an empty value, and not an error.
        is_optional: bool,
    },
    /// Whether there is such a field.
    Has {
        /// What may have the field.
        operand: Box<Term>,
        /// Its name.
        field: Arc<str>,
    },
    /// An item of a list or the value of a key.
    Index {
        /// A list or map, or an optional value with one.
        operand: Box<Term>,
        /// The position or key.
        index: Box<Term>,
        /// Whether an absent item is an empty value, and not an error.
        is_optional: bool,
    },
    /// A function. Where types are known, there is one overload; else the values decide.
    Call {
        /// At least one, all of the same function.
        overloads: Vec<Arc<Overload>>,
        /// What it is called on, if it is a method, and its arguments.
        arguments: Vec<Term>,
    },
    /// All hold. An operand that fails does not matter if another one does not hold.
    And(Vec<Term>),
    /// One holds. An operand that fails does not matter if another one holds.
    Or(Vec<Term>),
    /// Condition, value if it holds, value if not.
    Conditional(Box<[Term; 3]>),
    /// A list.
    List(Vec<Element<Term>>),
    /// A map.
    Map(Vec<Entry<Term>>),
    /// A macro over items. Its variables are the next free locals.
    Fold(Box<Fold>),
    /// A value with a name: the next free local in the body.
    Bind {
        /// The value.
        value: Box<Term>,
        /// Where the local is known.
        body: Box<Term>,
    },
    /// The body for the value in an optional value: the next free local in the body.
    OptionalMap {
        /// The optional value.
        operand: Box<Term>,
        /// Where the local is known.
        body: Box<Term>,
        /// Whether the body makes an optional value itself.
        is_flat: bool,
    },
}

/// A macro over the items of a list or map.
#[derive(Clone, Debug)]
pub struct Fold {
    /// What is made of the items.
    pub kind: FoldKind,
    /// The list or map.
    pub range: Term,
    /// One: the item of a list or the key of a map. Two: index and item, or key and value.
    pub variables: usize,
    /// Items for which this does not hold are left out.
    pub filter: Option<Term>,
    /// What is evaluated for each item.
    pub body: Term,
}

impl Term {
    /// Whether a condition holds for the term or for a part of it, however deep.
    pub fn any(&self, holds: &mut dyn FnMut(&Term) -> bool) -> bool {
        holds(self) || self.parts().into_iter().any(|part| part.any(holds))
    }

    /// The terms that it is made of.
    fn parts(&self) -> Vec<&Term> {
        match &self.kind {
            TermKind::Constant(_) | TermKind::Variable(_) | TermKind::Local(_) => Vec::new(),
            TermKind::Select { operand, .. } | TermKind::Has { operand, .. } => vec![operand],
            TermKind::Index { operand, index, .. } => vec![operand, index],
            TermKind::Call { arguments: parts, .. } | TermKind::And(parts) | TermKind::Or(parts) => {
                parts.iter().collect()
            }
            TermKind::Conditional(parts) => parts.iter().collect(),
            TermKind::List(items) => items.iter().map(|item| &item.value).collect(),
            TermKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            TermKind::Fold(fold) => {
                [&fold.range, &fold.body].into_iter().chain(fold.filter.as_ref()).collect()
            }
            TermKind::Bind { value, body } => vec![value, body],
            TermKind::OptionalMap { operand, body, .. } => vec![operand, body],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TermKind;
    use crate::{environment::Environment, program::Program, types::Type};

    #[test]
    fn parts_are_found_wherever_they_are() {
        let environment = Environment::new().with_variable("v", Type::Dyn).with_variable("w", Type::Dyn);
        for text in [
            "v",
            "v.a",
            "has(v.a)",
            "w[v]",
            "v[w]",
            "size(v) > 1",
            "w && v",
            "w || v",
            "w ? 1 : v",
            "[1, v]",
            "{v: 1}",
            "{1: v}",
            "v.all(x, x)",
            "[1].map(x, v, x)",
            "[1].exists(x, x == v)",
            "cel.bind(x, v, x)",
            "cel.bind(x, 1, v)",
            "optional.of(1).optMap(x, v)",
        ] {
            let program = Program::compile(text, &environment, &Type::Dyn).unwrap();
            let is_named = |name: &str| {
                program.term().any(&mut |term| matches!(&term.kind, TermKind::Variable(of) if &**of == name))
            };
            assert!(is_named("v") && !is_named("u"), "{text}");
        }
    }
}
