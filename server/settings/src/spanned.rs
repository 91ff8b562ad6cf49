//! A value and the place where it stands.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize,
    de::{Deserializer, Error as _, SeqAccess, Visitor},
};

use crate::{Fault, Place};

/// The name by which the tree knows that a place is asked for, too.
pub(crate) const NAME: &str = "$orch_settings::Spanned";

/// A value and the place where it stands. It can be read from a text of [`parse`](crate::parse) only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it begins.
    pub place: Place,
}

/// A fault of a field.
pub fn fault<T>(at: &Spanned<T>, problem: impl Into<String>) -> Fault {
    (at.place, problem.into())
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NAME, Parts(PhantomData))
    }
}

/// Takes line, column and value.
struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let missing = || A::Error::custom("a place is missing");
        let line = parts.next_element()?.ok_or_else(missing)?;
        let column = parts.next_element()?.ok_or_else(missing)?;
        let value = parts.next_element()?.ok_or_else(missing)?;
        Ok(Spanned { value, place: (line, column) })
    }
}
