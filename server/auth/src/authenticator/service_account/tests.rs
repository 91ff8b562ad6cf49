//! Each reason to refuse a token, once.

use std::sync::atomic::{AtomicBool, Ordering};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_runtime::vocabulary::EXAMPLE;
use rustls_pki_types::PrivateKeyDer;
use serde_json::{Value, json};

use super::*;
use crate::{
    authenticator::certificate::PeerCertificates,
    service_account::{Found, Grant, Lifetime, PublicKey, SigningKey, TokenConfig},
    testing::at,
};

const START: i64 = 1_700_000_000;
const ISSUER: &str = "https://issuer.example.io";

/// Every object exists with the uid `u-<name>`, except `gone`; `going` is being deleted at the start.
struct Everything;

impl Directory for Everything {
    fn find(&self, _kind: Kind, _namespace: &str, name: &str) -> Option<Found> {
        let deleted_at = (name == "going").then_some(START);
        (name != "gone").then(|| Found { uid: format!("u-{name}"), deleted_at })
    }

    fn token_held(&self, _namespace: &str, _secret: &str) -> Option<TokenDigest> {
        None
    }
}

fn named(name: &str) -> BoundObject {
    BoundObject { name: name.to_owned(), uid: format!("u-{name}") }
}

fn key() -> SigningKey {
    let key = rcgen::KeyPair::generate().unwrap();
    SigningKey::from_der(&PrivateKeyDer::Pkcs8(key.serialize_der().into())).unwrap()
}

/// Signs with a key of its own, and accepts those of `further` too.
fn issuer_with(further: Vec<PublicKey>, issuers: &[&str]) -> Arc<TokenIssuer> {
    let issuers = issuers.iter().map(|&issuer| issuer.to_owned()).collect();
    let config = TokenConfig { issuers, ..TokenConfig::default() };
    Arc::new(TokenIssuer::new(Keys::new(key(), further), &config, &[], &EXAMPLE))
}

fn issuer() -> Arc<TokenIssuer> {
    issuer_with(Vec::new(), &[ISSUER])
}

fn grant() -> Grant {
    Grant {
        id: Grant::new_id(),
        namespace: "n".to_owned(),
        account: named("robot"),
        audiences: vec![ISSUER.to_owned(), "others".to_owned()],
        bound: None,
        node: None,
        issued: START,
        expires: START + 600,
        warn_after: None,
    }
}

/// The result for a token so many seconds after the start, presented to these audiences.
fn shown(
    tokens: &Arc<TokenIssuer>,
    token: &str,
    after: u64,
    audiences: &[String],
) -> Result<Option<Authenticated>, String> {
    shown_to(tokens, Box::new(Everything), token, after, audiences)
}

fn shown_to(
    tokens: &Arc<TokenIssuer>,
    directory: Box<dyn Directory>,
    token: &str,
    after: u64,
    audiences: &[String],
) -> Result<Option<Authenticated>, String> {
    let authenticator = ServiceAccountAuthenticator::new(Arc::clone(tokens), directory, &EXAMPLE);
    let peer = PeerCertificates::default();
    let header = format!("Bearer {token}");
    let now = at(START.cast_unsigned() + after);
    let credentials = Credentials::new(&peer, Some(header.as_bytes()), now).for_audiences(audiences);
    authenticator.accept(&credentials).map_err(|error| error.to_string())
}

#[test]
fn a_token_identifies_its_account() {
    let tokens = issuer();
    let bound = Grant { bound: Some((Kind::Pod, named("p"))), node: Some(named("m")), ..grant() };
    let identity = shown(&tokens, &tokens.issue(&bound).unwrap(), 0, &[]).unwrap().unwrap();
    assert_eq!(identity.audiences(), [ISSUER]);
    let user = identity.user();
    assert_eq!((&user.name[..], &user.uid[..]), ("system:serviceaccount:n:robot", "u-robot"));
    assert_eq!(user.groups, ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]);
    let extra: Vec<&str> = user.extra.keys().map(String::as_str).collect();
    let prefix = "authentication.example.com";
    let keys = ["credential-id", "node-name", "node-uid", "pod-name", "pod-uid"];
    assert_eq!(extra, keys.map(|key| format!("{prefix}/{key}")));
    assert_eq!(user.extra[&format!("{prefix}/pod-uid")], ["u-p"]);
    assert!(user.extra[&format!("{prefix}/credential-id")][0].starts_with("JTI="));
    let for_others = shown(&tokens, &tokens.issue(&grant()).unwrap(), 0, &["others".to_owned()]);
    assert_eq!(for_others.unwrap().unwrap().audiences(), ["others"]);
}

#[test]
fn each_reason_to_refuse_a_token() {
    let tokens = issuer();
    let refused = |grant: Grant, after, audiences: &[&str], why: &str| {
        let audiences: Vec<String> = audiences.iter().map(|&audience| audience.to_owned()).collect();
        let answer = shown(&tokens, &tokens.issue(&grant).unwrap(), after, &audiences);
        assert_eq!(answer, Err(format!("the service account token is not valid: {why}")), "{grant:?}");
    };
    let bound = |kind, named| Grant { bound: Some((kind, named)), ..grant() };
    refused(grant(), 601, &[], "the token has expired");
    refused(Grant { issued: START + 10, ..grant() }, 0, &[], "the token is not good yet");
    refused(grant(), 0, &["nobody"], "the token is for other audiences");
    refused(
        Grant { audiences: vec!["others".to_owned()], ..grant() },
        0,
        &[],
        "the token is for other audiences",
    );
    refused(Grant { account: named("gone"), ..grant() }, 0, &[], "the ServiceAccount is gone");
    refused(Grant { account: named("going"), ..grant() }, 61, &[], "the ServiceAccount has been deleted");
    let other = BoundObject { name: "robot".to_owned(), uid: "old".to_owned() };
    refused(Grant { account: other.clone(), ..grant() }, 0, &[], "the ServiceAccount is another one by now");
    refused(bound(Kind::Pod, named("gone")), 0, &[], "the Pod is gone");
    refused(bound(Kind::Secret, other), 0, &[], "the Secret is another one by now");
    refused(bound(Kind::Node, named("going")), 61, &[], "the Node has been deleted");
    assert!(
        shown(&tokens, &tokens.issue(&Grant { account: named("going"), ..grant() }).unwrap(), 60, &[])
            .is_ok()
    );
    assert!(shown(&tokens, &tokens.issue(&grant()).unwrap(), 600, &[]).is_ok());
}

#[test]
fn tokens_of_other_issuers_are_left_to_other_methods() {
    let tokens = issuer();
    let token = tokens.issue(&grant()).unwrap();
    let elsewhere = issuer_with(Vec::new(), &["https://elsewhere.example.io"]);
    for other in ["secret", "a.b", "a.b.c", "..", &elsewhere.issue(&grant()).unwrap()] {
        assert_eq!(shown(&tokens, other, 0, &[]), Ok(None), "{other}");
    }
    let forged = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut parts: Vec<Value> = token
            .split('.')
            .take(2)
            .map(|part| serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
            .collect();
        change(&mut parts);
        let encoded: Vec<String> =
            parts.iter().map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string())).collect();
        format!("{}.{}", encoded.join("."), token.rsplit('.').next().unwrap())
    };
    let not_ours =
        Err("the service account token is not valid: the signature is not the server's".to_owned());
    for change in [
        &(|parts: &mut Vec<Value>| parts[1]["exp"] = json!(START * 2)) as &dyn Fn(&mut Vec<Value>),
        &|parts| parts[1]["sub"] = json!("system:serviceaccount:n:admin"),
        &|parts| parts[0]["alg"] = json!("none"),
        &|parts| parts[0]["alg"] = json!("HS256"),
    ] {
        assert_eq!(shown(&tokens, &forged(change), 0, &[]), not_ours);
    }
    let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
    assert_eq!(shown(&tokens, &unsigned, 0, &[]), not_ours);
    assert_eq!(shown(&issuer(), &token, 0, &[]), not_ours);
}

#[test]
fn tokens_of_every_key_and_every_issuer_are_accepted() {
    let (old, other) = (issuer_with(Vec::new(), &["https://old.example.io"]), issuer());
    let further = vec![first(&old), first(&other), first(&old)];
    let tokens = issuer_with(further, &[ISSUER, "https://old.example.io"]);
    assert_eq!(tokens.keys().accepted().len(), 3);
    assert_eq!(tokens.issuer(), ISSUER);
    assert_eq!(tokens.audiences(), [ISSUER, "https://old.example.io"]);
    for known in [&old, &other, &tokens] {
        let token = known.issue(&grant()).unwrap();
        assert!(shown(&tokens, &token, 0, &[]).unwrap().is_some());
    }
    // Its key is not known.
    let token = issuer_with(Vec::new(), &["https://old.example.io"]).issue(&grant()).unwrap();
    shown(&tokens, &token, 0, &[]).unwrap_err();
    // A token without audiences is for the server itself.
    let implicit = tokens.issue(&Grant { audiences: Vec::new(), ..grant() }).unwrap();
    assert_eq!(shown(&tokens, &implicit, 0, &[]).unwrap().unwrap().audiences(), tokens.audiences());
    shown(&tokens, &implicit, 0, &["others".to_owned()]).unwrap_err();
}

#[test]
fn tokens_of_a_key_that_is_gone_are_refused_at_once() {
    let tokens = issuer();
    let method = ServiceAccountAuthenticator::new(Arc::clone(&tokens), Box::new(Everything), &EXAMPLE);
    let accepts = |token: &str| {
        let (peer, header) = (PeerCertificates::default(), format!("Bearer {token}"));
        let credentials = Credentials::new(&peer, Some(header.as_bytes()), at(START.cast_unsigned()));
        method.accept(&credentials).is_ok()
    };
    let before = tokens.issue(&grant()).unwrap();
    assert!(accepts(&before) && accepts(&before));
    assert!(tokens.replace_keys(Keys::new(key(), vec![first(&tokens)])));
    let next = tokens.issue(&grant()).unwrap();
    assert!(accepts(&before) && accepts(&next));
    assert!(tokens.replace_keys(Keys::new(key(), vec![first(&tokens)])));
    assert!(!accepts(&before) && accepts(&next));
}

/// A review may name as many audiences as fit into a request.
#[test]
fn many_audiences_of_a_token_and_of_a_review_are_compared_at_once() {
    let tokens = issuer();
    let many = |prefix: &str, count: u32| -> Vec<String> {
        (0..count).map(|number| format!("{prefix}{number}")).collect()
    };
    let token = tokens.issue(&Grant { audiences: many("t", 5_000), ..grant() }).unwrap();
    let asked = [many("r", 100_000), vec!["t7".to_owned()]].concat();
    let began = Instant::now();
    let found = shown(&tokens, &token, 0, &asked).unwrap().unwrap();
    assert_eq!(found.audiences(), ["t7"]);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let too_long = tokens.issue(&Grant { audiences: many("t", 20_000), ..grant() }).unwrap();
    assert_eq!(shown(&tokens, &too_long, 0, &asked), Ok(None));
}

fn first(tokens: &TokenIssuer) -> PublicKey {
    tokens.keys().accepted()[0].clone()
}

#[test]
fn lifetimes_are_shortened_and_those_that_pods_renew_are_extended() {
    let config = TokenConfig { max_lifetime: Some(7200), ..TokenConfig::default() };
    let plain = TokenConfig { extends_lifetime: false, ..TokenConfig::default() };
    let issuer = |config: &TokenConfig| TokenIssuer::new(Keys::new(key(), Vec::new()), config, &[], &EXAMPLE);
    let (own, others) = (issuer(&config).audiences().to_vec(), vec!["others".to_owned()]);
    let year = 365 * 24 * 60 * 60;
    for (config, asked, audiences, is_for_pod, told, real) in [
        (&config, 600, &own, true, 600, 600),
        (&config, 7200, &own, false, 7200, 7200),
        (&config, 7201, &own, false, 7200, 7200),
        (&config, 3607, &own, true, 3607, year),
        (&config, 3607, &own, false, 3607, 3607),
        (&config, 3607, &others, true, 3607, 3607),
        (&plain, 3607, &own, true, 3607, 3607),
        (&plain, 1 << 32, &own, true, 1 << 32, 1 << 32),
    ] {
        let warn_after = (told != real).then_some(told);
        let expected = Lifetime { told, real, warn_after };
        assert_eq!(issuer(config).lifetime(asked, audiences, is_for_pod), expected, "{asked} {audiences:?}");
    }
}

/// The account `robot` exists while this is true.
struct Robot(Arc<AtomicBool>);

impl Directory for Robot {
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<Found> {
        self.0.load(Ordering::Relaxed).then(|| Everything.find(kind, namespace, name))?
    }

    fn token_held(&self, _namespace: &str, _secret: &str) -> Option<TokenDigest> {
        None
    }
}

#[test]
fn a_remembered_token_ends_with_its_account_and_its_lifetime() {
    let (tokens, exists) = (issuer(), Arc::new(AtomicBool::new(true)));
    let directory = Box::new(Robot(Arc::clone(&exists)));
    let authenticator = ServiceAccountAuthenticator::new(Arc::clone(&tokens), directory, &EXAMPLE);
    let header = format!("Bearer {}", tokens.issue(&grant()).unwrap());
    let ask = |after: u64, audiences: &[String]| {
        let peer = PeerCertificates::default();
        let now = at(START.cast_unsigned() + after);
        let credentials = Credentials::new(&peer, Some(header.as_bytes()), now).for_audiences(audiences);
        authenticator.accept(&credentials).map(Option::unwrap).map_err(|error| error.to_string())
    };
    let first = ask(0, &[]).unwrap();
    // The same answer, made once.
    assert!(Arc::ptr_eq(first.user(), ask(10, &[]).unwrap().user()));
    // Another question.
    assert_eq!(ask(12, &["others".to_owned()]).unwrap().audiences(), ["others"]);
    ask(12, &["nobody".to_owned()]).unwrap_err();

    exists.store(false, Ordering::Relaxed);
    assert!(ask(12, &[]).unwrap_err().ends_with("the ServiceAccount is gone"));
    exists.store(true, Ordering::Relaxed);
    ask(599, &[]).unwrap();
    assert!(ask(601, &[]).unwrap_err().ends_with("the token has expired"));
}

/// Every secret holds this token.
struct Holding(TokenDigest);

impl Directory for Holding {
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<Found> {
        Everything.find(kind, namespace, name)
    }

    fn token_held(&self, _namespace: &str, _secret: &str) -> Option<TokenDigest> {
        Some(self.0)
    }
}

#[test]
fn a_token_in_a_secret_is_valid_while_the_secret_holds_it() {
    let tokens = issuer();
    let shown = |tokens: &Arc<TokenIssuer>, token: &str, after: u64, audiences: &[String]| {
        let holding = Box::new(Holding(TokenDigest::of(token.as_bytes())));
        shown_to(tokens, holding, token, after, audiences)
    };
    let of = |account: &str, secret: &str| tokens.issue_for_secret("n", &named(account), secret).unwrap();
    let identity = shown(&tokens, &of("robot", "s"), 1 << 40, &[]).unwrap().unwrap();
    let user = identity.user();
    assert_eq!((&user.name[..], &user.uid[..]), ("system:serviceaccount:n:robot", "u-robot"));
    assert_eq!(user.groups, ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]);
    assert!(user.extra.is_empty());
    assert_eq!(identity.audiences(), [ISSUER]);
    for (account, secret, after, why) in [
        ("robot", "gone", 0, "the Secret is gone"),
        ("robot", "going", 61, "the Secret has been deleted"),
        ("gone", "s", 0, "the ServiceAccount is gone"),
        ("going", "s", 61, "the ServiceAccount has been deleted"),
    ] {
        let answer = shown(&tokens, &of(account, secret), after, &[]);
        assert_eq!(answer, Err(format!("the service account token is not valid: {why}")), "{secret}");
    }
    let without = shown_to(&tokens, Box::new(Everything), &of("robot", "s"), 0, &[]).unwrap_err();
    assert!(without.ends_with("the secret does not hold the token any more"), "{without}");
    let old = BoundObject { name: "robot".to_owned(), uid: "old".to_owned() };
    let other = tokens.issue_for_secret("n", &old, "s").unwrap();
    assert!(shown(&tokens, &other, 0, &[]).unwrap_err().ends_with("is another one by now"));
    shown(&tokens, &of("robot", "s"), 0, &["nobody".to_owned()]).unwrap_err();
    let foreign = issuer().issue_for_secret("n", &named("robot"), "s").unwrap();
    assert!(shown(&tokens, &foreign, 0, &[]).unwrap_err().ends_with("the signature is not the server's"));

    let config = TokenConfig { looks_up: false, ..TokenConfig::default() };
    let trusting = Arc::new(TokenIssuer::new(Keys::new(key(), Vec::new()), &config, &[], &EXAMPLE));
    let token = trusting.issue_for_secret("n", &named("gone"), "gone").unwrap();
    assert!(shown_to(&trusting, Box::new(Everything), &token, 0, &[]).unwrap().is_some());
}

#[test]
fn the_use_of_tokens_that_should_have_been_renewed_is_counted() {
    let tokens = issuer();
    let token = tokens.issue(&Grant { warn_after: Some(START + 100), ..grant() }).unwrap();
    let plain = tokens.issue(&grant()).unwrap();
    for (token, after, uses) in
        [(&token, 100, (1, 0)), (&token, 101, (1, 1)), (&plain, 101, (1, 1)), (&token, 601, (1, 1))]
    {
        let found = shown(&tokens, token, after, &[]);
        assert_eq!((tokens.extended_uses(), found.is_ok()), (uses, after < 601), "{after}");
        let stale_for = found.ok().flatten().and_then(|caller| caller.stale_for());
        let is_stale = after == 101 && *token != plain;
        assert_eq!(stale_for, is_stale.then_some(1), "{after}");
    }
}
