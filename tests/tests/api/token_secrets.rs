//! Tokens that are kept in secrets, and the authority that each namespace is given.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use orch_tests::{
    Client, TestServer,
    client::Answer,
    objects::{CONFIG_MAPS, NAMESPACES, SECRETS, namespace},
};
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const TOKEN_REVIEWS: &str = "/apis/authentication.orch.io/v1/tokenreviews";
const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";

/// Waits until a GET has this answer; returns it.
pub async fn until(client: &Client, path: &str, holds: impl Fn(&Answer) -> bool) -> Answer {
    let start = Instant::now();
    loop {
        let answer = client.get(path).await;
        if holds(&answer) {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "{path}: {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A value of a secret.
pub fn decoded(secret: &Value, key: &str) -> String {
    let value = secret["data"][key].as_str().unwrap_or_default();
    String::from_utf8(BASE64_STANDARD.decode(value).unwrap()).unwrap()
}

/// Makes an account and a secret for its token, and returns the filled secret.
pub async fn token_secret(server: &TestServer, name: &str) -> Value {
    let admin = server.admin();
    admin.post(ACCOUNTS, &json!({"metadata": {"name": "robot"}})).await;
    let annotations = json!({"orch.io/service-account.name": "robot"});
    let secret = json!({
        "metadata": {"name": name, "annotations": annotations}, "type": "orch.io/service-account-token",
    });
    admin.post(SECRETS, &secret).await.expect(201);
    let path = format!("{SECRETS}/{name}");
    until(&admin, &path, |answer| answer.json()["data"]["token"].is_string()).await.expect(200)
}

fn authority(server: &TestServer) -> String {
    String::from_utf8(server.kubeconfig().certificate_authority.clone()).unwrap()
}

pub async fn whoami(server: &TestServer, token: &str) -> Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}

#[tokio::test]
async fn a_token_in_a_secret_is_good_until_secret_or_account_goes() {
    let mut server = TestServer::start().await;
    let secret = token_secret(&server, "s").await;
    assert_eq!(decoded(&secret, "ca.crt"), authority(&server));
    assert_eq!(decoded(&secret, "namespace"), "default");
    let token = decoded(&secret, "token");
    let account = server.admin().get(&format!("{ACCOUNTS}/robot")).await.expect(200);
    let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
    let uid = &account["metadata"]["uid"];
    let user = json!({"username": "system:serviceaccount:default:robot", "uid": uid, "groups": groups});
    assert_eq!(whoami(&server, &token).await.expect(201)["status"]["userInfo"], user);
    let review = json!({"spec": {"token": token}});
    let status = server.admin().post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
    assert_eq!((&status["authenticated"], &status["user"]), (&json!(true), &user));
    server.stop().await;
    server.restart().await;
    whoami(&server, &token).await.expect(201);

    let admin = server.admin();
    let path = format!("{SECRETS}/s");
    let ended = json!({"metadata": {"labels": {"orch.io/legacy-token-invalid-since": "2024-01-01"}}});
    admin.merge(&path, &ended).await.expect(200);
    whoami(&server, &token).await.refused(401, "Unauthorized");
    let again = json!({"metadata": {"labels": null}});
    admin.merge(&path, &again).await.expect(200);
    whoami(&server, &token).await.expect(201);
    let other = token_secret(&server, "other").await;
    admin.merge(&path, &json!({"data": {"token": other["data"]["token"]}})).await.expect(200);
    whoami(&server, &token).await.refused(401, "Unauthorized");
    whoami(&server, &decoded(&other, "token")).await.expect(201);

    admin.delete(&format!("{ACCOUNTS}/robot")).await.expect(200);
    whoami(&server, &decoded(&other, "token")).await.refused(401, "Unauthorized");
    until(&admin, &format!("{SECRETS}/other"), |answer| answer.status == 404).await;
    until(&admin, &path, |answer| answer.status == 404).await;
    assert!(!server.log().contains(&token), "a token in the log");
}

#[tokio::test]
async fn a_watch_ends_with_the_secret_of_its_token() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let robot = json!({"kind": "ServiceAccount", "name": "robot", "namespace": "default"});
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [robot],
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    let bindings = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";
    admin.post(bindings, &binding).await.expect(201);
    let token = decoded(&token_secret(&server, "s").await, "token");
    let watch = server.without_credentials().with_token(&token).watch(WATCH).await;
    admin.delete(&format!("{SECRETS}/s")).await.expect(200);
    crate::watch_ends::ends(watch).await;
}

#[tokio::test]
async fn tokens_in_secrets_are_not_looked_up_where_that_is_off() {
    let server = TestServer::options().flag("--service-account-lookup=false").start().await;
    let token = decoded(&token_secret(&server, "s").await, "token");
    let admin = server.admin();
    admin.delete(&format!("{ACCOUNTS}/robot")).await.expect(200);
    until(&admin, &format!("{SECRETS}/s"), |answer| answer.status == 404).await;
    whoami(&server, &token).await.expect(201);
    let damaged = format!("{}AAAA", &token[..token.len() - 4]);
    whoami(&server, &damaged).await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn each_namespace_is_given_the_authority() {
    for (vocabulary, name) in [("orch", "orch-root-ca.crt"), ("kubernetes", "kube-root-ca.crt")] {
        let server = TestServer::options().vocabulary(vocabulary).publish_authority().start().await;
        let admin = server.admin();
        let authority = authority(&server);
        let has_it = |answer: &Answer| answer.status == 200 && answer.json()["data"]["ca.crt"] == *authority;
        admin.post(NAMESPACES, &namespace("late")).await.expect(201);
        for namespace in ["default", "late"] {
            until(&admin, &format!("{NAMESPACES}/{namespace}/configmaps/{name}"), has_it).await;
        }
        let path = format!("{CONFIG_MAPS}/{name}");
        admin.delete(&path).await.expect(200);
        until(&admin, &path, has_it).await;
        admin.merge(&path, &json!({"data": {"ca.crt": "forged"}})).await.expect(200);
        until(&admin, &path, has_it).await;
        admin.delete(&format!("{NAMESPACES}/late")).await.expect(200);
        until(&admin, &format!("{NAMESPACES}/late"), |answer| answer.status == 404).await;
    }
}
