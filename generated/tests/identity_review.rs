//! `SelfSubjectReview` and `TokenReview`: there is nothing to get wrong, and what the server says is written in full.

#[path = "support/objects.rs"]
mod objects;

use objects::{defaulted, errors};
use serde_json::json;

#[test]
fn questions_are_as_short_as_they_can_be() {
    assert_eq!(errors("SelfSubjectReview", &json!({})), [""; 0]);
    assert_eq!(defaulted("SelfSubjectReview", &json!({})), json!({"status": {"userInfo": {}}}));
    assert_eq!(errors("TokenReview", &json!({"spec": {"token": "t", "audiences": ["a"]}})), [""; 0]);
    assert_eq!(defaulted("TokenReview", &json!({})), json!({"spec": {}, "status": {"user": {}}}));
}

#[test]
fn answers_keep_who_it_is() {
    let user = json!({
        "username": "system:serviceaccount:n:a", "uid": "u", "groups": ["g", "g"], "extra": {"k": ["v", ""]},
    });
    let review = json!({"status": {"userInfo": user}});
    assert_eq!(defaulted("SelfSubjectReview", &review), review);
    let review = json!({
        "spec": {"token": "t"},
        "status": {"authenticated": true, "user": user, "audiences": ["a"], "error": "e"},
    });
    assert_eq!(defaulted("TokenReview", &review), review);
}
