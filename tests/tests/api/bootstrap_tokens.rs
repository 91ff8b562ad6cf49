//! Bootstrap tokens: who has one, which user it stands for, and when it stops being valid.

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
