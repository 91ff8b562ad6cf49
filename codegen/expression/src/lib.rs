//! Expressions in CEL, the Common Expression Language: compiled once, evaluated often.
//!
//! ```
//! use orch_expression::{environment::Environment, program::Program, types::Type, value::Value};
//!
//! let user = Type::object("User", [("name", Type::Text), ("groups", Type::list(Type::Text))]);
//! let environment = Environment::new().with_variable("user", user);
//! let text = "user.groups.exists(group, group.startsWith('system:'))";
//! let program = Program::compile(text, &environment, &Type::Bool).unwrap();
//!
//! let groups = Value::list(vec![Value::from("devs"), Value::from("system:nodes")]);
//! let user = Value::object([("name", Value::from("bob")), ("groups", groups)]);
//! assert!(matches!(program.evaluate(&[("user", user)]), Ok(Value::Bool(true))));
//!
//! let error = Program::compile("user.name + 1", &environment, &Type::Bool).unwrap_err();
//! assert_eq!(error.to_string(), "1:1: \"+\" does not take (string, int)");
//! ```
//!
//! The way of an expression: text -> `lexer` -> `parser` -> [`ast`] -> `check` -> [`typed`] -> `evaluate`.
//! The typed form is public, so that it can be translated to code as well. Whoever reads configuration needs
//! [`program::Program`] and [`environment::Environment`] only.
//!
//! # The language
//! That of the CEL specification, with the macros for two variables, optional values and `cel.bind`, with the
//! libraries for texts, lists, sets, regular expressions, quantities and networks. `tests/conformance` holds
//! the cases of the specification. Left out are protocol buffers: objects are declared with [`types::Type`]
//! and are maps when they are evaluated; none can be made by an expression.
//!
//! # Bounds
//! An expression may come from whoever writes configuration, and values from any client. So everything is
//! bounded: length, terms and nesting of the text when it is compiled ([`limits`]), steps and the nesting of
//! values when it is evaluated ([`budget`]). Regular expressions are matched in linear time. No text and no
//! value makes this crate panic or overflow the stack of a thread of 2 MiB.
//!
//! This crate knows no kind and does no IO; time zones are part of the build.

#![expect(
    clippy::unnecessary_box_returns,
    reason = "failures are rare and large, and every result has room for one"
)]

pub mod ast;
mod check;
pub mod environment;
pub mod error;
mod evaluate;
pub mod function;
mod lexer;
pub mod limits;
mod parser;
pub mod program;
pub mod span;
pub mod typed;
pub mod types;

pub use orch_runtime::expression::{budget, fault, value};
