//! Which types fit each other, and what that says about types that are not known yet.

use std::collections::HashMap;

use crate::types::Type;

/// How deep types are looked at. Deeper ones fit nothing, and have no name.
const MAX_DEPTH: usize = 64;

/// The types that are not known yet, and what was found about them.
#[derive(Default)]
pub(super) struct Unifier {
    found: Vec<Option<Type>>,
    /// What to put back if the types that are looked at do not fit: numbers, with what was known before.
    undo: Vec<(usize, Option<Type>)>,
}

impl Unifier {
    /// A type that is not known yet.
    pub(super) fn unknown(&mut self) -> Type {
        self.found.push(None);
        Type::Unknown(self.found.len() - 1)
    }

    /// The type with a type that is not known yet in the place of each letter: the same for the same letter.
    pub(super) fn instance(&mut self, of: &Type, letters: &mut HashMap<char, Type>) -> Type {
        match of {
            Type::Parameter(letter) => letters.entry(*letter).or_insert_with(|| self.unknown()).clone(),
            Type::List(item) => Type::list(self.instance(item, letters)),
            Type::Map(key, value) => Type::map(self.instance(key, letters), self.instance(value, letters)),
            Type::Optional(value) => Type::optional(self.instance(value, letters)),
            other => other.clone(),
        }
    }

    /// Whether the types fit each other. If so, what was found by that is kept; if not, nothing is.
    pub(super) fn unify(&mut self, one: &Type, other: &Type) -> bool {
        self.attempt(|unifier| unifier.fit(one, other, 0))
    }

    /// As [`Self::unify`], for rows of types.
    pub(super) fn unify_all(&mut self, ones: &[Type], others: &[Type]) -> bool {
        self.attempt(|unifier| ones.iter().zip(others).all(|(one, other)| unifier.fit(one, other, 0)))
    }

    fn attempt(&mut self, fit: impl FnOnce(&mut Self) -> bool) -> bool {
        let fits = fit(self);
        for (number, before) in std::mem::take(&mut self.undo).into_iter().rev() {
            if !fits {
                self.found[number] = before;
            }
        }
        fits
    }

    fn set(&mut self, number: usize, of: Type) {
        let before = self.found[number].replace(of);
        self.undo.push((number, before));
    }

    /// The type of what is either of one type or of the other, if the two fit.
    pub(super) fn join(&mut self, one: &Type, other: &Type) -> Option<Type> {
        if !self.unify(one, other) {
            return None;
        }
        let (one, other) = (self.resolved(one), self.resolved(other));
        Some(if self.is_as_general(&one, &other, 0) { one } else { other })
    }

    /// The type itself, where it was not known and was found.
    pub(super) fn resolved(&self, of: &Type) -> Type {
        let mut of = of;
        while let Type::Unknown(number) = of {
            match &self.found[*number] {
                Some(found) => of = found,
                None => break,
            }
        }
        of.clone()
    }

    /// With everything put in that was found; what was not found is `dyn`. `None` if it is nested too deep.
    pub(super) fn settled(&self, of: &Type) -> Option<Type> {
        self.filled(of, Some(&Type::Dyn), 0)
    }

    /// As [`Self::settled`], but what was not found may still be.
    pub(super) fn settled_so_far(&self, of: &Type) -> Option<Type> {
        self.filled(of, None, 0)
    }

    fn filled(&self, of: &Type, unknown: Option<&Type>, depth: usize) -> Option<Type> {
        if depth > MAX_DEPTH {
            return None;
        }
        let filled = |of: &Type| self.filled(of, unknown, depth + 1);
        Some(match self.resolved(of) {
            of @ Type::Unknown(_) => unknown.cloned().unwrap_or(of),
            Type::List(item) => Type::list(filled(&item)?),
            Type::Map(key, value) => Type::map(filled(&key)?, filled(&value)?),
            Type::Optional(value) => Type::optional(filled(&value)?),
            known => known,
        })
    }

    fn fit(&mut self, one: &Type, other: &Type, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        match (one, other) {
            (Type::Unknown(one), Type::Unknown(other)) if one == other => true,
            (Type::Unknown(number), known) | (known, Type::Unknown(number)) => {
                self.learn(*number, known, depth)
            }
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
                self.fit(one, other, depth + 1)
            }
            (Type::Map(one_key, one), Type::Map(other_key, other)) => {
                self.fit(one_key, other_key, depth + 1) && self.fit(one, other, depth + 1)
            }
            (Type::Null, of) | (of, Type::Null) if may_be_null(of) => true,
            // Named: fields need not be compared, and may name the type itself.
            (Type::Object(one), Type::Object(other)) => one.name == other.name,
            _ => one == other,
        }
    }

    /// An unknown type fits this one. Where it was found before, the more general one is kept.
    fn learn(&mut self, number: usize, of: &Type, depth: usize) -> bool {
        let of = self.resolved(of);
        if of == Type::Unknown(number) {
            return true;
        }
        match self.found[number].clone() {
            Some(found) => {
                if !self.fit(&found, &of, depth + 1) {
                    return false;
                }
                let is_wider = !self.is_as_general(&found, &of, 0) && self.is_as_general(&of, &found, 0);
                if is_wider && !self.mentions(&of, number, 0) {
                    self.set(number, of);
                }
                true
            }
            None if self.mentions(&of, number, 0) => false,
            None => {
                self.set(number, of);
                true
            }
        }
    }

    /// Whether every value of the second type is one of the first, as far as types tell.
    fn is_as_general(&self, one: &Type, other: &Type, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        match (&self.resolved(one), &self.resolved(other)) {
            (Type::Dyn, _) | (_, Type::Unknown(_)) => true,
            (_, Type::Dyn) | (Type::Unknown(_), _) => false,
            (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
                self.is_as_general(one, other, depth + 1)
            }
            (Type::Map(one_key, one), Type::Map(other_key, other)) => {
                self.is_as_general(one_key, other_key, depth + 1) && self.is_as_general(one, other, depth + 1)
            }
            (of, Type::Null) => *of == Type::Null || may_be_null(of),
            (Type::Object(one), Type::Object(other)) => one.name == other.name,
            (one, other) => one == other,
        }
    }

    /// Whether the unknown type is a part of this one. What is nested too deep may be.
    fn mentions(&self, of: &Type, number: usize, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        match self.resolved(of) {
            Type::Unknown(other) => other == number,
            Type::List(inner) | Type::Optional(inner) => self.mentions(&inner, number, depth + 1),
            Type::Map(key, value) => {
                self.mentions(&key, number, depth + 1) || self.mentions(&value, number, depth + 1)
            }
            _ => false,
        }
    }
}

/// Types whose values may be `null` instead.
fn may_be_null(of: &Type) -> bool {
    matches!(of, Type::Object(_) | Type::Optional(_) | Type::Opaque(_) | Type::Timestamp | Type::Duration)
}
