//! A token, and behind the first line the keys of its issuer: no keys that anybody can write verify it.

use orch_auth::jwt::{Jwt, key_set::KeySet};

pub fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (token, keys) = input.split_at(end);
    let (Some(token), Ok(keys)) = (Jwt::read(token), KeySet::parse(keys)) else { return };
    assert!(!keys.verifies(&token), "nobody signed the token");
}
