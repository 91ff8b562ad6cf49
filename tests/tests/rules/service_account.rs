//! `ServiceAccount`: it has no rules of its own, and nothing is added.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::json;

const KIND: &str = "ServiceAccount";

pub fn anything_goes_and_stays_as_it_is() {
    let account = json!({
        "secrets": [{"name": "a"}, {"name": "a"}, {}],
        "imagePullSecrets": [{"name": "p"}, {}],
        "automountServiceAccountToken": false,
    });
    assert_eq!(errors(KIND, &account), [""; 0]);
    assert_eq!(defaulted(KIND, &account), account);
    assert_eq!(defaulted(KIND, &json!({})), json!({}));
    assert_eq!(update_errors(KIND, &account, &json!({})), [""; 0]);
}
