//! Client certificates from a test authority.

use std::{
    fmt::Write as _,
    io::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use orch_runtime::vocabulary::EXAMPLE;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa,
    string::{BmpString, PrintableString},
};
use rustls_pki_types::CertificateDer;

use super::{CertificateAuthenticator, PeerCertificates, parse, uid};
use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    testing::{Authority, END, START, at, now},
};

type Outcome = Result<Option<Authenticated>, AuthError>;

fn trusting(authority: &Authority) -> CertificateAuthenticator {
    let (_guard, path) = authority.file();
    CertificateAuthenticator::from_files(&[path], &EXAMPLE).unwrap()
}

fn ask_at(authenticator: &CertificateAuthenticator, peer: &PeerCertificates, time: SystemTime) -> Outcome {
    match authenticator.authenticate(&Credentials::new(peer, None, time)) {
        Answer::Ready(answer) => answer,
        Answer::Later(_) => panic!("certificates are checked at once"),
    }
}

fn ask(authenticator: &CertificateAuthenticator, chain: Vec<CertificateDer<'static>>) -> Outcome {
    ask_at(authenticator, &PeerCertificates::new(chain), now())
}

fn refusal(outcome: Outcome) -> String {
    let error = outcome.expect_err("the certificate must be refused");
    assert!(error.is_credential());
    error.to_string()
}

#[test]
fn the_subject_names_the_user_and_the_groups() {
    let authority = Authority::new("ca");
    let leaf = authority.issue("bob", |params| {
        params.distinguished_name.push(DnType::OrganizationName, "devs");
        // A second organisation. The library keeps one value per type, so the type is spelled in another way.
        params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 10]), "ops");
    });
    let identity = ask(&trusting(&authority), vec![leaf.clone()]).unwrap().unwrap();
    let user = identity.user();
    assert_eq!(identity.method(), "certificate");
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("bob", ""));
    assert_eq!(user.groups, ["devs", "ops", "system:authenticated"]);

    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &leaf);
    let mut expected = String::from("X509SHA256=");
    for byte in digest.as_ref() {
        write!(expected, "{byte:02x}").unwrap();
    }
    assert_eq!(user.extra["authentication.example.com/credential-id"], [expected]);
    assert_eq!(user.extra.len(), 1);
}

#[test]
fn the_subject_may_state_a_uid() {
    const UID: &[u64] = &[1, 3, 6, 1, 4, 1, 57683, 2];
    let authority = Authority::new("ca");
    let authenticator = trusting(&authority);
    let utf8 = |text: &str| DnValue::Utf8String(text.to_owned());
    let printable = DnValue::PrintableString(PrintableString::try_from("u 8").unwrap());
    let wide = DnValue::BmpString(BmpString::try_from("u").unwrap());
    let another: &[u64] = &[1, 3, 6, 1, 4, 1, 57683, 3];
    for (attributes, expected) in [
        (vec![], Ok("")),
        (vec![(UID, utf8("u-7"))], Ok("u-7")),
        (vec![(UID, printable)], Ok("u 8")),
        (vec![(another, utf8("u-7"))], Ok("")),
        (vec![(UID, utf8(""))], Err("an empty uid")),
        (vec![(UID, wide)], Err("an unknown encoding")),
    ] {
        let leaf = authority.issue("bob", |params| {
            for (oid, value) in &attributes {
                params.distinguished_name.push(DnType::CustomDnType(oid.to_vec()), value.clone());
            }
        });
        let outcome = ask(&authenticator, vec![leaf]);
        match expected {
            Ok(uid) => assert_eq!(outcome.unwrap().unwrap().user().uid, uid, "{attributes:?}"),
            Err(why) => assert!(refusal(outcome).contains(why), "{attributes:?}"),
        }
    }
}

#[test]
fn a_subject_has_one_uid_at_most() {
    let (first, second): (&[u64], &[u64]) = (&[1, 3, 6, 1, 4, 1, 57683, 2], &[1, 3, 6, 1, 4, 1, 57683, 3]);
    let leaf = Authority::new("ca").issue("bob", |params| {
        for oid in [first, second] {
            params.distinguished_name.push(DnType::CustomDnType(oid.to_vec()), "u-7");
        }
    });
    assert_eq!(uid(&parse(&leaf).unwrap()).unwrap(), "u-7");
    // The library keeps one value per type, so the type of the second one is changed afterwards.
    let mut bytes = leaf.to_vec();
    let ends = [0x83, 0xc2, 0x53, 3];
    let place = bytes.windows(ends.len()).position(|window| window == ends).unwrap();
    bytes[place + 3] = 2;
    let twice = CertificateDer::from(bytes);
    let error = uid(&parse(&twice).unwrap()).unwrap_err();
    assert!(error.is_credential() && error.to_string().contains("more than one uid"), "{error}");
}

#[test]
fn an_authority_that_was_removed_vouches_for_nobody_who_is_connected() {
    let (authority, other) = (Authority::new("ca"), Authority::new("other"));
    let peer = PeerCertificates::new(vec![authority.issue("bob", |_| {})]);
    assert!(ask_at(&trusting(&authority), &peer, now()).unwrap().is_some());
    refusal(ask_at(&trusting(&other), &peer, now()));
    // It can come back.
    assert!(ask_at(&trusting(&authority), &peer, now()).unwrap().is_some());
}

#[test]
fn no_certificate_is_no_credential() {
    assert!(ask(&trusting(&Authority::new("ca")), vec![]).unwrap().is_none());
}

#[test]
fn a_chain_through_an_intermediate_is_accepted_only_when_it_is_presented() {
    let root = Authority::new("root");
    let middle = root.intermediate("middle");
    let leaf = middle.issue("bob", |_| {});
    let authenticator = trusting(&root);
    assert!(ask(&authenticator, vec![leaf.clone(), middle.der()]).unwrap().is_some());
    refusal(ask(&authenticator, vec![leaf]));
}

#[test]
fn a_chain_that_takes_long_to_search_is_refused_without_a_search() {
    let root = Authority::new("root");
    let authenticator = trusting(&root);
    let (middle, same_name) = (root.intermediate("middle"), root.intermediate("middle"));
    let leaf = middle.issue("bob", |_| {});
    let chain = |others: &[CertificateDer<'static>]| [std::slice::from_ref(&leaf), others].concat();
    let twice = [same_name.der(), middle.der()];
    assert!(ask(&authenticator, chain(&twice)).unwrap().is_some());
    let thrice = [&twice[..], &[root.intermediate("middle").der()]].concat();
    let text = refusal(ask(&authenticator, chain(&thrice)));
    assert!(text.contains("more than 2 certificates of one authority"), "{text}");
    let many: Vec<_> = (0..8).map(|n| root.intermediate(&n.to_string()).der()).collect();
    let text = refusal(ask(&authenticator, chain(&[&many[..], &[middle.der()]].concat())));
    assert!(text.contains("more than 8 certificates of authorities"), "{text}");
    assert!(ask(&authenticator, chain(&[&many[..7], &[middle.der()]].concat())).unwrap().is_some());
}

#[test]
fn a_chain_is_searched_once_in_a_second() {
    let (authority, other) = (Authority::new("ca"), Authority::new("other"));
    let peer = PeerCertificates::new(vec![other.issue("bob", |_| {})]);
    let (authenticator, other) = (trusting(&authority), trusting(&authority));
    for _ in 0..3 {
        refusal(ask_at(&authenticator, &peer, now()));
        assert_eq!(peer.refusals(), 1);
    }
    refusal(ask_at(&other, &peer, now()));
    assert_eq!(peer.refusals(), 2);
    refusal(ask_at(&authenticator, &peer, now() + Duration::from_secs(1)));
    assert_eq!(peer.refusals(), 1);
}

#[test]
fn usage_must_be_client_authentication_where_it_is_stated() {
    let authority = Authority::new("ca");
    let authenticator = trusting(&authority);
    for (usages, accepted) in [
        (vec![], true),
        (vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth], true),
        (vec![ExtendedKeyUsagePurpose::ServerAuth], false),
    ] {
        let leaf = authority.issue("bob", |params| params.extended_key_usages.clone_from(&usages));
        assert_eq!(ask(&authenticator, vec![leaf]).is_ok(), accepted, "{usages:?}");
    }
}

#[test]
fn untrusted_certificates_are_refused() {
    let authority = Authority::new("ca");
    let authenticator = trusting(&authority);
    // The same name, but another key.
    let impostor = Authority::new("ca");
    let nameless = |params: &mut CertificateParams| params.distinguished_name = DistinguishedName::new();
    let as_authority =
        |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    for (chain, expected) in [
        (vec![impostor.issue("bob", |_| {})], "InvalidSignature"),
        (vec![Authority::new("other").issue("bob", |_| {})], "UnknownIssuer"),
        (vec![authority.issue("", nameless)], "no common name"),
        (vec![authority.issue("", |_| {})], "no common name"),
        (vec![CertificateDer::from(b"not a certificate".to_vec())], "TrailingData"),
        (vec![authority.issue("bob", as_authority)], "CaUsedAsEndEntity"),
    ] {
        let text = refusal(ask(&authenticator, chain));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn validity_is_judged_at_the_time_of_the_request() {
    let authority = Authority::new("ca");
    let authenticator = trusting(&authority);
    let leaf = authority.issue("bob", |_| {});
    for (time, accepted) in [(START - 1, false), (START, true), (END, true), (END + 1, false)] {
        let peer = PeerCertificates::new(vec![leaf.clone()]);
        let outcome = ask_at(&authenticator, &peer, at(time));
        assert_eq!(outcome.is_ok(), accepted, "{time}");
    }
}

#[test]
fn a_connection_is_verified_once_until_its_certificate_runs_out() {
    let authority = Authority::new("ca");
    let peer = PeerCertificates::new(vec![authority.issue("bob", |_| {})]);
    let authenticator = trusting(&authority);
    let first = ask_at(&authenticator, &peer, now()).unwrap().unwrap();
    for time in [now(), at(END)] {
        let again = ask_at(&authenticator, &peer, time).unwrap().unwrap();
        assert!(Arc::ptr_eq(first.user(), again.user()), "it was verified again");
    }
    refusal(ask_at(&authenticator, &peer, at(END + 1)));
}

#[test]
fn a_refused_certificate_is_not_remembered() {
    let authority = Authority::new("ca");
    let peer = PeerCertificates::new(vec![authority.issue("bob", |_| {})]);
    refusal(ask_at(&trusting(&Authority::new("other")), &peer, now()));
    assert!(ask_at(&trusting(&authority), &peer, now()).unwrap().is_some());
}

#[test]
fn unusable_trust_files_are_named() {
    for (content, expected) in [
        ("", "holds no certificate"),
        ("just text", "holds no certificate"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate 1 cannot be used"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", "not valid PEM"),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        let path = file.path().to_owned();
        let error = CertificateAuthenticator::from_files(std::slice::from_ref(&path), &EXAMPLE).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(path.to_str().unwrap()) && text.contains(expected), "{text}");
        assert!(!error.is_credential());
    }
}
