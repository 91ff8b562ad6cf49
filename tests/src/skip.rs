//! Skipped tests: a test that cannot run here says so where people see it.

use std::io::Write;

/// Where this is set in the environment, no test may be skipped.
const ALL: &str = "ORCH_TEST_ALL";

/// Prints that a test, or a part of one, is skipped, and why. The output of a test that passes is kept from
/// people, so this goes around the capture of `println!` and `eprintln!`.
pub fn skipped(what: &str, why: &str) {
    assert!(std::env::var_os(ALL).is_none(), "{what} cannot run, and {ALL} is set: {why}");
    left_out(what, why);
}

/// The same, of what runs only where somebody asks for it.
pub fn left_out(what: &str, why: &str) {
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {why}");
}
