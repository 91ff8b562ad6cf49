//! The SQLite store from outside: the conformance suite, bad input, crashes, a full disk, idleness, damage,
//! lost writes, moves.

#![expect(clippy::unwrap_used, reason = "a panic of a test is its report")]

mod backup;
mod compact;
mod conformance;
mod crash;
mod damage;
mod full_disk;
mod idle;
mod loss;
mod opening;
mod place;
mod repair;
mod replaced;
mod sealing;
mod support;
