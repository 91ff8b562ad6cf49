//! Kinds that are questions, and who answers them.

mod access;
mod identity;
mod rules;

pub(crate) use self::{
    access::Access,
    identity::{Caller, TokenOwner},
};
