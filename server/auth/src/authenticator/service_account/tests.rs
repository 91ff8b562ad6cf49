//! Each reason to refuse a token, once.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_runtime::vocabulary::EXAMPLE;
use serde_json::{Value, json};

use super::*;
use crate::{
    authenticator::certificate::PeerCertificates,
    service_account::{Found, Grant, SigningKey},
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
}

fn named(name: &str) -> Named {
    Named { name: name.to_owned(), uid: format!("u-{name}") }
}

fn key() -> SigningKey {
    let key = rcgen::KeyPair::generate().unwrap();
    SigningKey::from_pkcs8(&key.serialize_der()).unwrap()
}

fn issuer() -> Arc<TokenIssuer> {
    Arc::new(TokenIssuer::new(key(), ISSUER.to_owned(), Vec::new(), &EXAMPLE))
}

fn grant() -> Grant {
    Grant {
        namespace: "n".to_owned(),
        account: named("robot"),
        audiences: vec![ISSUER.to_owned(), "others".to_owned()],
        bound: None,
        node: None,
        issued: START,
        expires: START + 600,
    }
}

/// The result for a token so many seconds after the start, presented to these audiences.
fn shown(
    tokens: &Arc<TokenIssuer>,
    token: &str,
    after: u64,
    audiences: &[String],
) -> Result<Option<Authenticated>, String> {
    let authenticator = ServiceAccountAuthenticator::new(Arc::clone(tokens), Box::new(Everything), &EXAMPLE);
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
    let prefix = "authentication.example.io";
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
    let other = Named { name: "robot".to_owned(), uid: "old".to_owned() };
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
    let elsewhere = TokenIssuer::new(key(), "https://elsewhere.example.io".to_owned(), Vec::new(), &EXAMPLE);
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
    let same_issuer = Arc::new(TokenIssuer::new(key(), ISSUER.to_owned(), Vec::new(), &EXAMPLE));
    assert_eq!(shown(&same_issuer, &token, 0, &[]), not_ours);
}
