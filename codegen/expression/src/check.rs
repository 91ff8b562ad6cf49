//! From terms as they are written to terms with types.
//!
//! Names are resolved, overloads chosen, and types found by unification: a type that is not known yet, as
//! that of the items of `[]`, is a number until a use tells. What stays unknown is `dyn`.

mod call;
mod fold;
mod select;
mod unify;

use std::sync::Arc;

use crate::{
    ast::{Element, Entry, Literal, Node, NodeKind},
    environment::Environment,
    error::{Failure, Problem},
    parser::dotted,
    span::Span,
    typed::{Term, TermKind},
    types::Type,
    value::Value,
};
use unify::Unifier;

type Checked<T = Term> = Result<T, Box<Failure>>;

/// Finds the types of all terms. The whole is of the wanted type, or of the type `dyn`.
pub(crate) fn check(node: &Node, environment: &Environment, wanted: &Type) -> Checked {
    let mut checker = Checker { environment, locals: Vec::new(), unifier: Unifier::default() };
    let mut term = checker.term(node)?;
    checker.expect(&term, wanted, "the expression")?;
    checker.settle(&mut term)?;
    Ok(term)
}

struct Checker<'e> {
    environment: &'e Environment,
    /// Variables of the macros around, from the outermost.
    locals: Vec<(String, Type)>,
    unifier: Unifier,
}

impl Checker<'_> {
    fn term(&mut self, node: &Node) -> Checked {
        let at = node.at;
        match &node.kind {
            NodeKind::Literal(literal) => Ok(constant(literal, at)),
            NodeKind::Name { name, is_absolute } => {
                let found = if *is_absolute { None } else { self.local(name, at) };
                let found = found.or_else(|| self.declared(name, at));
                found.ok_or_else(|| Failure::wrong_type(at, format!("undeclared name {name:?}")))
            }
            NodeKind::Select { operand, field, is_optional } => {
                if let Some(found) = self.qualified(node) {
                    return Ok(found);
                }
                let operand = self.term(operand)?;
                self.select(at, operand, field, *is_optional)
            }
            NodeKind::Has { operand, field } => {
                let operand = self.term(operand)?;
                self.has(at, operand, field)
            }
            NodeKind::Index { operand, index, is_optional } => {
                let (operand, index) = (self.term(operand)?, self.term(index)?);
                self.index(at, operand, index, *is_optional)
            }
            NodeKind::Call { function, receiver, arguments } => {
                self.call(at, function, receiver.as_deref(), arguments)
            }
            NodeKind::And(operands) => {
                Ok(Term { kind: TermKind::And(self.bools(operands)?), of: Type::Bool, at })
            }
            NodeKind::Or(operands) => {
                Ok(Term { kind: TermKind::Or(self.bools(operands)?), of: Type::Bool, at })
            }
            NodeKind::Conditional(parts) => self.conditional(at, parts),
            NodeKind::List(elements) => self.list(at, elements),
            NodeKind::Map(entries) => self.map(at, entries),
            NodeKind::Message(name) => {
                Err(Failure::wrong_type(at, format!("objects of the type {name:?} cannot be made here")))
            }
            NodeKind::Fold(fold) => self.fold(at, fold),
            NodeKind::Bind(bind) => self.bind(at, bind),
            NodeKind::OptionalMap(map) => self.optional_map(at, map),
        }
    }

    /// A variable of a macro; the innermost, where several have the name.
    fn local(&self, name: &str, at: Span) -> Option<Term> {
        let position = self.locals.iter().rposition(|(known, _)| known == name)?;
        Some(Term { kind: TermKind::Local(position), of: self.locals[position].1.clone(), at })
    }

    /// A declared variable, or the name of a type.
    fn declared(&self, name: &str, at: Span) -> Option<Term> {
        if let Some((name, of)) = self.environment.variable(name) {
            return Some(Term { kind: TermKind::Variable(name.as_str().into()), of: of.clone(), at });
        }
        let value = Value::Type(Environment::type_name(name)?.into());
        Some(Term { kind: TermKind::Constant(value), of: Type::Type, at })
    }

    /// What a name with dots stands for as a whole.
    fn qualified(&self, node: &Node) -> Option<Term> {
        if self.begins_with_local(node) { None } else { self.declared(&dotted(node)?, node.at) }
    }

    /// Whether a name with dots begins with a variable of a macro.
    fn begins_with_local(&self, node: &Node) -> bool {
        match &node.kind {
            NodeKind::Name { name, is_absolute: false } => self.locals.iter().any(|(known, _)| known == name),
            NodeKind::Select { operand, .. } => self.begins_with_local(operand),
            _ => false,
        }
    }

    fn bools(&mut self, operands: &[Node]) -> Checked<Vec<Term>> {
        let check = |operand| {
            let term = self.term(operand)?;
            self.expect(&term, &Type::Bool, "the operand")?;
            Ok(term)
        };
        operands.iter().map(check).collect()
    }

    fn conditional(&mut self, at: Span, parts: &[Node; 3]) -> Checked {
        let [condition, then, otherwise] = parts;
        let condition = self.term(condition)?;
        self.expect(&condition, &Type::Bool, "the condition")?;
        let (then, otherwise) = (self.term(then)?, self.term(otherwise)?);
        let Some(of) = self.unifier.join(&then.of, &otherwise.of) else {
            return Err(self.mismatch(otherwise.at, "the other value", &otherwise.of, &then.of));
        };
        Ok(Term { kind: TermKind::Conditional(Box::new([condition, then, otherwise])), of, at })
    }

    /// Items of several types make a list of `dyn`.
    fn list(&mut self, at: Span, elements: &[Element]) -> Checked {
        let mut item = None;
        let mut checked = Vec::with_capacity(elements.len());
        for Element { value, is_optional } in elements {
            let value = self.term(value)?;
            let of = self.contained(&value, *is_optional)?;
            item = Some(self.widened(item, &of));
            checked.push(Element { value, is_optional: *is_optional });
        }
        let of = Type::list(item.unwrap_or_else(|| self.unifier.unknown()));
        Ok(Term { kind: TermKind::List(checked), of, at })
    }

    fn map(&mut self, at: Span, entries: &[Entry]) -> Checked {
        let (mut keys, mut values) = (None, None);
        let mut checked = Vec::with_capacity(entries.len());
        for Entry { key, value, is_optional } in entries {
            let (key, value) = (self.term(key)?, self.term(value)?);
            let of_key = self.unifier.resolved(&key.of);
            if !of_key.is_key() {
                return Err(Failure::wrong_type(key.at, format!("a key cannot have the type {of_key}")));
            }
            let of_value = self.contained(&value, *is_optional)?;
            keys = Some(self.widened(keys, &of_key));
            values = Some(self.widened(values, &of_value));
            checked.push(Entry { key, value, is_optional: *is_optional });
        }
        let mut or_unknown = |of: Option<Type>| of.unwrap_or_else(|| self.unifier.unknown());
        let of = Type::map(or_unknown(keys), or_unknown(values));
        Ok(Term { kind: TermKind::Map(checked), of, at })
    }

    /// The type of an item; that in an optional value, where an item is optional.
    fn contained(&mut self, value: &Term, is_optional: bool) -> Checked<Type> {
        if !is_optional {
            return Ok(value.of.clone());
        }
        let inner = self.unifier.unknown();
        self.expect(value, &Type::optional(inner.clone()), "the optional item")?;
        Ok(self.unifier.resolved(&inner))
    }

    fn widened(&mut self, before: Option<Type>, of: &Type) -> Type {
        match before {
            Some(before) => self.unifier.join(&before, of).unwrap_or(Type::Dyn),
            None => of.clone(),
        }
    }

    /// That a term can have the wanted type.
    fn expect(&mut self, term: &Term, wanted: &Type, what: &str) -> Checked<()> {
        if self.unifier.unify(wanted, &term.of) {
            return Ok(());
        }
        Err(self.mismatch(term.at, what, &term.of, wanted))
    }

    fn mismatch(&mut self, at: Span, what: &str, found: &Type, wanted: &Type) -> Box<Failure> {
        let (found, wanted) = (self.unifier.settled(found), self.unifier.settled(wanted));
        match (found, wanted) {
            (Some(found), Some(wanted)) => {
                Failure::wrong_type(at, format!("{what} has the type {found}, and not {wanted}"))
            }
            _ => too_deep(at),
        }
    }

    /// Puts in all types that were found.
    fn settle(&mut self, term: &mut Term) -> Checked<()> {
        term.of = self.unifier.settled(&term.of).ok_or_else(|| too_deep(term.at))?;
        match &mut term.kind {
            TermKind::Constant(_) | TermKind::Variable(_) | TermKind::Local(_) => Ok(()),
            TermKind::Select { operand, .. } | TermKind::Has { operand, .. } => self.settle(operand),
            TermKind::Index { operand, index: other, .. }
            | TermKind::Bind { value: operand, body: other }
            | TermKind::OptionalMap { operand, body: other, .. } => {
                self.settle(operand)?;
                self.settle(other)
            }
            TermKind::Call { arguments: terms, .. } | TermKind::And(terms) | TermKind::Or(terms) => {
                terms.iter_mut().try_for_each(|term| self.settle(term))
            }
            TermKind::Conditional(parts) => parts.iter_mut().try_for_each(|term| self.settle(term)),
            TermKind::List(elements) => {
                elements.iter_mut().try_for_each(|element| self.settle(&mut element.value))
            }
            TermKind::Map(entries) => entries.iter_mut().try_for_each(|entry| {
                self.settle(&mut entry.key)?;
                self.settle(&mut entry.value)
            }),
            TermKind::Fold(fold) => {
                self.settle(&mut fold.range)?;
                fold.filter.iter_mut().try_for_each(|filter| self.settle(filter))?;
                self.settle(&mut fold.body)
            }
        }
    }
}

fn too_deep(at: Span) -> Box<Failure> {
    Failure::new(at, Problem::TooLarge("the type of a term is nested too deep".to_owned()))
}

fn constant(literal: &Literal, at: Span) -> Term {
    let (value, of) = match literal {
        Literal::Null => (Value::Null, Type::Null),
        Literal::Bool(value) => (Value::Bool(*value), Type::Bool),
        Literal::Int(value) => (Value::Int(*value), Type::Int),
        Literal::Uint(value) => (Value::Uint(*value), Type::Uint),
        Literal::Double(value) => (Value::Double(*value), Type::Double),
        Literal::Text(value) => (Value::from(value.as_str()), Type::Text),
        Literal::Bytes(value) => (Value::Bytes(Arc::from(value.as_slice())), Type::Bytes),
    };
    Term { kind: TermKind::Constant(value), of, at }
}

#[cfg(test)]
mod tests;
