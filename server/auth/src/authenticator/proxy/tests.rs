//! Proxies with certificates of a test authority.

use std::time::SystemTime;

use rustls_pki_types::CertificateDer;

use super::{ProxyAuthenticator, ProxyConfig, ProxyHeaders};
use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials, Headers, certificate::PeerCertificates},
    error::AuthError,
    testing::{Authority, END, at, now},
};

/// Headers as a list of names in lower case and values.
struct List(Vec<(&'static str, &'static [u8])>);

impl Headers for List {
    fn values<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a [u8]> + 'a> {
        Box::new(self.0.iter().filter(move |header| header.0 == name).map(|header| header.1))
    }

    fn with_prefix<'a>(&'a self, prefix: &'a str) -> Box<dyn Iterator<Item = (&'a str, &'a [u8])> + 'a> {
        Box::new(self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, *value))))
    }
}

type Outcome = Result<Option<Authenticated>, AuthError>;

fn proxy(authority: &Authority, allowed_names: &[&str]) -> ProxyAuthenticator {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (_guard, ca_file) = authority.file();
    let headers = ProxyHeaders {
        user: owned(&["x-remote-user", "x-login"]),
        uid: owned(&["x-remote-uid"]),
        group: owned(&["x-remote-group", "x-team"]),
        extra_prefixes: owned(&["x-remote-extra-"]),
    };
    let config = ProxyConfig { ca_file, allowed_names: owned(allowed_names), headers };
    ProxyAuthenticator::new(&config, &[]).unwrap()
}

fn ask_at(proxy: &ProxyAuthenticator, peer: &PeerCertificates, headers: &List, time: SystemTime) -> Outcome {
    match proxy.authenticate(&Credentials::new(peer, None, time).with_headers(headers)) {
        Answer::Ready(answer) => answer,
        Answer::Later(_) => panic!("headers are read at once"),
    }
}

fn ask(proxy: &ProxyAuthenticator, chain: &[CertificateDer<'static>], headers: &List) -> Outcome {
    ask_at(proxy, &PeerCertificates::new(chain.to_vec()), headers, now())
}

fn problem(outcome: Outcome) -> String {
    let error = outcome.expect_err("the headers must not count");
    assert!(error.is_credential());
    error.to_string()
}

#[test]
fn a_proxy_names_the_user() {
    let authority = Authority::new("proxies");
    let chain = [authority.issue("front", |_| {})];
    let headers = List(vec![
        ("x-remote-user", b""),
        ("x-login", b"eve"),
        ("x-remote-uid", b"7"),
        ("x-team", b"ops"),
        ("x-remote-group", b"devs"),
        ("x-remote-group", b""),
        ("x-remote-group", b"a, b"),
        ("x-remote-extra-scopes", b"view"),
        ("x-remote-extra-scopes", b"edit"),
        ("x-remote-extra-example.com%2fkey", b"v"),
        ("x_remote_group", b"system:masters"),
    ]);
    for allowed in [&[][..], &["front"], &["other", "front"]] {
        let identity = ask(&proxy(&authority, allowed), &chain, &headers).unwrap().unwrap();
        let user = identity.user();
        assert_eq!((identity.method(), user.name.as_str(), user.uid.as_str()), ("proxy", "eve", "7"));
        assert_eq!(user.groups, ["devs", "a, b", "ops", "system:authenticated"]);
        assert_eq!(user.extra["scopes"], ["view", "edit"]);
        assert_eq!(user.extra["example.com/key"], ["v"]);
        assert_eq!(user.extra.len(), 2);
    }
}

#[test]
fn nobody_else_names_users() {
    let (authority, users) = (Authority::new("proxies"), Authority::new("users"));
    let proxy = proxy(&authority, &["front"]);
    let headers = List(vec![("x-remote-user", b"admin"), ("x-remote-group", b"system:masters")]);
    // Without a certificate the headers are no credential at all.
    assert!(ask(&proxy, &[], &headers).unwrap().is_none());
    for (chain, expected) in [
        ([users.issue("front", |_| {})], "not that of a proxy"),
        ([Authority::new("proxies").issue("front", |_| {})], "not that of a proxy"),
        ([authority.issue("back", |_| {})], "not an allowed one"),
        ([authority.issue("", |_| {})], "not an allowed one"),
    ] {
        let problem = problem(ask(&proxy, &chain, &headers));
        assert!(problem.contains(expected), "{problem}");
    }
    let peer = PeerCertificates::new(vec![authority.issue("front", |_| {})]);
    assert!(problem(ask_at(&proxy, &peer, &headers, at(END + 1))).contains("not that of a proxy"));
}

#[test]
fn a_proxy_is_verified_again_when_its_authority_may_be_gone() {
    let (authority, other) = (Authority::new("proxies"), Authority::new("other"));
    let peer = PeerCertificates::new(vec![authority.issue("front", |_| {})]);
    let headers = List(vec![("x-remote-user", b"eve")]);
    let trusting = proxy(&authority, &[]);
    assert!(ask_at(&trusting, &peer, &headers, now()).unwrap().is_some());
    problem(ask_at(&proxy(&other, &[]), &peer, &headers, now()));
    assert!(ask_at(&trusting, &peer, &headers, at(END)).unwrap().is_some());
    problem(ask_at(&trusting, &peer, &headers, at(END + 1)));
}

#[test]
fn headers_without_a_user_are_no_credential_and_odd_ones_are_refused() {
    let authority = Authority::new("proxies");
    let chain = [authority.issue("front", |_| {})];
    let proxy = proxy(&authority, &[]);
    for headers in [vec![], vec![("x-remote-user", &b""[..])], vec![("x-remote-group", b"devs")]] {
        assert!(ask(&proxy, &chain, &List(headers)).unwrap().is_none());
    }
    for (headers, expected) in [
        (vec![("x-remote-user", &b"eve"[..]), ("x-remote-user", b"admin")], "has several"),
        (vec![("x-remote-user", b"eve"), ("x-remote-uid", b"1"), ("x-remote-uid", b"2")], "has several"),
        (vec![("x-remote-user", b"\xff")], "UTF-8"),
        (vec![("x-remote-user", b"eve"), ("x-remote-group", b"\xff")], "UTF-8"),
        (vec![("x-remote-user", b"eve"), ("x-remote-extra-%ff", b"x")], "UTF-8"),
    ] {
        let problem = problem(ask(&proxy, &chain, &List(headers)));
        assert!(problem.contains(expected), "{problem}");
    }
}

/// Else each user could say to be anybody.
#[test]
fn an_authority_for_users_needs_the_names_of_proxies() {
    let (authority, other) = (Authority::new("users"), Authority::new("proxies"));
    let ((_users_guard, users), (_other_guard, proxies)) = (authority.file(), other.file());
    for (ca_file, allowed_names, is_refused) in
        [(&users, vec![], true), (&users, vec!["front-proxy".to_owned()], false), (&proxies, vec![], false)]
    {
        let config =
            ProxyConfig { ca_file: ca_file.clone(), allowed_names, headers: ProxyHeaders::default() };
        let read = ProxyAuthenticator::new(&config, std::slice::from_ref(&users));
        assert_eq!(read.is_err(), is_refused, "{config:?}");
    }
}
