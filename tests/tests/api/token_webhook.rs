//! Tokens that a webhook judges: what it is sent, what its answers mean, how often it is asked, and what
//! happens while it is slow, wrong or gone.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use orch_tests::{TestServer, objects::NAMESPACES, server::ServerOptions};
use serde_json::{Value, json};

use crate::remote::{Remote, Reply, Seen, Site};

const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const TOKEN_REVIEWS: &str = "/apis/authentication.orch.io/v1/tokenreviews";
const ISSUER: &str = "https://orch.default.svc";

/// How a webhook answers.
type Conduct = fn(&Seen) -> Reply;

/// Knows tokens of the form `hook-<user>`, but that of `down`.
pub fn judge(seen: &Seen) -> Reply {
    let mut review: Value = serde_json::from_str(&seen.body).unwrap();
    let token = review["spec"]["token"].as_str().unwrap().to_owned();
    review["status"] = match token.strip_prefix("hook-") {
        Some("down") => json!({"authenticated": false, "error": "the directory is down"}),
        Some(user) => json!({
            "authenticated": true,
            "user": {"username": user, "uid": "7", "groups": ["hooked"], "extra": {"a": ["b"]}},
        }),
        None => json!({"authenticated": false}),
    };
    Reply::Answer(200, review.to_string())
}

/// A kubeconfig file that names the webhook, with a token of the server's own.
pub fn kubeconfig(site: &Site, folder: &std::path::Path) -> PathBuf {
    site.kubeconfig(folder, "/authenticate", "token: own-token")
}

async fn options() -> (Site, ServerOptions, tempfile::TempDir) {
    let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
    let file = kubeconfig(&site, folder.path());
    let options =
        TestServer::options().flag(format!("--authentication-token-webhook-config-file={}", file.display()));
    (site, options.flag("--log-level=debug"), folder)
}

async fn whoami(server: &TestServer, token: &str) -> orch_tests::client::Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}

fn asked_about(webhook: &Remote, token: &str) -> usize {
    webhook.seen().iter().filter(|seen| seen.body.contains(&format!("\"{token}\""))).count()
}

#[tokio::test]
async fn a_webhook_says_whose_a_token_is() {
    for version in ["v1", "v1beta1"] {
        let (site, options, _folder) = options().await;
        let webhook = site.start(judge).await;
        let server = options.flag(format!("--authentication-token-webhook-version={version}")).start().await;
        let info = whoami(&server, "hook-bob").await.expect(201)["status"]["userInfo"].clone();
        assert_eq!(
            info,
            json!({
                "username": "bob", "uid": "7", "groups": ["hooked", "system:authenticated"],
                "extra": {"a": ["b"]},
            })
        );
        let seen = webhook.seen();
        assert_eq!(
            (seen[0].path.as_str(), seen[0].authorization.as_str()),
            ("/authenticate", "Bearer own-token")
        );
        let review: Value = serde_json::from_str(&seen[0].body).unwrap();
        assert_eq!(review["apiVersion"], format!("authentication.orch.io/{version}"));
        assert_eq!(review["kind"], "TokenReview");
        assert_eq!(review["spec"], json!({"token": "hook-bob", "audiences": [ISSUER]}));
        // Others are not asked about, and a token that is not known is refused.
        server.admin().get(NAMESPACES).await.expect(200);
        server.administrator().get(NAMESPACES).await.expect(200);
        whoami(&server, "mallory").await.refused(401, "Unauthorized");
        assert_eq!(asked_about(&webhook, "tok-admin"), 0);
        for secret in ["hook-bob", "mallory", "own-token"] {
            assert!(!server.log().contains(secret), "{secret} in the log");
        }
    }
}

#[tokio::test]
async fn audiences_are_sent_and_compared() {
    let (site, options, _folder) = options().await;
    let webhook = site.start(|seen| match judge(seen) {
        // Tokens of `only` are for one audience alone.
        Reply::Answer(code, body) if body.contains("hook-only") => {
            let mut review: Value = serde_json::from_str(&body).unwrap();
            review["status"]["audiences"] = json!(["vault"]);
            Reply::Answer(code, review.to_string())
        }
        other => other,
    });
    let (webhook, server) = (webhook.await, options.flag("--api-audiences=api,other").start().await);
    for (token, audiences, expected) in [
        ("hook-bob", vec![], Some(json!(["api", "other"]))),
        ("hook-bob", vec!["api", "vault"], Some(json!(["api"]))),
        ("hook-bob", vec!["vault"], None),
        ("hook-only", vec!["api", "vault"], Some(json!(["vault"]))),
        ("hook-only", vec![], None),
    ] {
        let review = json!({
            "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview",
            "spec": {"token": token, "audiences": audiences},
        });
        let status = server.admin().post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
        assert_eq!(
            status["audiences"],
            expected.clone().unwrap_or_default(),
            "{token} {audiences:?} {status}"
        );
        assert_eq!(status["authenticated"] == json!(true), expected.is_some(), "{status}");
        let asked: Value = serde_json::from_str(&webhook.seen().pop().unwrap().body).unwrap();
        let sent = if audiences.is_empty() { json!(["api", "other"]) } else { json!(audiences) };
        assert_eq!(asked["spec"]["audiences"], sent);
    }
    whoami(&server, "hook-only").await.refused(401, "Unauthorized");
    whoami(&server, "hook-bob").await.expect(201);
}

#[tokio::test]
async fn answers_are_kept_and_failures_are_not() {
    let (site, options, _folder) = options().await;
    let webhook = site.start(judge).await;
    let server = options.flag("--authentication-token-webhook-cache-ttl=2s").start().await;
    let start = Instant::now();
    for _ in 0..5 {
        whoami(&server, "hook-bob").await.expect(201);
        whoami(&server, "mallory").await.refused(401, "Unauthorized");
        whoami(&server, "hook-down").await.refused(401, "Unauthorized");
    }
    let most = 1 + start.elapsed().as_secs() as usize / 2 + 1;
    for token in ["hook-bob", "mallory"] {
        let asked = asked_about(&webhook, token);
        assert!((1..=most).contains(&asked), "{token}: {asked} of {most}");
    }
    assert_eq!(asked_about(&webhook, "hook-down"), 5);
    let hits = 10_usize.saturating_sub(2 * most);
    for (name, status, least) in [
        ("request_total", "hit", hits),
        ("request_total", "miss", 7),
        ("request_duration_seconds_count", "hit", hits),
        ("request_duration_seconds_count", "miss", 7),
        ("fetch_total", "ok", 2),
        ("fetch_total", "error", 5),
    ] {
        let count = counted(&server, name, status).await;
        assert!(count >= least, "{name} {status}: {count}");
    }
    server.logged("the directory is down").await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let before = asked_about(&webhook, "hook-bob");
    whoami(&server, "hook-bob").await.expect(201);
    assert_eq!(asked_about(&webhook, "hook-bob"), before + 1);
}

#[tokio::test]
async fn many_requests_with_one_token_ask_once() {
    let (site, options, _folder) = options().await;
    let server = options.start().await;
    // All of them wait, because nothing listens yet.
    let (answers, webhook) = tokio::join!(join_all((0..20).map(|_| whoami(&server, "hook-bob"))), async {
        let start = Instant::now();
        while counted(&server, "active_fetch_count", "blocked").await < 20 {
            assert!(start.elapsed() < Duration::from_secs(20), "somebody does not wait");
        }
        assert_eq!(counted(&server, "active_fetch_count", "in_flight").await, 1);
        site.start(judge).await
    });
    for answer in answers {
        answer.expect(201);
    }
    assert_eq!(asked_about(&webhook, "hook-bob"), 1);
    assert_eq!(counted(&server, "active_fetch_count", "blocked").await, 0);
}

/// What a metric of the tokens that are remembered says of a status.
async fn counted(server: &TestServer, name: &str, status: &str) -> usize {
    let start = format!("authentication_token_cache_{name}{{status=\"{status}\"}} ");
    let metrics = server.admin().get("/metrics").await.text();
    let count = metrics.lines().find_map(|line| line.strip_prefix(&start)).expect(&start);
    count.parse().expect(count)
}

#[tokio::test]
async fn a_webhook_that_fails_is_a_401_with_the_reason_in_the_log() {
    let (site, options, _folder) = options().await;
    let server = options.start().await;
    // It is not there yet: asked again with pauses, and others are answered meanwhile.
    let (answer, elapsed) = tokio::join!(whoami(&server, "hook-bob"), async {
        let start = Instant::now();
        for _ in 0..20 {
            server.admin().get(NAMESPACES).await.expect(200);
        }
        start.elapsed()
    });
    answer.refused(401, "Unauthorized");
    assert!(elapsed < Duration::from_secs(10), "others waited for {elapsed:?}");
    server.logged("cannot connect").await;
    let conduct: Arc<Mutex<Conduct>> = Arc::new(Mutex::new(judge));
    let follows = Arc::clone(&conduct);
    let _webhook = site
        .start(move |seen| {
            let conduct = *follows.lock().unwrap();
            conduct(seen)
        })
        .await;
    for (reply, why) in [
        ((|_| Reply::Answer(403, "secret detail".to_owned())) as Conduct, "answered 403"),
        (|_| Reply::Answer(302, String::new()), "answered 302"),
        (|_| Reply::Answer(200, "secret detail".to_owned()), "is no review"),
        (|_| Reply::Answer(200, " ".repeat(2_000_000)), "larger than 1048576 bytes"),
        (
            |_| Reply::Answer(200, r#"{"kind": "Pod", "apiVersion": "v1"}"#.to_owned()),
            "another kind or version",
        ),
    ] {
        *conduct.lock().unwrap() = reply;
        // After failures it is not called for a while.
        let start = Instant::now();
        while !server.log().contains(why) {
            whoami(&server, "hook-bob").await.refused(401, "Unauthorized");
            assert!(start.elapsed() < Duration::from_secs(30), "{why} is not in {}", server.log());
        }
    }
    assert!(!server.log().contains("secret detail"), "an answer in the log");
    *conduct.lock().unwrap() = judge;
    let start = Instant::now();
    while whoami(&server, "hook-bob").await.status != 201 {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", server.log());
    }
}

/// Certificates are renewed in place: the server shows the new one without a restart.
#[tokio::test]
async fn a_renewed_certificate_is_shown_to_the_webhook() {
    let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
    let first = site.issue(folder.path());
    let user = "client-certificate: caller.pem, client-key: caller.key";
    let file = site.kubeconfig(folder.path(), "/authenticate", user);
    let webhook = site.start(judge).await;
    let server = TestServer::options()
        .flag(format!("--authentication-token-webhook-config-file={}", file.display()))
        .flag("--authentication-token-webhook-cache-ttl=1ms")
        .start()
        .await;
    whoami(&server, "hook-bob").await.expect(201);
    assert_eq!(webhook.seen().pop().unwrap().certificate, first.to_vec());
    let renewed = site.issue(folder.path());
    let start = Instant::now();
    loop {
        whoami(&server, "hook-bob").await.expect(201);
        if webhook.seen().pop().unwrap().certificate == renewed.to_vec() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the webhook is shown the old certificate");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// CVE-2022-3172, CVE-2020-8561: a webhook cannot make the server ask somebody else, and what it says is
/// shown to nobody.
#[tokio::test]
async fn a_webhook_cannot_send_the_server_elsewhere() {
    let (site, options, _folder) = options().await;
    let inside = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = inside.local_addr().unwrap();
    let targets = ["http", "https"].map(|scheme| format!("{scheme}://{address}/latest/meta-data"));
    let next = Mutex::new(targets.into_iter().cycle());
    let webhook = site.start(move |_| Reply::Redirect(next.lock().unwrap().next().unwrap())).await;
    let server = options.start().await;
    for user in 0..4 {
        let refused = whoami(&server, &format!("hook-{user}")).await;
        assert_eq!(refused.refused(401, "Unauthorized"), "Unauthorized");
        assert!(!refused.text().contains("secret detail"), "{}", refused.text());
    }
    server.logged("answered 307").await;
    assert!(!webhook.seen().is_empty());
    let followed = tokio::time::timeout(Duration::from_millis(300), inside.accept()).await;
    assert!(followed.is_err(), "the server went where it was sent");
    assert!(!server.log().contains("secret detail"), "an answer in the log");
}

/// Probes count for nobody, so that they tell of the server; but each unknown token is a call of the webhook.
#[tokio::test]
async fn probes_with_tokens_are_limited_like_other_requests() {
    let (site, options, _folder) = options().await;
    let webhook = site.start(|_: &Seen| Reply::Nothing).await;
    let server = options.flag("--max-requests-per-address=2").start().await;
    let tokens: Vec<String> = (0..8).map(|number| format!("unknown-{number}")).collect();
    let clients: Vec<_> = tokens.iter().map(|token| server.without_credentials().with_token(token)).collect();
    // Two wait for the webhook until this test ends.
    let answers = join_all(clients.iter().map(|client| async {
        tokio::time::timeout(Duration::from_secs(3), client.get("/livez")).await.ok()
    }));
    let refused = answers.await.into_iter().flatten().map(|answer| answer.status);
    assert_eq!(refused.collect::<Vec<_>>(), [429; 6]);
    let asked: usize = tokens.iter().map(|token| asked_about(&webhook, token)).sum();
    assert!(asked <= 2, "{asked} tokens were judged at a time");
    assert_eq!(server.without_credentials().get("/livez").await.status, 200);
}
