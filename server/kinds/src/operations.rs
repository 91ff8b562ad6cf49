//! Sub-resources that do something, with a body of a kind of their own.

mod eviction;
mod token;

pub(crate) use self::{eviction::Eviction, token::Token};
