//! How often a test does again what it does.

/// The variable that sets it for tests that kill a server: `ORCH_TEST_ROUNDS=50 cargo test ...`.
pub const VARIABLE: &str = "ORCH_TEST_ROUNDS";

/// The rounds of a test that kills a server in each; `usual` where the variable is not set.
pub fn of_kills(usual: usize) -> usize {
    match std::env::var(VARIABLE) {
        Ok(text) => text.parse().expect("the rounds are a number"),
        Err(_) => usual,
    }
}
