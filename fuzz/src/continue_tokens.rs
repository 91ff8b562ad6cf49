//! Continue tokens: none opens that was not sealed.

use orch_registry::continue_token::{Binding, TokenKey};

pub fn run(input: &[u8]) {
    let Ok(token) = str::from_utf8(input) else { return };
    let key = TokenKey::new(&[7; 32]);
    let binding = Binding { resource: "configmaps", namespace: "n", labels: "", fields: "" };
    assert_eq!(key.open(binding, token), None, "{token}");
}
