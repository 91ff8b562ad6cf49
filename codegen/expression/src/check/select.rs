//! Fields of objects and maps, items of lists.

use super::{Checked, Checker};
use crate::{
    error::Failure,
    span::Span,
    typed::{Term, TermKind},
    types::Type,
};

impl Checker<'_> {
    pub(super) fn select(&mut self, at: Span, operand: Term, field: &str, is_optional: bool) -> Checked {
        let of = self.lifted(&operand.of, is_optional, |inner, checker| checker.field(at, inner, field))?;
        let kind = TermKind::Select { operand: Box::new(operand), field: field.into(), is_optional };
        Ok(Term { kind, of, at })
    }

    pub(super) fn has(&mut self, at: Span, operand: Term, field: &str) -> Checked {
        self.lifted(&operand.of, false, |inner, checker| checker.field(at, inner, field))?;
        let kind = TermKind::Has { operand: Box::new(operand), field: field.into() };
        Ok(Term { kind, of: Type::Bool, at })
    }

    pub(super) fn index(&mut self, at: Span, operand: Term, index: Term, is_optional: bool) -> Checked {
        let of = self.lifted(&operand.of, is_optional, |inner, checker| checker.item(at, inner, &index))?;
        let kind = TermKind::Index { operand: Box::new(operand), index: Box::new(index), is_optional };
        Ok(Term { kind, of, at })
    }

    /// The type of a part of something. It is optional if the part is asked for as such, or if that of which
    /// it is a part is optional.
    fn lifted(
        &mut self,
        operand: &Type,
        is_optional: bool,
        part: impl FnOnce(&Type, &mut Self) -> Checked<Type>,
    ) -> Checked<Type> {
        let (inner, is_optional) = match self.unifier.resolved(operand) {
            Type::Optional(inner) => (self.unifier.resolved(&inner), true),
            other => (other, is_optional),
        };
        let of = part(&inner, self)?;
        let is_already = matches!(self.unifier.resolved(&of), Type::Optional(_));
        Ok(if is_optional && !is_already { Type::optional(of) } else { of })
    }

    fn field(&mut self, at: Span, operand: &Type, field: &str) -> Checked<Type> {
        match operand {
            Type::Dyn | Type::Unknown(_) => Ok(Type::Dyn),
            Type::Map(key, value) if self.unifier.unify(&Type::Text, key) => Ok((**value).clone()),
            Type::Object(object) => object
                .fields
                .get(field)
                .cloned()
                .ok_or_else(|| Failure::wrong_type(at, format!("{} has no field {field:?}", object.name))),
            other => Err(Failure::wrong_type(at, format!("a value of the type {other} has no fields"))),
        }
    }

    fn item(&mut self, at: Span, operand: &Type, index: &Term) -> Checked<Type> {
        match operand {
            Type::Dyn | Type::Unknown(_) => Ok(Type::Dyn),
            Type::List(item) => {
                self.expect(index, &Type::Int, "the index")?;
                Ok((**item).clone())
            }
            Type::Map(key, value) => {
                self.expect(index, key, "the key")?;
                Ok((**value).clone())
            }
            other => Err(Failure::wrong_type(at, format!("a value of the type {other} has no items"))),
        }
    }
}
