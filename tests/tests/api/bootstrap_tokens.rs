//! Bootstrap tokens: who has one, which user it stands for, and when it stops being valid.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use orch_runtime::scalar::Time;
use orch_tests::{TestServer, client::Answer};
use serde_json::{Value, json};

pub const SECRETS: &str = "/api/v1/namespaces/orch-system/secrets";
pub const SECRET: &str = "/api/v1/namespaces/orch-system/secrets/bootstrap-token-abc123";
const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
pub const TOKEN: &str = "abc123.0123456789abcdef";

#[tokio::test]
async fn a_secret_makes_a_token_from_its_creation_to_its_deletion() {
    let server = TestServer::options().flag("--enable-bootstrap-token-auth").start().await;
    let admin = server.admin();
    whoami(&server, TOKEN).await.refused(401, "Unauthorized");
    admin.post(SECRETS, &secret()).await.expect(201);
    let info = whoami(&server, TOKEN).await.expect(201)["status"]["userInfo"].clone();
    let groups = ["system:bootstrappers", "system:bootstrappers:a", "system:authenticated"];
    assert_eq!(info, json!({"username": "system:bootstrap:abc123", "groups": groups}));
    let review = json!({
        "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview", "spec": {"token": TOKEN},
    });
    let reviews = "/apis/authentication.orch.io/v1/tokenreviews";
    let status = admin.post(reviews, &review).await.expect(201)["status"].clone();
    assert_eq!((&status["authenticated"], &status["user"]), (&json!(true), &info));

    let message = server.without_credentials().with_token(TOKEN).get(SECRETS).await.refused(403, "Forbidden");
    assert!(
        message.contains(r#"User "system:bootstrap:abc123" cannot list resource "secrets""#),
        "{message}"
    );
    for wrong in ["abc123.0123456789abcdee", "abc123.", "abc123:0123456789abcdef", "abc124.0123456789abcdef"]
    {
        whoami(&server, wrong).await.refused(401, "Unauthorized");
    }
    admin.delete(SECRET).await.expect(200);
    whoami(&server, TOKEN).await.refused(401, "Unauthorized");
    let log = server.log();
    assert!(!log.contains("0123456789abcdef"), "a token in the log: {log}");
}

/// Every change is in force when its write is answered.
#[tokio::test]
async fn each_change_of_the_secret_counts_at_once() {
    let server = TestServer::options().flag("--enable-bootstrap-token-auth").start().await;
    let admin = server.admin();
    admin.post(SECRETS, &secret()).await.expect(201);
    for (field, wrong) in [
        ("usage-bootstrap-authentication", "yes"),
        ("token-id", "abc124"),
        ("token-secret", "fedcba9876543210"),
        ("expiration", "2020-01-01T00:00:00Z"),
        ("expiration", "soon"),
        ("auth-extra-groups", "system:masters"),
    ] {
        whoami(&server, TOKEN).await.expect(201);
        admin.merge(SECRET, &json!({"stringData": {field: wrong}})).await.expect(200);
        whoami(&server, TOKEN).await.refused(401, "Unauthorized");
        let right = secret()["stringData"][field].clone();
        admin.merge(SECRET, &json!({"stringData": {field: right}})).await.expect(200);
    }
    admin.merge(SECRET, &json!({"metadata": {"finalizers": ["example.com/f"]}})).await.expect(200);
    whoami(&server, TOKEN).await.expect(201);
    admin.delete(SECRET).await.expect(200);
    whoami(&server, TOKEN).await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn only_secrets_of_the_type_in_the_system_namespace_count_and_only_where_that_is_on() {
    let server = TestServer::options().flag("--enable-bootstrap-token-auth=true").start().await;
    let opaque = {
        let mut secret = secret();
        secret["type"] = json!("Opaque");
        secret
    };
    for (namespace, secret) in [("default", secret()), ("orch-system", opaque)] {
        server.admin().post(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret).await.expect(201);
        whoami(&server, TOKEN).await.refused(401, "Unauthorized");
    }
    let server = TestServer::start().await;
    server.admin().post(SECRETS, &secret()).await.expect(201);
    whoami(&server, TOKEN).await.refused(401, "Unauthorized");
}

/// An expired token signs nothing and is deleted: not before its second, and soon after it.
#[tokio::test]
async fn a_token_goes_at_its_second() {
    const PUBLIC: &str = "/api/v1/namespaces/orch-public/configmaps";
    let server = TestServer::options().flag("--controllers=*,bootstrapsigner,tokencleaner").start().await;
    let admin = server.admin();
    let info = json!({"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "k"}});
    admin.post(PUBLIC, &info).await.expect(201);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let end = Duration::from_secs(now().as_secs() + 3);
    let mut token = secret();
    token["stringData"]["usage-bootstrap-signing"] = "true".into();
    let expiration = Time::from_unix_seconds(end.as_secs().cast_signed()).to_string();
    token["stringData"]["expiration"] = expiration.into();
    let signature = "jws-kubeconfig-abc123";
    let mut maps = admin.watch(&format!("{PUBLIC}?watch=1&fieldSelector=metadata.name%3Dcluster-info")).await;
    let mut secrets =
        admin.watch(&format!("{SECRETS}?watch=1&fieldSelector=metadata.name%3Dbootstrap-token-abc123")).await;
    admin.post(SECRETS, &token).await.expect(201);
    while maps.event().await["object"]["data"].get(signature).is_none() {}
    assert!(now() < end, "it is signed at once");
    let unsigned = async {
        while maps.event().await["object"]["data"].get(signature).is_some() {}
        now()
    };
    let deleted = async {
        while secrets.event().await["type"] != "DELETED" {}
        now()
    };
    let both = async { tokio::join!(unsigned, deleted) };
    let (unsigned, deleted) = tokio::time::timeout(Duration::from_secs(30), both).await.expect("it goes");
    for (what, gone) in [("the signature", unsigned), ("the secret", deleted)] {
        // A busy machine may be late, but never early.
        let late = gone.checked_sub(end).unwrap_or_else(|| panic!("{what} is gone too early"));
        assert!(late < Duration::from_secs(2), "{what} is gone {late:?} after its time");
    }
}

/// The secret of the token.
pub fn secret() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bootstrap-token-abc123"},
        "type": "bootstrap.orch.io/token",
        "stringData": {
            "token-id": "abc123", "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true", "expiration": "2999-01-01T00:00:00Z",
            "auth-extra-groups": "system:bootstrappers:a",
        },
    })
}

async fn whoami(server: &TestServer, token: &str) -> Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}
