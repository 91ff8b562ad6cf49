//! `ServiceAccount`: it has no rules of its own, and nothing is added.

use crate::ask::{defaulted, errors, operation_errors, update_errors};
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

pub fn tokens_live_neither_short_nor_long() {
    for (seconds, why) in [
        (599_i64, "may not specify a duration less than 10 minutes"),
        (4_294_967_297, "may not specify a duration larger than 2^32 seconds"),
    ] {
        let expected = format!("spec.expirationSeconds: Invalid value: {seconds}: {why}");
        let asked = json!({"spec": {"expirationSeconds": seconds}});
        assert_eq!(operation_errors(KIND, "token", &asked), [expected]);
    }
    assert_eq!(operation_errors(KIND, "token", &json!({"spec": {"expirationSeconds": 600}})), [""; 0]);
}
