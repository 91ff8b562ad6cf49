//! Rules in the expression language (`x-orch-validations`), from their texts to typed terms.
//!
//! `scope` says what an expression sees of a value, `compile` parses and checks it against that, `cost`
//! computes what it may cost for the largest values that the schema allows. What is wrong is reported at the
//! very character.

pub mod compile;
mod cost;
pub mod escape;
mod place;
pub mod scope;
pub(crate) mod settle;

pub use settle::settle;
