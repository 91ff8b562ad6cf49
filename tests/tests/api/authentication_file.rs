//! Who is it, by a file: several issuers, claims and rules in expressions, who needs no credentials, and what
//! happens when the file changes while the server runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use orch_tests::{TestServer, objects::NAMESPACES};
use serde_json::{Value, json};

use crate::issuer::{CLIENT_ID, Key, Provider};

const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";

/// An issuer of the file, with what follows its audiences.
fn entry(provider: &Provider, rest: &str) -> String {
    let mut authority = String::new();
    for line in provider.site.authority.lines() {
        authority.extend(["        ", line, "\n"]);
    }
    format!(
        "- issuer:\n    url: {}\n    certificateAuthority: |\n{authority}    \
         audiences: [{CLIENT_ID}, other]\n    audienceMatchPolicy: MatchAny\n{rest}",
        provider.site.url()
    )
}

/// Writes a file with these parts; it appears whole.
fn write_file(folder: &Path, parts: &str) -> PathBuf {
    let file = folder.join("authentication.yaml");
    let head = "apiVersion: apiserver.config.orch.io/v1beta1\nkind: AuthenticationConfiguration\n";
    fs::write(file.with_extension("new"), format!("{head}{parts}")).unwrap();
    fs::rename(file.with_extension("new"), &file).unwrap();
    file
}

async fn start(file: &Path) -> TestServer {
    let flag = format!("--authentication-config={}", file.display());
    TestServer::options().flag(flag).flag("--log-level=debug").start().await
}

async fn whoami(server: &TestServer, token: &str) -> orch_tests::client::Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}

async fn refused(server: &TestServer, token: &str, why: &str) {
    whoami(server, token).await.refused(401, "Unauthorized");
    server.logged(why).await;
}

/// Waits until a change of the file is counted.
async fn reloaded(server: &TestServer, status: &str, count: u32) {
    let name = "apiserver_authentication_config_controller_automatic_reloads_total";
    let line = format!("{name}{{status=\"{status}\"}} {count}\n");
    let start = Instant::now();
    loop {
        let metrics = server.admin().get("/metrics").await.text();
        if metrics.contains(&line) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{line} is not in {metrics}\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

const BY_CLAIMS: &str = "  claimMappings:\n    username: {claim: sub, prefix: \"one:\"}\n";

const BY_EXPRESSIONS: &str = r#"  claimValidationRules:
  - {claim: tenant, requiredValue: t}
  - {expression: claims.exp - claims.iat <= 3600, message: lives too long}
  claimMappings:
    username: {expression: "'two:' + claims.sub"}
    groups: {expression: "claims.roles.split(',')"}
    uid: {claim: oid}
    extra:
    - {key: example.com/tenant, valueExpression: claims.tenant}
  userValidationRules:
  - {expression: "!user.groups.exists(group, group.startsWith('system:'))", message: a reserved group}
"#;

#[tokio::test]
async fn several_issuers_make_users_by_claims_and_expressions() {
    let (one_key, two_key) = (Key::new("a"), Key::new("a"));
    let (one, two) = (Provider::start(&[&one_key]).await, Provider::start(&[&two_key]).await);
    let folder = tempfile::tempdir().unwrap();
    let two_entry = entry(&two, BY_EXPRESSIONS).replacen(
        "    certificateAuthority",
        &format!("    discoveryURL: {}/elsewhere/document\n    certificateAuthority", two.site.url()),
        1,
    );
    let file = write_file(folder.path(), &format!("jwt:\n{}{two_entry}", entry(&one, BY_CLAIMS)));
    let server = start(&file).await;

    let info = whoami(&server, &one_key.sign(&one.claims("bob"))).await.expect(201);
    assert_eq!(info["status"]["userInfo"]["username"], "one:bob");
    let with = |claim: &str, value: Value| {
        let mut claims = two.claims("bob");
        for (name, value) in [("tenant", json!("t")), ("roles", json!("devs,ops")), ("oid", json!("7"))] {
            claims[name] = value;
        }
        claims[claim] = value;
        claims
    };
    for audience in [CLIENT_ID, "other"] {
        let info = whoami(&server, &two_key.sign(&with("aud", json!([audience])))).await.expect(201);
        assert_eq!(
            info["status"]["userInfo"],
            json!({
                "username": "two:bob", "uid": "7", "groups": ["devs", "ops", "system:authenticated"],
                "extra": {"example.com/tenant": ["t"]},
            })
        );
    }
    assert!(
        two.seen().iter().all(|seen| seen.path != "/.well-known/openid-configuration"),
        "{:?}",
        two.seen()
    );
    for (claims, why) in [
        (with("tenant", json!("u")), "has another value than the required one"),
        (with("iat", json!(0)), "lives too long"),
        (with("roles", json!("devs,system:masters")), "a reserved group"),
        (with("roles", json!(["devs"])), "no such overload"),
        (with("oid", json!(7)), "is no text"),
        (with("aud", json!("third")), "it is for other audiences"),
    ] {
        refused(&server, &two_key.sign(&claims), why).await;
    }
    // The key of one issuer says nothing about the tokens of another.
    refused(&server, &one_key.sign(&with("sub", json!("eve"))), "no key of the issuer has made").await;
    // Other methods go on beside it, and a token that nobody knows is never anonymous.
    server.admin().get(NAMESPACES).await.expect(200);
    server.administrator().get(NAMESPACES).await.expect(200);
    whoami(&server, "tok-mallory").await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn the_file_is_followed_and_a_wrong_one_changes_nothing() {
    let (one_key, two_key) = (Key::new("a"), Key::new("a"));
    let (one, two) = (Provider::start(&[&one_key]).await, Provider::start(&[&two_key]).await);
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (entry(&one, BY_CLAIMS), entry(&two, BY_CLAIMS));
    let file = write_file(folder.path(), &format!("jwt:\n{first}"));
    let server = start(&file).await;
    let (bob, carol) = (one_key.sign(&one.claims("bob")), two_key.sign(&two.claims("carol")));
    whoami(&server, &bob).await.expect(201);
    whoami(&server, &carol).await.refused(401, "Unauthorized");

    write_file(folder.path(), &format!("jwt:\n{first}{second}"));
    reloaded(&server, "success", 1).await;
    whoami(&server, &carol).await.expect(201);
    whoami(&server, &bob).await.expect(201);
    assert_eq!(one.fetches(), 1, "keys that are known are kept");

    write_file(folder.path(), &format!("jwt:\n{second}{}", second.replace("claim: sub", "claims: sub")));
    reloaded(&server, "failure", 1).await;
    server.logged("unknown field `claims`").await;
    whoami(&server, &bob).await.expect(201);

    // An issuer that is taken away vouches for nobody, nor does what was remembered of its tokens.
    write_file(folder.path(), &format!("jwt:\n{second}"));
    reloaded(&server, "success", 2).await;
    whoami(&server, &bob).await.refused(401, "Unauthorized");
    whoami(&server, &carol).await.expect(201);
}

#[tokio::test]
async fn the_file_says_for_which_paths_no_credentials_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let some = "anonymous:\n  enabled: true\n  conditions:\n  - path: /livez\n  - path: /readyz\n";
    let file = write_file(folder.path(), some);
    let server = start(&file).await;
    let nobody = server.without_credentials();
    for path in ["/livez", "/readyz?verbose"] {
        assert_eq!(nobody.get(path).await.status, 200, "{path}");
    }
    for path in ["/livez/ping", "/healthz", "/version", "/livez/", NAMESPACES] {
        nobody.get(path).await.refused(401, "Unauthorized");
    }
    nobody.clone().with_token("tok-mallory").get("/livez").await.refused(401, "Unauthorized");

    write_file(folder.path(), "anonymous: {enabled: true}\n");
    reloaded(&server, "success", 1).await;
    nobody.get(NAMESPACES).await.refused(403, "Forbidden");
    write_file(folder.path(), "anonymous: {enabled: false}\n");
    reloaded(&server, "success", 2).await;
    nobody.get("/livez").await.refused(401, "Unauthorized");
    // Credentials are read again at SIGHUP; that is no reason to forget what the file says.
    let command = format!("kill -HUP {}", server.pid());
    assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
    server.logged("certificates and tokens are read again").await;
    nobody.get("/livez").await.refused(401, "Unauthorized");
    server.admin().get(NAMESPACES).await.expect(200);
}

#[tokio::test]
async fn without_its_gate_the_file_says_nothing_about_anonymous() {
    let folder = tempfile::tempdir().unwrap();
    let file = write_file(folder.path(), "anonymous: {enabled: true}\n");
    let flags = [
        format!("--authentication-config={}", file.display()),
        "--feature-gates=AnonymousAuthConfigurableEndpoints=false".to_owned(),
    ];
    let (code, told) = TestServer::refusal(&flags).await;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("while the feature gate AnonymousAuthConfigurableEndpoints is off"), "{told}");
}
