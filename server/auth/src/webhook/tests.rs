//! A webhook that a test plays: what it is sent, what its answers mean, how often it is asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use orch_outbound::{
    backoff::Backoff,
    client::{self, Client},
    target::{Credential, Target, TlsOptions},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{FailurePolicy, Settings, Version, Webhook, condition::Conditions};
use crate::{
    authorizer::{
        Attributes, Authorizer, Decision, ResourceTarget, Target as What,
        selector::{Operator, Requirement},
    },
    user::UserInfo,
};

/// What a webhook was sent.
type Seen = Arc<Mutex<Vec<Value>>>;

/// Starts a server that gives this answer to each review: a status code and a body.
async fn serve(code: u16, body: Value) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/authorize", listener.local_addr().unwrap());
    let seen = Seen::default();
    let reviews = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, code, body.to_string(), Arc::clone(&reviews)));
        }
    });
    (url, seen)
}

async fn answer(mut stream: TcpStream, code: u16, body: String, reviews: Seen) {
    let mut read = String::new();
    loop {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut piece).await else { return };
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        let Some((_, review)) = read.split_once("\r\n\r\n") else { continue };
        let Ok(review) = serde_json::from_str(review) else { continue };
        reviews.lock().unwrap().push(review);
        read.clear();
        let answer = format!("HTTP/1.1 {code} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn webhook(url: &str, change: impl FnOnce(&mut Settings)) -> Webhook {
    let mut settings = Settings {
        name: "test".to_owned(),
        version: Version::V1,
        api_version: "authorization.example.io/v1".to_owned(),
        authorized_ttl: Duration::from_mins(1),
        unauthorized_ttl: Duration::from_mins(1),
        failure: FailurePolicy::NoOpinion,
        conditions: Conditions::default(),
    };
    change(&mut settings);
    let target = Target::new(url, TlsOptions::default(), Credential::None).unwrap();
    let quick = client::Settings {
        timeout: Duration::from_secs(5),
        backoff: Backoff { initial: Duration::from_millis(1), ..Backoff::default() },
        ..client::Settings::default()
    };
    Webhook::new(settings, Client::new(target, quick))
}

fn status(status: &Value) -> Value {
    json!({"apiVersion": "authorization.example.io/v1", "kind": "SubjectAccessReview", "status": status})
}

async fn ask(webhook: &Webhook, user: &str, name: &str) -> Decision {
    let user = UserInfo::new(user, ["devs"]);
    let target =
        ResourceTarget { version: "v1", resource: "pods", namespace: "a", name, ..Default::default() };
    let attributes = Attributes { user: &user, verb: "get", target: What::Resource(target) };
    webhook.authorize(&attributes).resolve().await
}

#[tokio::test]
async fn answers_are_decisions() {
    let reason = || "because".to_owned().into();
    for (answered, expected) in [
        (json!({"allowed": true, "reason": "because"}), Decision::Allow { reason: reason() }),
        (json!({"allowed": false, "denied": true, "reason": "because"}), Decision::Deny { reason: reason() }),
        (json!({"allowed": true, "denied": true, "reason": "because"}), Decision::Deny { reason: reason() }),
        (json!({"allowed": false, "reason": "because"}), Decision::NoOpinion { reason: reason() }),
        (json!({}), Decision::NoOpinion { reason: "".into() }),
    ] {
        let (url, _) = serve(201, status(&answered)).await;
        assert_eq!(ask(&webhook(&url, |_| {}), "bob", "x").await, expected, "{answered}");
    }
}

#[tokio::test]
async fn a_review_says_what_is_asked() {
    let (url, seen) = serve(200, status(&json!({"allowed": true}))).await;
    let mut user = UserInfo::new("bob", ["devs"]);
    user.uid = "7".to_owned();
    user.extra = BTreeMap::from([("scope".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
    let fields = [Requirement {
        key: "spec.nodeName".to_owned(),
        operator: Operator::In,
        values: vec!["n".to_owned()],
    }];
    let resource = ResourceTarget {
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "scale",
        namespace: "a",
        name: "x",
        fields: &fields,
        ..ResourceTarget::default()
    };
    let new = webhook(&url, |_| {});
    let beta = json!({
        "apiVersion": "authorization.example.io/v1beta1", "kind": "SubjectAccessReview",
        "status": {"allowed": true},
    });
    let (url, seen_by_old) = serve(200, beta).await;
    let old = webhook(&url, |settings| {
        settings.version = Version::V1Beta1;
        settings.api_version = "authorization.example.io/v1beta1".to_owned();
    });
    let attributes = Attributes { user: &user, verb: "update", target: What::Resource(resource) };
    assert!(new.authorize(&attributes).resolve().await.is_allowed());
    let path = Attributes { user: &user, verb: "get", target: What::Path("/metrics") };
    assert!(old.authorize(&path).resolve().await.is_allowed());

    let extra = json!({"scope": ["a", "b"]});
    let seen = [seen, seen_by_old].map(|seen| seen.lock().unwrap().clone());
    assert_eq!(
        seen.concat(),
        [
            json!({
                "apiVersion": "authorization.example.io/v1",
                "kind": "SubjectAccessReview",
                "metadata": {"creationTimestamp": null},
                "spec": {
                    "user": "bob", "uid": "7", "groups": ["devs"], "extra": extra,
                    "resourceAttributes": {
                        "verb": "update", "group": "apps", "version": "v1", "resource": "deployments",
                        "subresource": "scale", "namespace": "a", "name": "x",
                        "fieldSelector": {"requirements": [
                            {"key": "spec.nodeName", "operator": "In", "values": ["n"]},
                        ]},
                    },
                },
                "status": {"allowed": false},
            }),
            json!({
                "apiVersion": "authorization.example.io/v1beta1",
                "kind": "SubjectAccessReview",
                "metadata": {"creationTimestamp": null},
                "spec": {
                    "user": "bob", "uid": "7", "group": ["devs"], "extra": extra,
                    "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                },
                "status": {"allowed": false},
            }),
        ]
    );
}

#[tokio::test]
async fn answers_are_kept_and_failures_are_not() {
    let (url, seen) = serve(200, status(&json!({"allowed": true}))).await;
    let kept = webhook(&url, |_| {});
    for (user, name) in [("bob", "x"), ("bob", "x"), ("bob", "y"), ("alice", "x"), ("bob", "x")] {
        assert!(ask(&kept, user, name).await.is_allowed());
    }
    assert_eq!(seen.lock().unwrap().len(), 3);
    let long = "x".repeat(20_000);
    for _ in 0..2 {
        assert!(ask(&kept, "bob", &long).await.is_allowed());
    }
    assert_eq!(seen.lock().unwrap().len(), 5, "long questions are not kept");

    let (url, seen) = serve(403, json!({})).await;
    let broken = webhook(&url, |_| {});
    for _ in 0..2 {
        assert!(matches!(ask(&broken, "bob", "x").await, Decision::Failed { .. }));
    }
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_answer_is_of_the_kind_and_version_that_was_asked() {
    let (review, version) = ("SubjectAccessReview", "authorization.example.io/v1");
    let other = "the answer is of another kind or version";
    for (kind, api_version, expected) in [
        (Some(review), Some(version), None),
        (Some("Other"), Some(version), Some(other)),
        (Some(review), Some("authorization.example.io/v1beta1"), Some(other)),
        (Some(review), Some("v1"), Some(other)),
        (None, Some(version), None),
        (Some(review), None, None),
    ] {
        let answer = json!({"kind": kind, "apiVersion": api_version, "status": {"allowed": true}});
        let (url, _) = serve(200, answer.clone()).await;
        let decision = ask(&webhook(&url, |_| {}), "bob", "x").await;
        match (&decision, expected) {
            (Decision::Allow { .. }, None) => {}
            (Decision::Failed { problem, .. }, Some(why)) => assert!(problem.starts_with(why), "{problem}"),
            _ => panic!("{answer}: {decision:?}"),
        }
        let denies = webhook(&url, |settings| settings.failure = FailurePolicy::Deny);
        let decision = ask(&denies, "bob", "x").await;
        assert_eq!(matches!(decision, Decision::Deny { .. }), expected.is_some(), "{answer}: {decision:?}");
    }
}

#[tokio::test]
async fn the_failure_policy_decides_where_the_webhook_does_not() {
    for (code, body) in [(403, json!({})), (200, json!("?")), (500, json!({}))] {
        let (url, _) = serve(code, body).await;
        let passed_on = webhook(&url, |_| {});
        assert!(matches!(ask(&passed_on, "bob", "x").await, Decision::Failed { .. }), "{code}");
        let denied = webhook(&url, |settings| settings.failure = FailurePolicy::Deny);
        assert_eq!(ask(&denied, "bob", "x").await, Decision::Deny { reason: "".into() }, "{code}");
    }
}

#[tokio::test]
async fn conditions_say_whether_it_is_asked() {
    let (url, seen) = serve(200, status(&json!({"allowed": true}))).await;
    let with = |text: &'static str, failure| {
        webhook(&url, |settings| {
            settings.conditions = Conditions::compile([text]).unwrap();
            settings.failure = failure;
        })
    };
    for (text, failure, expected) in [
        ("request.user == 'bob'", FailurePolicy::NoOpinion, "Allow"),
        ("request.user == 'eve'", FailurePolicy::Deny, "NoOpinion"),
        ("request.nonResourceAttributes.path == ''", FailurePolicy::NoOpinion, "Failed"),
        ("request.nonResourceAttributes.path == ''", FailurePolicy::Deny, "Deny"),
    ] {
        let decision = format!("{:?}", ask(&with(text, failure), "bob", "x").await);
        assert!(decision.starts_with(expected), "{text}: {decision}");
    }
    assert_eq!(seen.lock().unwrap().len(), 1);
}
