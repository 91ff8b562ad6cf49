//! What the compiler does not see, and a machine can check all the same: one file for each subject.
//!
//! A check that cannot look is a failure. What each scanner finds is shown by a test of its own, on made-up
//! text.

#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

mod arrows;
mod bans;
mod circles;
mod examples;
mod files;
mod flags;
mod imports;
mod kinds;
mod monitoring;
mod phrases;
mod rust_text;
mod source;
mod state;
mod width;
mod words;
