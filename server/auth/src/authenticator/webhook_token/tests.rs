//! What answers of a webhook mean.

use orch_outbound::target::{Credential, Target, TlsOptions};
use serde_json::{Value, json};

use super::{
    AuthError, Client, Complaints, KeptAnswers, Lookups, SharedQuestions, WebhookTokenAuthenticator, client,
};

fn webhook() -> WebhookTokenAuthenticator {
    let target = Target::new("http://localhost:1", TlsOptions::default(), Credential::None).unwrap();
    WebhookTokenAuthenticator {
        client: Client::new(target, client::Settings::default()),
        api_version: "authentication.example.io/v1".to_owned(),
        ttl: std::time::Duration::ZERO,
        audiences: vec!["us".to_owned()],
        answers: KeptAnswers::default(),
        lookups: Lookups::default(),
        complaints: Complaints::default(),
        questions: SharedQuestions::default(),
    }
}

/// The caller and the audiences, `nobody`, or what is wrong.
fn outcome(answer: &str, wanted: &[&str]) -> String {
    let (webhook, wanted) = (webhook(), wanted.iter().map(ToString::to_string).collect::<Vec<_>>());
    let status = match webhook.status(answer.as_bytes()) {
        Ok(status) => status,
        Err(problem) => return problem,
    };
    match webhook.caller(status, &wanted) {
        Ok(Some(caller)) => {
            let user = caller.user();
            format!(
                "{} {:?} {:?} {:?} for {:?}",
                user.name,
                user.uid,
                user.groups,
                user.extra,
                caller.audiences()
            )
        }
        Ok(None) => "nobody".to_owned(),
        Err(problem) => AuthError::Unjudged { problem }.to_string(),
    }
}

#[test]
fn answers_are_callers() {
    let user = json!({"username": "bob", "uid": "7", "groups": ["devs"], "extra": {"a": ["b"]}});
    let bob = "bob \"7\" [\"devs\", \"system:authenticated\"] {\"a\": [\"b\"]}";
    for (status, wanted, expected) in [
        (json!({"authenticated": true, "user": user}), vec!["us"], format!("{bob} for [\"us\"]")),
        (
            json!({"authenticated": true, "user": user, "audiences": ["us", "x"]}),
            vec!["us", "them"],
            format!("{bob} for [\"us\"]"),
        ),
        (json!({"authenticated": true, "user": user, "audiences": ["x"]}), vec!["us"], "nobody".to_owned()),
        (json!({"authenticated": true, "user": user}), vec!["them"], "nobody".to_owned()),
        (
            json!({"authenticated": true, "user": {"username": "eve", "groups": null, "extra": null}}),
            vec!["us"],
            "eve \"\" [\"system:authenticated\"] {} for [\"us\"]".to_owned(),
        ),
        (json!({"authenticated": false}), vec!["us"], "nobody".to_owned()),
        (json!({"user": user}), vec!["us"], "nobody".to_owned()),
        (json!({}), vec!["us"], "nobody".to_owned()),
        (Value::Null, vec!["us"], "nobody".to_owned()),
        (
            json!({"authenticated": false, "error": "no database"}),
            vec!["us"],
            "the token cannot be judged: no database".to_owned(),
        ),
        (
            json!({"authenticated": true, "user": {}}),
            vec!["us"],
            "the token cannot be judged: the token webhook names nobody".to_owned(),
        ),
    ] {
        let review = json!({
            "apiVersion": "authentication.example.io/v1", "kind": "TokenReview", "status": status,
        });
        assert_eq!(outcome(&review.to_string(), &wanted), expected, "{status} {wanted:?}");
    }
}

#[test]
fn other_answers_are_failures() {
    const OTHER: &str = "the answer is of another kind or version";
    for (answer, expected) in [
        (r#"{"apiVersion": "authentication.example.io/v1beta1", "kind": "TokenReview"}"#, OTHER),
        (r#"{"apiVersion": "authentication.example.io/v1", "kind": "SubjectAccessReview"}"#, OTHER),
        ("", "the answer is no review: line 1, column 0"),
        ("{}", "the answer is no review: line 1, column 2"),
        (r#"{"status": {"authenticated": "yes"}}"#, "the answer is no review: line 1, column 34"),
    ] {
        assert_eq!(outcome(answer, &["us"]), expected, "{answer}");
    }
}
