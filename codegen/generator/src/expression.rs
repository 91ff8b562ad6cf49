//! Rules in the expression language (`x-orch-validations`, and in `x-orch-rules`), from texts to typed terms.
//!
//! `scope` says what an expression sees of a value, `compile` parses and checks it against that, `cost`
//! computes what it may cost for the largest values that the schema allows. What is wrong is reported at the
//! very character.

pub mod compile;
pub mod conditions;
mod cost;
pub mod escape;
mod place;
pub mod scope;
pub(crate) mod settle;

pub use conditions::settle as settle_conditions;
pub use settle::settle;
