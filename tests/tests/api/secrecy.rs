//! Tokens, passwords and keys are in nothing that the server prints, at the highest log level, in no error
//! and no metric, and in no record of audit.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Method;
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::{Answer, Protocol, tls_config},
    objects::{CONFIG_MAPS, NAMESPACES, SECRETS},
};
use serde_json::json;

use crate::{
    bootstrap_tokens,
    issuer::{CLIENT_ID, Key, Provider},
    remote::Site,
    token_secrets, token_webhook,
};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const TOKEN_REVIEWS: &str = "/apis/authentication.orch.io/v1/tokenreviews";
const WRONG: &str = "wr0ng-t0ken-that-nobody-has";
/// The webhook knows it.
const HOOKED: &str = "hook-t0ken-of-the-webhook";
const PASSWORD: &str = "pa55word-of-basic";
const IN_QUERY: &str = "s3cret-of-a-query";
const IN_SECRET: &str = "s3cret-of-an-object";

/// What was used, by name, and everything that the server said.
#[derive(Default)]
struct Seen {
    secrets: Vec<(String, String)>,
    said: String,
}

impl Seen {
    fn secret(&mut self, what: &str, text: &str) {
        assert!(text.len() >= 7, "{what} is too short to be looked for");
        self.secrets.push((what.to_owned(), text.to_owned()));
    }

    fn answer(&mut self, answer: &Answer) {
        writeln!(self.said, "{:?}\n{}", answer.headers, answer.text()).unwrap();
    }

    /// The parts of a private key in PEM.
    fn key(&mut self, path: &Path) {
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.starts_with("-----") && line.len() > 20).collect();
        assert!(!lines.is_empty(), "{} has no key", path.display());
        for line in lines {
            self.secret(&path.display().to_string(), line);
        }
    }
}

/// The answer to a GET. A connection may just have been closed, as those of unknown clients are; then there
/// is another one.
async fn ask(client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    loop {
        let mut request = client.request(Method::GET, path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Ok(answer) = request.try_send().await {
            return answer;
        }
    }
}

/// Uses a token rightly, in the wrong places, and damaged.
async fn use_token(server: &TestServer, client: &Client, token: &str, seen: &mut Seen) {
    let admin = server.admin();
    for (name, value) in [
        ("authorization", format!("Bearer {token}")),
        ("authorization", format!("Bearer  {token}")),
        ("authorization", format!("Bearer {token} junk")),
        ("authorization", format!("Bearer {token}x")),
        ("authorization", token.to_owned()),
        ("x-remote-user", token.to_owned()),
        ("sec-websocket-protocol", format!("base64url.bearer.authorization.orch.io.{token}, v1")),
    ] {
        for path in [NAMESPACES, CONFIG_MAPS, "/metrics", "/nothing"] {
            seen.answer(&ask(client, path, &[(name, &value)]).await);
        }
    }
    let watch = client
        .request(Method::GET, &format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1"))
        .header("authorization", &format!("Bearer {token}"));
    drop(watch.try_watch().await);
    for token in [token.to_owned(), format!("{token}x")] {
        let review = json!({"spec": {"token": token}});
        let answer = admin.post(TOKEN_REVIEWS, &review).await;
        // The answer repeats the question, token included; that is for the caller alone.
        let status = answer.expect(201)["status"].clone();
        seen.said.push_str(&status.to_string());
    }
}

#[tokio::test]
async fn nothing_that_is_printed_shows_a_credential() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("users");
    let file = authority.write(directory.path(), "users.pem");
    let (key, provider, site) = (Key::new("a"), tempfile::tempdir().unwrap(), Site::new().await);
    let issuer = Provider::start(&[&key]).await;
    let webhook = token_webhook::kubeconfig(&site, directory.path());
    let _judge = site.start(token_webhook::judge).await;
    let server = TestServer::options()
        .flag(format!("--client-ca-file={}", file.display()))
        .flag("--enable-bootstrap-token-auth")
        .flag(format!("--oidc-issuer-url={}", issuer.site.url()))
        .flag(format!("--oidc-client-id={CLIENT_ID}"))
        .flag(format!("--oidc-ca-file={}", issuer.site.authority_file(provider.path()).display()))
        .flag("--oidc-signing-algs=ES256")
        .flag(format!("--authentication-token-webhook-config-file={}", webhook.display()))
        .flag("--log-level=trace")
        .flag(format!("--audit-policy-file={}", policy(directory.path()).display()))
        .flag(format!("--audit-log-path={}", directory.path().join("audit.log").display()))
        .start()
        .await;
    let mut seen = Seen::default();
    for key in ["ca.key", "serving.key", "admin.key", "service-account.key"] {
        seen.key(&server.data_dir().join("pki").join(key));
    }
    seen.secret("the key of continue tokens", &continue_key(&server));
    for (what, secret) in [
        ("a static token", "tok-bob"),
        ("the administrator's static token", "tok-admin"),
        ("a wrong token", WRONG),
        ("a token that a webhook knows", HOOKED),
        ("the token for the webhook", "own-token"),
        ("the secret half of a bootstrap token", "0123456789abcdef"),
        ("a password", PASSWORD),
        ("a query parameter", IN_QUERY),
    ] {
        seen.secret(what, secret);
        seen.secret(what, &BASE64_STANDARD.encode(secret));
    }
    // A secret, which the administrator reads: that answer is not looked at, nor are those that show tokens.
    let admin = server.administrator_over(Protocol::Http2);
    let object = json!({"metadata": {"name": "s"}, "stringData": {"password": IN_SECRET}});
    admin.post(SECRETS, &object).await.expect(201);
    admin.get(&format!("{SECRETS}/s")).await.expect(200);
    seen.secret("the content of a secret", IN_SECRET);
    seen.secret("the content of a secret", &BASE64_STANDARD.encode(IN_SECRET));
    admin.post(ACCOUNTS, &json!({"metadata": {"name": "robot"}})).await.expect(201);
    let answer = admin.post(&format!("{ACCOUNTS}/robot/token"), &json!({})).await.expect(201);
    let account = answer["status"]["token"].as_str().unwrap().to_owned();
    for part in account.split('.').skip(1) {
        seen.secret("a service account token", part);
    }
    admin.post(bootstrap_tokens::SECRETS, &bootstrap_tokens::secret()).await.expect(201);
    let kept = token_secrets::decoded(&token_secrets::token_secret(&server, "kept").await, "token");
    let mut claims = issuer.claims("alice");
    claims["exp"] = json!(claims["exp"].as_u64().unwrap() + 3600);
    let issued = key.sign(&claims);
    for (what, token) in [("a token in a secret", &kept), ("a token of a provider", &issued)] {
        for part in token.split('.').skip(1) {
            seen.secret(what, part);
        }
    }
    let mut wrong_signature = account.clone();
    wrong_signature.replace_range(wrong_signature.len() - 8.., "AAAAAAAA");

    let good = ["tok-bob", HOOKED, bootstrap_tokens::TOKEN, &account, &kept, &issued];
    for token in good {
        let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
        server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await.expect(201);
    }
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let tls = tls_config(&server.kubeconfig().certificate_authority, None, protocol);
        let client = Client::new(server.address(), tls, protocol);
        for token in good.into_iter().chain([WRONG, &wrong_signature]) {
            use_token(&server, &client, token, &mut seen).await;
        }
        let basic = format!("Basic {}", BASE64_STANDARD.encode(PASSWORD));
        seen.answer(&ask(&client, NAMESPACES, &[("authorization", &basic)]).await);
        seen.answer(&ask(&client, &format!("{NAMESPACES}?access_token={IN_QUERY}"), &[]).await);
    }
    for client in
        [authority.client(&server, "olga", None), Authority::new("others").client(&server, "olga", None)]
    {
        seen.answer(&client.get(NAMESPACES).await);
    }
    seen.answer(&server.admin().get("/metrics").await);
    crate::restart::hang_up(&server);
    while !server.log().contains("are read again") {
        tokio::task::yield_now().await;
    }

    let log = server.log();
    // The highest level, and that of libraries too.
    for words in ["TRACE", "h2::", "rustls::", "not authenticated"] {
        assert!(log.contains(words), "{words:?} is not in the log");
    }
    let audit = std::fs::read_to_string(directory.path().join("audit.log")).unwrap();
    for words in [SECRETS, TOKEN_REVIEWS, SELF_REVIEWS, "\"RequestResponse\""] {
        assert!(audit.contains(words), "{words:?} is not in the audit log");
    }
    nowhere(&seen, &log, &audit);
}

/// No secret stands in the log, in an answer, or in the audit log.
fn nowhere(seen: &Seen, log: &str, audit: &str) {
    for (what, secret) in &seen.secrets {
        for (where_, text) in [("the log", log), ("an answer", &*seen.said), ("the audit log", audit)] {
            // Which address was asked for is what audit is for.
            if where_ == "the audit log" && secret.contains(IN_QUERY) {
                continue;
            }
            let shown = text.lines().find(|line| line.contains(secret));
            assert!(shown.is_none(), "{what} in {where_}: {shown:?}");
        }
    }
}

/// A policy that records bodies too, but for what holds secrets or tokens: there it records who did what.
fn policy(directory: &Path) -> PathBuf {
    let text = "apiVersion: audit.orch.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  resources:\n  \
                - {group: '', resources: [secrets, serviceaccounts/token]}\n  \
                - {group: authentication.orch.io, resources: [tokenreviews]}\n- level: RequestResponse\n";
    let file = directory.join("policy.yaml");
    std::fs::write(&file, text).unwrap();
    file
}

/// As text, in the form in which it might be printed.
fn continue_key(server: &TestServer) -> String {
    let key = std::fs::read_to_string(server.data_dir().join("continue.key")).unwrap();
    key.trim().lines().last().unwrap_or_default().to_owned()
}
