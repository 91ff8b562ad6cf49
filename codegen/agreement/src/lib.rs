//! Rules in the expression language that were made at random, compiled: what the tests hold against the
//! interpreter.

pub mod dice;
pub mod expressions;
pub mod schemas;

include!(concat!(env!("OUT_DIR"), "/orch_agreement.rs"));

/// The schema folder of the rules.
pub const SCHEMA: &str = concat!(env!("OUT_DIR"), "/schema");
