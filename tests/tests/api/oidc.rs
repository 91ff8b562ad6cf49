//! Tokens of an OpenID Connect provider that flags describe: whom they make, what is refused, and what the
//! server does while the provider changes its keys, is slow, is wrong or is gone.

use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    client::Answer,
    objects::{CONFIG_MAPS, NAMESPACES},
    server::ServerOptions,
};
use serde_json::{Value, json};

use crate::{
    issuer::{CLIENT_ID, Key, Provider, key_set},
    remote::Reply,
};

const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const TOKEN_REVIEWS: &str = "/apis/authentication.orch.io/v1/tokenreviews";

/// Longer than the pause between two fetches of keys.
const PAUSE: Duration = Duration::from_millis(5500);

/// A server that trusts a provider, and the folder with its authority.
fn options(provider: &Provider) -> (ServerOptions, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = provider.site.authority_file(folder.path());
    let options = TestServer::options()
        .flag(format!("--oidc-issuer-url={}", provider.site.url()))
        .flag(format!("--oidc-client-id={CLIENT_ID}"))
        .flag(format!("--oidc-ca-file={}", file.display()))
        .flag("--oidc-signing-algs=RS256,ES256")
        .flag("--oidc-groups-claim=groups")
        .flag("--log-level=debug");
    (options, folder)
}

async fn whoami(server: &TestServer, token: &str) -> Answer {
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    server.without_credentials().with_token(token).post(SELF_REVIEWS, &review).await
}

async fn refused(server: &TestServer, token: &str, why: &str) {
    whoami(server, token).await.refused(401, "Unauthorized");
    server.logged(why).await;
    assert!(!server.log().contains(token), "a token in the log");
}

#[tokio::test]
async fn a_token_of_the_provider_makes_its_bearer_a_user() {
    let key = Key::new("a");
    let provider = Provider::start(&[&key]).await;
    let (options, _folder) = options(&provider);
    let server =
        options.flag("--oidc-required-claim=tenant=t").flag("--oidc-groups-prefix=oidc:").start().await;
    let mut claims = provider.claims("alice");
    claims["groups"] = json!(["devs", "ops"]);
    claims["tenant"] = json!("t");
    claims["jti"] = json!("7");
    let token = key.sign(&claims);
    let name = format!("{}#alice", provider.site.url());
    let info = whoami(&server, &token).await.expect(201)["status"]["userInfo"].clone();
    assert_eq!(
        info,
        json!({
            "username": name,
            "groups": ["oidc:devs", "oidc:ops", "system:authenticated"],
            "extra": {"authentication.orch.io/credential-id": ["JTI=7"]},
        })
    );
    // The token is for this server, also where somebody else asks about it.
    let review = json!({
        "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview", "spec": {"token": token},
    });
    let status = server.admin().post(TOKEN_REVIEWS, &review).await.expect(201)["status"].clone();
    assert_eq!((&status["authenticated"], &status["user"]["username"]), (&json!(true), &json!(name)));
    // Rights go by the name and the groups.
    let alice = server.without_credentials().with_token(&token);
    alice.get(CONFIG_MAPS).await.refused(403, "Forbidden");
    let binding = json!({
        "apiVersion": "rbac.authorization.orch.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "devs"},
        "roleRef": {"apiGroup": "rbac.authorization.orch.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.orch.io", "kind": "Group", "name": "oidc:devs"}],
    });
    let bindings = "/apis/rbac.authorization.orch.io/v1/clusterrolebindings";
    server.admin().post(bindings, &binding).await.expect(201);
    alice.get(CONFIG_MAPS).await.expect(200);
    // Other methods go on beside it.
    server.admin().get(NAMESPACES).await.expect(200);
    server.administrator().get(NAMESPACES).await.expect(200);
    assert_eq!(provider.fetches(), 1);
    // The provider is told nothing.
    for seen in provider.seen() {
        assert_eq!((seen.authorization.as_str(), seen.body.as_str()), ("", ""), "{}", seen.path);
    }
}

#[tokio::test]
async fn groups_may_stand_in_another_place() {
    let (key, stranger) = (Key::new("a"), Key::new("a"));
    let provider = Provider::start(&[&key]).await;
    let (options, _folder) = options(&provider);
    let server = options.start().await;
    let url = provider.site.url();
    // Each token is another one, because what was accepted is remembered.
    let token = |id: u32, source: &Value| {
        let mut claims = provider.claims("alice");
        claims["jti"] = json!(id);
        claims["_claim_names"] = json!({"groups": "there"});
        claims["_claim_sources"] = json!({"there": source});
        key.sign(&claims)
    };
    let place = |groups: String| provider.conduct.lock().unwrap().groups = groups;
    let there = json!({"endpoint": format!("{url}/groups"), "access_token": "secret"});
    place(key.sign(&provider.claims_with("alice", "groups", json!(["devs", "ops"]))));
    let first = token(1, &there);
    for _ in 0..2 {
        let info = whoami(&server, &first).await.expect(201)["status"]["userInfo"].clone();
        assert_eq!(info["groups"], json!(["devs", "ops", "system:authenticated"]));
    }
    let asked: Vec<String> = provider
        .seen()
        .into_iter()
        .filter(|seen| seen.path == "/groups")
        .map(|seen| seen.authorization)
        .collect();
    assert_eq!(asked, ["Bearer secret"]);
    let open = json!({"endpoint": format!("{url}/groups")});
    whoami(&server, &token(2, &open)).await.expect(201);
    assert_eq!(provider.seen().pop().unwrap().authorization, "");
    let other = |claim: &str, value: Value| key.sign(&provider.claims_with("alice", claim, value));
    let groups = json!(["devs"]);
    for (id, answer, why) in [
        (3, "{}".to_owned(), "what is there is no signed token"),
        (4, stranger.sign(&provider.claims_with("alice", "groups", groups)), "of what is there"),
        (5, other("groups", Value::Null), "it is not in the token that is there"),
        (6, other("groups", json!(1)), "is neither a text nor a list of texts"),
        (7, other("iss", json!("https://other.example")), "is the token of another issuer"),
        (8, other("aud", json!("other")), "it is for other audiences"),
        (9, other("exp", json!(1)), "it has expired"),
    ] {
        place(answer);
        refused(&server, &token(id, &there), why).await;
    }
    for (id, source, why) in [
        (10, json!({"endpoint": format!("{url}/nowhere")}), "404"),
        (11, json!({"endpoint": url.replace("https", "http")}), "must begin with https://"),
        (12, json!({"endpoint": "https://127.0.0.1:1/groups"}), "127.0.0.1:1"),
        (13, json!({"JWT": "a.b.c"}), "has no endpoint"),
    ] {
        refused(&server, &token(id, &source), why).await;
    }
    assert!(!server.log().contains("secret"), "an access token in the log");
}

#[tokio::test]
async fn wrong_tokens_are_refused() {
    let (key, stranger) = (Key::new("a"), Key::new("a"));
    let provider = Provider::start(&[&key]).await;
    let (options, _folder) = options(&provider);
    let server =
        options.flag("--oidc-username-claim=email").flag("--oidc-required-claim=tenant=t").start().await;
    let with = |claim: &str, value: Value| {
        let mut claims = provider.claims_with("alice", claim, value);
        for (name, value) in [("email", json!("a@b")), ("tenant", json!("t"))] {
            if name != claim {
                claims[name] = value;
            }
        }
        claims
    };
    let right = with("", json!(""));
    whoami(&server, &key.sign(&right)).await.expect(201);
    for (claims, why) in [
        (with("exp", json!(1)), "it has expired"),
        (with("exp", Value::Null), "it has no end"),
        (with("nbf", json!(9_999_999_999_u64)), "it is not good yet"),
        (with("aud", json!("other")), "it is for other audiences"),
        (with("aud", Value::Null), "it is for other audiences"),
        (with("email_verified", json!(false)), "email_verified"),
        (with("email", Value::Null), "is missing"),
        (with("tenant", json!("u")), "has another value than the required one"),
        (with("tenant", json!(["t"])), "is no text"),
        (with("groups", json!({"a": 1})), "is neither a text nor a list of texts"),
        (with("_claim_names", json!({"groups": "src1"})), "the source of the claim"),
        (with("iss", json!("https://other.example")), "the bearer token is not valid"),
        (with("iss", Value::Null), "the bearer token is not valid"),
    ] {
        refused(&server, &key.sign(&claims), why).await;
    }
    let unaccepted = "has an algorithm that is not accepted";
    for algorithm in ["none", "HS256", "ES384", "PS256"] {
        refused(&server, &key.sign_as(&json!({"alg": algorithm, "kid": "a"}), &right), unaccepted).await;
    }
    let unsigned = "no key of the issuer has made the signature";
    refused(&server, &stranger.sign(&right), unsigned).await;
    refused(&server, &key.sign_as(&json!({"alg": "RS256", "kid": "a"}), &right), unsigned).await;
    let token = key.sign(&right);
    let (rest, _) = token.rsplit_once('.').unwrap();
    refused(&server, &format!("{rest}."), unsigned).await;
    whoami(&server, &token).await.expect(201);
}

#[tokio::test]
async fn keys_rotate_and_the_provider_is_not_asked_too_often() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let provider = Provider::start(&[&old]).await;
    let (options, _folder) = options(&provider);
    let server = options.start().await;
    whoami(&server, &old.sign(&provider.claims("alice"))).await.expect(201);
    assert_eq!(provider.fetches(), 1);
    // Tokens of keys that nobody knows: however many come, few questions follow.
    let start = Instant::now();
    for number in 0..50 {
        let token = new.sign(&provider.claims(&format!("user-{number}")));
        whoami(&server, &token).await.refused(401, "Unauthorized");
    }
    let most = 1 + start.elapsed().as_secs() / 5 + 1;
    assert!(provider.fetches() as u64 <= most, "{} fetches", provider.fetches());
    // A new key is found without a restart, and one that was withdrawn counts no longer.
    provider.conduct.lock().unwrap().keys = key_set(&[&new]);
    tokio::time::sleep(PAUSE).await;
    whoami(&server, &new.sign(&provider.claims("bob"))).await.expect(201);
    whoami(&server, &old.sign(&provider.claims("carol"))).await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn a_provider_that_comes_later_is_found() {
    let key = Key::new("a");
    let mut provider = Provider::absent(&[&key]).await;
    let (options, _folder) = options(&provider);
    let server = options.start().await;
    refused(&server, &key.sign(&provider.claims("alice")), "the keys of the issuer are not known").await;
    server.logged("the keys of an issuer of tokens cannot be fetched").await;
    server.admin().get(NAMESPACES).await.expect(200);
    provider.listen().await;
    tokio::time::sleep(PAUSE).await;
    whoami(&server, &key.sign(&provider.claims("bob"))).await.expect(201);
    // Keys that are known stay good when it is gone.
    provider.conduct.lock().unwrap().instead = Some(|| Reply::Answer(500, String::new()));
    tokio::time::sleep(PAUSE).await;
    let stranger = Key::new("b");
    whoami(&server, &stranger.sign(&provider.claims("eve"))).await.refused(401, "Unauthorized");
    whoami(&server, &key.sign(&provider.claims("carol"))).await.expect(201);
}

#[tokio::test]
async fn a_provider_that_is_slow_or_wrong_keeps_nobody_else_waiting() {
    let key = Key::new("a");
    let provider = Provider::start(&[&key]).await;
    let (options, _folder) = options(&provider);
    let server = options.start().await;
    for (instead, why) in [
        (Some((|| Reply::Answer(200, "[".repeat(100_000))) as fn() -> Reply), "is no discovery document"),
        (Some(|| Reply::Answer(200, " ".repeat(2_000_000))), "larger than 1048576 bytes"),
        (Some(|| Reply::Answer(302, String::new())), "the server answered 302"),
        (Some(|| Reply::Nothing), "no answer within"),
        (None, "this is the document of the issuer"),
    ] {
        {
            let mut conduct = provider.conduct.lock().unwrap();
            conduct.instead = instead;
            "https://other.example".clone_into(&mut conduct.name);
        }
        let waiting = key.sign(&provider.claims(why));
        let waiting = whoami(&server, &waiting);
        let others = async {
            let start = Instant::now();
            for _ in 0..20 {
                server.admin().get(NAMESPACES).await.expect(200);
            }
            start.elapsed()
        };
        let (answer, elapsed) = tokio::join!(waiting, others);
        answer.refused(401, "Unauthorized");
        server.logged(why).await;
        assert!(elapsed < Duration::from_secs(8), "{why}: others waited for {elapsed:?}");
        tokio::time::sleep(PAUSE).await;
    }
    provider.conduct.lock().unwrap().name = provider.site.url();
    whoami(&server, &key.sign(&provider.claims("alice"))).await.expect(201);
}
