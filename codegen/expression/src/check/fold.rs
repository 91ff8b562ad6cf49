//! Macros: what is the type of their variables, and what they make.

use super::{Checked, Checker};
use crate::{
    ast::{Bind, Fold, FoldKind, Node, OptionalMap},
    error::Failure,
    span::Span,
    typed::{self, Term, TermKind},
    types::Type,
};

impl Checker<'_> {
    pub(super) fn fold(&mut self, at: Span, fold: &Fold) -> Checked {
        let range = self.term(&fold.range)?;
        let of_range = self.unifier.resolved(&range.of);
        let (first, second) = match &of_range {
            Type::List(item) => (Type::Int, (**item).clone()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Unknown(_) => (Type::Dyn, Type::Dyn),
            other => {
                return Err(Failure::wrong_type(
                    range.at,
                    format!("a value of the type {other} has no items"),
                ));
            }
        };
        let is_list = matches!(of_range, Type::List(_));
        let types = match fold.variables.len() {
            1 => vec![if is_list { second.clone() } else { first.clone() }],
            _ => vec![first.clone(), second],
        };
        let depth = self.locals.len();
        self.locals.extend(fold.variables.iter().cloned().zip(types.iter().cloned()));
        let filter = fold.filter.as_ref().map(|filter| self.condition(filter)).transpose()?;
        let makes_bool =
            matches!(fold.kind, FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne | FoldKind::Filter);
        let body = if makes_bool { self.condition(&fold.body)? } else { self.term(&fold.body)? };
        self.locals.truncate(depth);
        let of = match fold.kind {
            FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => Type::Bool,
            FoldKind::Filter => Type::list(types[0].clone()),
            FoldKind::Map => Type::list(body.of.clone()),
            FoldKind::TransformMap => Type::map(first, body.of.clone()),
            FoldKind::TransformMapEntry => {
                let wanted = Type::map(self.unifier.unknown(), self.unifier.unknown());
                self.expect(&body, &wanted, "what the macro makes")?;
                self.unifier.resolved(&body.of)
            }
        };
        let fold = typed::Fold { kind: fold.kind, range, variables: fold.variables.len(), filter, body };
        Ok(Term { kind: TermKind::Fold(Box::new(fold)), of, at })
    }

    fn condition(&mut self, node: &Node) -> Checked {
        let term = self.term(node)?;
        self.expect(&term, &Type::Bool, "the condition")?;
        Ok(term)
    }

    pub(super) fn bind(&mut self, at: Span, bind: &Bind) -> Checked {
        let value = self.term(&bind.value)?;
        let body = self.with_local(&bind.variable, value.of.clone(), &bind.body)?;
        let of = body.of.clone();
        Ok(Term { kind: TermKind::Bind { value: Box::new(value), body: Box::new(body) }, of, at })
    }

    pub(super) fn optional_map(&mut self, at: Span, map: &OptionalMap) -> Checked {
        let operand = self.term(&map.operand)?;
        let inner = self.unifier.unknown();
        self.expect(&operand, &Type::optional(inner.clone()), "the value")?;
        let inner = self.unifier.resolved(&inner);
        let body = self.with_local(&map.variable, inner, &map.body)?;
        let of = if map.is_flat {
            let wanted = Type::optional(self.unifier.unknown());
            self.expect(&body, &wanted, "what the macro makes")?;
            body.of.clone()
        } else {
            Type::optional(body.of.clone())
        };
        let (operand, body) = (Box::new(operand), Box::new(body));
        Ok(Term { kind: TermKind::OptionalMap { operand, body, is_flat: map.is_flat }, of, at })
    }

    fn with_local(&mut self, name: &str, of: Type, body: &Node) -> Checked {
        self.locals.push((name.to_owned(), of));
        let body = self.term(body);
        self.locals.pop();
        body
    }
}
