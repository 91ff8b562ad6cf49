//! `SelfSubjectReview` and `TokenReview`: they have no rules, and their status is always written in full.

use crate::ask::{defaulted, errors, with};
use serde_json::json;

pub fn questions_are_as_short_as_they_can_be() {
    assert_eq!(errors("SelfSubjectReview", &json!({})), [""; 0]);
    let user = json!({
        "username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"],
    });
    assert_eq!(defaulted("SelfSubjectReview", &json!({})), json!({"status": {"userInfo": user}}));
    let asked = json!({"spec": {"token": "tok-admin", "audiences": ["a"]}});
    assert_eq!(errors("TokenReview", &asked), [""; 0]);
    let asked = json!({"spec": {"token": "tok-admin"}});
    let answer = json!({"authenticated": true, "user": user, "audiences": ["https://kubernetes.default.svc"]});
    assert_eq!(defaulted("TokenReview", &asked), with(&asked, "/status", answer));
}
