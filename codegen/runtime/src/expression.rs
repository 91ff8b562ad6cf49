//! What rules in the expression language (CEL) are made of: values, functions, and what generated code calls.
//!
//! A rule of a schema file is compiled to Rust over the generated structs. Where the types are simple, the
//! Rust is what a person would write: `self.min <= self.max`. All else works on a [`Value`] and calls the
//! functions of the [`library`], which the interpreter (`orch-expression`) calls too; so a rule means the
//! same in both.
//!
//! Everything that can go wrong is a [`Fault`] and becomes an error about the object; nothing here panics.

pub mod access;
pub mod budget;
pub mod fault;
mod function;
mod given;
mod items;
pub mod kind;
pub mod library;
mod logic;
mod made;
mod numbers;
pub mod outcome;
mod parts;
pub mod url;
pub mod value;

pub use self::{
    access::{has, index, select},
    fault::Fault,
    function::Function,
    given::{by_key, entry, given, given_if, is_one_of, is_there, item, no_old},
    items::{all, entries_of, exists, exists_one, list_of, map_of, numbered, optional_map, pairs, singles},
    kind::Kind,
    logic::{and, or},
    made::{
        contained, int_of, int_or_string, joined, list, map, micro_time, new_list, new_map, object, text_of,
        time,
    },
    numbers::{boolean, characters, count, double, fits, int, quotient, remainder, same_double, text, uint},
    outcome::{Rule, found_text, holds, is_broken, made_shown, made_text, message, outcome},
    parts::{begins, consists, entry_of_parts},
    value::{ListKind, Value},
};
