//! Sub-resources that do something, with a body of a kind of their own, and kinds that do something instead
//! of being stored.

mod binding;
mod condition;
mod eviction;
mod token;

pub(crate) use self::{binding::Bind, eviction::Eviction, token::Token};
