//! `Validate::validate_expressions`: rules in the expression language, as Rust over the generated structs.
//!
//! A type's own rules come first, then those of its fields and of what is below them, as the reference has
//! it. Every rule is a block of its own: its value, and a report where it does not hold. A rule that is not
//! about the change is not reported about a value that stays as it was.

mod code;
mod condition;
mod conversion;
mod place;
mod rule;
mod term;

pub use self::{
    condition::{Known, Variables, borrowed, holds, shown, text},
    conversion::functions as value_functions,
    place::implementation,
};
