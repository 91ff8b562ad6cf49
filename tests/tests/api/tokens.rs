//! Tokens of service accounts: who gets one, which user it stands for, and when it stops being valid.

use orch_runtime::scalar::Time;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
};
use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384};
use serde_json::{Value, json};

use crate::restart::hang_up;

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const PODS: &str = "/api/v1/namespaces/default/pods";
const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const TOKEN_REVIEWS: &str = "/apis/authentication.orch.io/v1/tokenreviews";
const CONFIGURATION: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/openid/v1/jwks";
const USER: &str = "system:serviceaccount:default:robot";
const ISSUER: &str = "https://orch.default.svc";

#[tokio::test]
async fn a_token_makes_its_bearer_the_account() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let account = account(&admin).await;
    let answer = ask(&admin, &json!({})).await.expect(201);
    assert_eq!(answer["kind"], "TokenRequest");
    assert_eq!(answer["apiVersion"], "authentication.orch.io/v1");
    assert_eq!(answer["metadata"]["name"], "robot");
    assert_eq!(
        answer["spec"],
        json!({"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null})
    );
    assert!(answer["status"]["expirationTimestamp"].is_string());
    let token = answer["status"]["token"].as_str().unwrap().to_owned();
    let info = whoami(&server, &token).await.expect(201)["status"]["userInfo"].clone();
    assert_eq!(info["username"], USER);
    assert_eq!(info["uid"], account["metadata"]["uid"]);
    let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
    assert_eq!(info["groups"], json!(groups));
    // The key is kept with the data.
    server.stop().await;
    server.restart().await;
    whoami(&server, &token).await.expect(201);
    // Another account of the same name is another one.
    let admin = server.admin();
    admin.delete(&format!("{ACCOUNTS}/robot")).await.expect(200);
    whoami(&server, &token).await.refused(401, "Unauthorized");
    self::account(&admin).await;
    whoami(&server, &token).await.refused(401, "Unauthorized");
    let damaged = format!("{}A", &token[..token.len() - 1]);
    whoami(&server, &damaged).await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn a_token_is_valid_while_the_object_exists_that_it_is_bound_to() {
    let server = TestServer::start().await;
    let admin = server.admin();
    account(&admin).await;
    for (name, account) in [("p", "robot"), ("other", "someone")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"serviceAccountName": account, "containers": [{"name": "c", "image": "x:1"}]},
        });
        admin.post(PODS, &pod).await.expect(201);
    }
    let bound = |kind: &str, name: &str| {
        json!({
            "spec": {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}},
        })
    };
    let token = ask(&admin, &bound("Pod", "p")).await.expect(201)["status"]["token"].clone();
    let token = token.as_str().unwrap();
    let info = whoami(&server, token).await.expect(201)["status"]["userInfo"].clone();
    assert_eq!(info["extra"]["authentication.orch.io/pod-name"], json!(["p"]));
    admin.delete(&format!("{PODS}/p")).await.expect(200);
    whoami(&server, token).await.refused(401, "Unauthorized");

    ask(&admin, &bound("Pod", "p")).await.refused(404, "NotFound");
    let message = ask(&admin, &bound("Pod", "other")).await.refused(400, "BadRequest");
    assert_eq!(
        message,
        r#"cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name."#
    );
    let message = ask(&admin, &bound("ConfigMap", "c")).await.refused(400, "BadRequest");
    assert_eq!(message, "cannot bind token to object of type /v1, Kind=ConfigMap");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "m"}});
    admin.post("/api/v1/nodes", &node).await.expect(201);
    let mut stale = bound("Node", "m");
    stale["spec"]["boundObjectRef"]["uid"] = json!("old");
    ask(&admin, &stale).await.refused(409, "Conflict");
    let token = ask(&admin, &bound("Node", "m")).await.expect(201)["status"]["token"].clone();
    let info = whoami(&server, token.as_str().unwrap()).await.expect(201)["status"]["userInfo"].clone();
    assert_eq!(info["extra"]["authentication.orch.io/node-name"], json!(["m"]));
}

#[tokio::test]
async fn token_requests_are_validated() {
    let server = TestServer::start().await;
    let admin = server.admin();
    account(&admin).await;
    for (seconds, why) in [
        (599_i64, "may not specify a duration less than 10 minutes"),
        (4_294_967_297, "may not specify a duration larger than 2^32 seconds"),
    ] {
        let message =
            ask(&admin, &json!({"spec": {"expirationSeconds": seconds}})).await.refused(422, "Invalid");
        let expected = format!(
            r#"TokenRequest.authentication.orch.io "" is invalid: spec.expirationSeconds: Invalid value: {seconds}: {why}"#
        );
        assert_eq!(message, expected);
    }
    let message = ask(&admin, &json!({"metadata": {"name": "other"}})).await.refused(422, "Invalid");
    assert!(message.ends_with("must match the service account name if specified"), "{message}");
    let elsewhere = ask(&admin, &json!({"metadata": {"namespace": "other"}})).await;
    let message = elsewhere.refused(400, "BadRequest");
    let expected = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(message, expected);
    let wrong_kind = json!({"apiVersion": "v1", "kind": "ServiceAccount"});
    admin.post(&format!("{ACCOUNTS}/robot/token"), &wrong_kind).await.refused(400, "BadRequest");
    let missing = json!({"apiVersion": "authentication.orch.io/v1", "kind": "TokenRequest"});
    admin.post(&format!("{ACCOUNTS}/nobody/token"), &missing).await.refused(404, "NotFound");
    admin.get(&format!("{ACCOUNTS}/robot/token")).await.refused(405, "MethodNotAllowed");
    let resources = admin.get("/api/v1").await.expect(200);
    let published =
        resources["resources"].as_array().unwrap().iter().find(|it| it["name"] == "serviceaccounts/token");
    let expected = json!({
        "name": "serviceaccounts/token", "singularName": "", "namespaced": true,
        "group": "authentication.orch.io", "version": "v1", "kind": "TokenRequest", "verbs": ["create"],
    });
    assert_eq!(published, Some(&expected));
}

#[tokio::test]
async fn a_token_is_for_its_audiences() {
    let options = TestServer::options()
        .flag("--service-account-issuer=https://me.example.com")
        .flag("--api-audiences=api,https://me.example.com");
    let server = options.start().await;
    let admin = server.admin();
    account(&admin).await;
    let token = |answer: Answer| answer.expect(201)["status"]["token"].as_str().unwrap().to_owned();
    let own = token(ask(&admin, &json!({})).await);
    let others = token(ask(&admin, &json!({"spec": {"audiences": ["vault", "other"]}})).await);
    whoami(&server, &own).await.expect(201);
    whoami(&server, &others).await.refused(401, "Unauthorized");
    for (token, audiences, good_for) in [
        (own.as_str(), json!([]), json!(["api", "https://me.example.com"])),
        (&own, json!(["api"]), json!(["api"])),
        (&own, json!(["vault"]), Value::Null),
        (&others, json!(["vault"]), json!(["vault"])),
        (&others, json!([]), Value::Null),
        ("tok-bob", json!([]), json!(["api", "https://me.example.com"])),
        ("tok-bob", json!(["api", "x"]), json!(["api"])),
        ("tok-bob", json!(["vault"]), Value::Null),
    ] {
        let review = json!({
            "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview",
            "spec": {"token": token, "audiences": audiences},
        });
        let status = admin.post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
        assert_eq!(status.get("audiences").cloned().unwrap_or_default(), good_for, "{audiences} {status}");
        assert_eq!(status["authenticated"] == true, !good_for.is_null(), "{status}");
    }
}

#[tokio::test]
async fn older_versions_of_self_subject_review_are_served_where_enabled() {
    let versions = ["v1beta1", "v1alpha1"];
    let path = |version: &str| format!("/apis/authentication.orch.io/{version}/selfsubjectreviews");
    let question = |version: &str| {
        json!({
            "apiVersion": format!("authentication.orch.io/{version}"), "kind": "SelfSubjectReview",
        })
    };
    let server = TestServer::start().await;
    for version in versions {
        server.admin().post(&path(version), &question(version)).await.refused(404, "NotFound");
    }
    let server = TestServer::options().flag("--runtime-config=api/beta=true,api/alpha=true").start().await;
    for version in versions {
        let answer = server.admin().post(&path(version), &question(version)).await.expect(201);
        assert_eq!(answer["apiVersion"], question(version)["apiVersion"]);
        assert_eq!(answer["status"]["userInfo"]["username"], "admin");
    }
}

async fn account(admin: &Client) -> Value {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    admin.post(ACCOUNTS, &account).await.expect(201)
}

async fn ask(admin: &Client, with: &Value) -> Answer {
    let mut request = json!({"apiVersion": "authentication.orch.io/v1", "kind": "TokenRequest"});
    for (field, value) in with.as_object().unwrap() {
        request[field] = value.clone();
    }
    admin.post(&format!("{ACCOUNTS}/robot/token"), &request).await
}

async fn whoami(server: &TestServer, token: &str) -> Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}

/// The claims of a token, which is not verified.
fn claims(token: &str) -> Value {
    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

async fn token(admin: &Client, with: &Value) -> String {
    ask(admin, with).await.expect(201)["status"]["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn keys_change_while_tokens_of_the_old_one_are_accepted() {
    let mut server = TestServer::start().await;
    account(&server.admin()).await;
    let old = token(&server.admin(), &json!({})).await;
    let file = server.scratch_dir().join("new.pem");
    std::fs::write(&file, KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem()).unwrap();
    server.stop().await;
    server.restart_with(&format!("--service-account-signing-key-file={}", file.display())).await;
    whoami(&server, &old).await.refused(401, "Unauthorized");
    let new = token(&server.admin(), &json!({})).await;
    whoami(&server, &new).await.expect(201);

    server.stop().await;
    let old_key = server.data_dir().join("pki/service-account.key");
    server.restart_with(&format!("--service-account-key-file={}", old_key.display())).await;
    for token in [&old, &new] {
        whoami(&server, token).await.expect(201);
    }
    let keys = server.admin().get(KEYS).await.expect(200)["keys"].clone();
    let algorithms: Vec<&Value> = keys.as_array().unwrap().iter().map(|key| &key["alg"]).collect();
    assert_eq!(algorithms, ["ES384", "ES256"]);
}

#[tokio::test]
async fn keys_rotate_without_a_restart() {
    let options = TestServer::options();
    let folder = tempfile::tempdir().unwrap();
    let (signing, further) = (folder.path().join("signing.pem"), folder.path().join("further.pem"));
    let make = || KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem();
    let (first, second) = (make(), make());
    std::fs::write(&signing, &first).unwrap();
    std::fs::write(&further, &first).unwrap();
    let server = options
        .flag(format!("--service-account-signing-key-file={}", signing.display()))
        .flag(format!("--service-account-key-file={}", further.display()))
        .flag("--service-account-issuer=https://me.example.com")
        .start()
        .await;
    let admin = server.admin();
    account(&admin).await;
    let shown = async || admin.get(KEYS).await.expect(200)["keys"].as_array().unwrap().len();
    let old = token(&admin, &json!({})).await;
    whoami(&server, &old).await.expect(201);
    assert_eq!(shown().await, 1);
    // What is no key changes nothing.
    std::fs::write(&signing, "no key").unwrap();
    hang_up(&server);
    server.logged("what this file held before stays in force").await;
    whoami(&server, &old).await.expect(201);
    // A new key signs, and the old one is accepted.
    std::fs::write(&signing, &second).unwrap();
    hang_up(&server);
    while shown().await != 2 {}
    let new = token(&admin, &json!({})).await;
    for token in [&old, &new] {
        whoami(&server, token).await.expect(201);
    }
    // The old one goes, and its tokens with it, although they were accepted a moment ago.
    std::fs::write(&further, &second).unwrap();
    hang_up(&server);
    while shown().await != 1 {}
    whoami(&server, &old).await.refused(401, "Unauthorized");
    whoami(&server, &new).await.expect(201);
}

#[tokio::test]
async fn others_find_the_keys_of_the_issuer() {
    let options = TestServer::options()
        .flag("--service-account-issuer=https://me.example.com")
        .flag("--service-account-issuer=old");
    let server = options.clone().start().await;
    let admin = server.admin();
    account(&admin).await;
    let token = token(&admin, &json!({})).await;
    // Any service account may look them up, and nobody without a role.
    let robot = server.without_credentials().with_token(&token);
    for (path, media_type) in [(CONFIGURATION, "application/json"), (KEYS, "application/jwk-set+json")] {
        let answer = robot.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, media_type));
        assert_eq!(answer.header("cache-control"), "public, max-age=3600");
        server.user("dave").get(path).await.refused(403, "Forbidden");
        assert_eq!(admin.get(&format!("{path}/")).await.body, answer.body);
    }
    let expected = json!({
        "issuer": "https://me.example.com", "jwks_uri": format!("{}{KEYS}", server.url()),
        "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    assert_eq!(robot.get(CONFIGURATION).await.expect(200), expected);
    let key = robot.get(KEYS).await.expect(200)["keys"][0].clone();
    assert_eq!((&key["kty"], &key["use"], &key["d"]), (&json!("EC"), &json!("sig"), &Value::Null));
    assert_eq!(claims(&token)["iss"], "https://me.example.com");
    assert_eq!(claims(&token)["aud"], json!(["https://me.example.com", "old"]));
    let paths = admin.get("/").await.expect(200)["paths"].clone();
    assert!(
        [CONFIGURATION, KEYS].iter().all(|path| paths.as_array().unwrap().contains(&json!(path))),
        "{paths}"
    );

    let server = options.flag("--service-account-jwks-uri=https://keys.example.com/all").start().await;
    let uri = server.admin().get(CONFIGURATION).await.expect(200)["jwks_uri"].clone();
    assert_eq!(uri, "https://keys.example.com/all");
    // By another name nobody would find them.
    let server = TestServer::options().flag("--service-account-issuer=me").start().await;
    for path in [CONFIGURATION, KEYS] {
        assert_eq!(server.admin().get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn lifetimes_are_shortened_with_a_warning_and_extended_in_silence() {
    let server = TestServer::options().flag("--service-account-max-token-expiration=2h").start().await;
    let admin = server.admin();
    account(&admin).await;
    let lifetime = |token: &str| {
        let claims = claims(token);
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()
    };
    let answer = ask(&admin, &json!({"spec": {"expirationSeconds": 7201}})).await;
    let warning = r#"299 - "requested expiration of 7201 seconds shortened to 7200 seconds""#;
    assert_eq!(answer.header("warning"), warning);
    let answer = answer.expect(201);
    assert_eq!(answer["spec"]["expirationSeconds"], 7200);
    assert_eq!(lifetime(answer["status"]["token"].as_str().unwrap()), 7200);

    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "robot", "containers": [{"name": "c", "image": "x:1"}]},
    });
    admin.post(PODS, &pod).await.expect(201);
    let bound = json!({"kind": "Pod", "apiVersion": "v1", "name": "p"});
    let answer = ask(&admin, &json!({"spec": {"expirationSeconds": 3607, "boundObjectRef": bound}})).await;
    assert_eq!(answer.header("warning"), "");
    let answer = answer.expect(201);
    assert_eq!(answer["spec"]["expirationSeconds"], 3607);
    let token = answer["status"]["token"].as_str().unwrap();
    assert_eq!(lifetime(token), 365 * 24 * 60 * 60);
    let claims = claims(token);
    let issued = claims["iat"].as_i64().unwrap();
    assert_eq!(claims["orch.io"]["warnafter"], issued + 3607);
    let told: Time = answer["status"]["expirationTimestamp"].as_str().unwrap().parse().unwrap();
    assert_eq!(told.as_unix_seconds(), issued + 3607);
    for _ in 0..2 {
        whoami(&server, token).await.expect(201);
    }
    let metrics = admin.get("/metrics").await.text();
    for line in ["serviceaccount_valid_tokens_total 2", "serviceaccount_stale_tokens_total 0"] {
        assert!(metrics.lines().any(|found| found == line), "{line}");
    }
}

/// In requests and in reviews alike: what stands behind a space does not belong to the token.
#[tokio::test]
async fn what_follows_a_token_is_judged_alike_in_requests_and_in_reviews() {
    let server = TestServer::options().flag("--anonymous-auth").start().await;
    let admin = server.admin();
    account(&admin).await;
    let valid = token(&admin, &json!({})).await;
    for (token, is_valid) in [
        (valid.clone(), true),
        (format!("{valid} junk"), true),
        (format!("{valid} junk more"), true),
        (format!("{valid}junk"), false),
        (format!("{valid}."), false),
        (format!("{valid},junk"), false),
        (format!("junk {valid}"), false),
    ] {
        let status = whoami(&server, &token).await.status;
        assert_eq!(status, if is_valid { 201 } else { 401 }, "{token}");
        let review = json!({
            "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview", "spec": {"token": token},
        });
        let status = admin.post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
        assert_eq!(status["authenticated"] == true, is_valid, "{token}: {status}");
        assert_eq!(status["error"].is_string(), !is_valid, "{token}: {status}");
    }
    // Never the anonymous user.
    let review = json!({
        "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview", "spec": {"token": " x"},
    });
    let status = admin.post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
    assert_eq!(status["authenticated"], Value::Null, "{status}");
}
