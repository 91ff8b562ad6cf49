//! Tokens that the tool asks for, and configurations with each way to say who somebody is.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::{Value, json};

/// The claims of a token, which is not verified.
fn claims(token: &str) -> Value {
    let part = token.trim_end().split('.').nth(1).expect("a token has three parts");
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn every_flag_of_create_token_counts() {
    if !is_installed("create token") {
        return;
    }
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let kubectl = Kubectl { server: &server };
    kubectl.run("create serviceaccount robot").await;
    kubectl.run("create secret generic s --from-literal=k=v").await;
    let uid = kubectl.run("get secret s -o jsonpath={.metadata.uid}").await;

    let plain = claims(&kubectl.run("create token robot").await);
    assert_eq!(plain["sub"], "system:serviceaccount:default:robot");
    assert_eq!(plain["aud"], json!(["https://kubernetes.default.svc"]));
    assert_eq!(plain["exp"].as_i64().unwrap() - plain["iat"].as_i64().unwrap(), 3600);
    let other = claims(&kubectl.run("create token robot --audience=a --audience=b --duration=20m").await);
    assert_eq!(other["aud"], json!(["a", "b"]));
    assert_eq!(other["exp"].as_i64().unwrap() - other["iat"].as_i64().unwrap(), 1200);

    let bound = "create token robot --bound-object-kind=Secret --bound-object-name=s";
    let token = kubectl.run(bound).await;
    assert_eq!(claims(&token)["kubernetes.io"]["secret"], json!({"name": "s", "uid": uid}));
    kubectl.run(&format!("{bound} --bound-object-uid={uid}")).await;
    kubectl.fails(&format!("{bound} --bound-object-uid=old"), &["does not match the UID in record"]).await;
    let missing = "create token robot --bound-object-kind=Pod --bound-object-name=p";
    kubectl.fails(missing, &[r#"pods "p" not found"#]).await;
    kubectl.fails("create token nobody", &[r#"serviceaccounts "nobody" not found"#]).await;
    let shown = kubectl.run("create token robot -o json").await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["kind"], "TokenRequest");
    assert_eq!(claims(shown["status"]["token"].as_str().unwrap())["iss"], "https://kubernetes.default.svc");

    let whoami = format!(
        "--kubeconfig=/dev/null --insecure-skip-tls-verify --server={} --token={} auth whoami",
        server.url(),
        token.trim_end()
    );
    kubectl.shows(&whoami, &["system:serviceaccount:default:robot"]).await;
    kubectl.run("delete secret s").await;
    kubectl.fails(&whoami, &["Unauthorized"]).await;
}

#[tokio::test]
async fn a_configuration_can_say_in_each_way_who_somebody_is() {
    if !is_installed("configurations with each method of authentication") {
        return;
    }
    let options = TestServer::options().vocabulary("kubernetes").flag("--enable-bootstrap-token-auth");
    let server = options.start().await;
    let kubectl = Kubectl { server: &server };
    kubectl.run("create serviceaccount robot").await;
    kubectl
        .run(
            "-n kube-system create secret generic bootstrap-token-abc123 --type=bootstrap.kubernetes.io/token \
             --from-literal=token-id=abc123 --from-literal=token-secret=0123456789abcdef \
             --from-literal=usage-bootstrap-authentication=true",
        )
        .await;
    let token = kubectl.run("create token robot").await;
    let directory = server.scratch_dir();
    std::fs::write(directory.join("token"), token.trim_end()).unwrap();
    let pki = server.data_dir().join("pki");
    let exec = |version: &str| {
        let credential = json!({
            "kind": "ExecCredential", "apiVersion": format!("client.authentication.k8s.io/{version}"),
            "status": {"token": "tok-carol"},
        });
        let file = directory.join(version);
        std::fs::write(&file, credential.to_string()).unwrap();
        json!({"exec": {
            "apiVersion": format!("client.authentication.k8s.io/{version}"), "command": "cat",
            "args": [file], "interactiveMode": "Never",
        }})
    };
    for (user, expected) in [
        (json!({"client-certificate": pki.join("admin.crt"), "client-key": pki.join("admin.key")}), "admin"),
        (json!({"token": "tok-bob"}), "bob"),
        (json!({"token": token.trim_end()}), "system:serviceaccount:default:robot"),
        (json!({"tokenFile": directory.join("token")}), "system:serviceaccount:default:robot"),
        (json!({"token": "abc123.0123456789abcdef"}), "system:bootstrap:abc123"),
        (exec("v1"), "carol"),
        (exec("v1beta1"), "carol"),
        // The certificate decides before the token.
        (
            json!({
                "client-certificate": pki.join("admin.crt"), "client-key": pki.join("admin.key"),
                "token": "tok-bob",
            }),
            "admin",
        ),
        // A wrong credential is not anonymous.
        (json!({"token": "tok-mallory"}), ""),
    ] {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": server.url(), "certificate-authority": pki.join("ca.crt"),
            }}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        });
        std::fs::write(directory.join("who.kubeconfig"), config.to_string()).unwrap();
        let line = "--kubeconfig=who.kubeconfig auth whoami -o jsonpath={.status.userInfo.username}";
        if expected.is_empty() {
            kubectl.fails(line, &["Unauthorized"]).await;
        } else {
            kubectl.prints(line, expected).await;
        }
    }
}
