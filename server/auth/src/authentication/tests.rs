//! Tests of several methods together.

use std::{iter::empty, sync::Arc};

use orch_runtime::vocabulary::{EXAMPLE, Vocabulary};
use rustls_pki_types::CertificateDer;

use super::{Authentication, AuthenticationConfig};
use crate::{
    answer::Answer,
    authenticator::{
        Authenticated, Authenticator, Credentials, certificate::PeerCertificates,
        recipe::FixedTokenAuthenticator,
    },
    error::AuthError,
    testing::{Authority, now},
    user::UserInfo,
};

struct Fixture {
    authentication: Authentication,
    trusted: CertificateDer<'static>,
    foreign: CertificateDer<'static>,
}

/// Trusts one authority and knows the token `tok` of the user `token-user`.
fn fixture(anonymous: bool, vocabulary: &Vocabulary) -> Fixture {
    let authority = Authority::new("ca");
    let (_ca_guard, ca_file) = authority.file();
    let tokens = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(tokens.path(), "tok,token-user,7\n").unwrap();
    let config = AuthenticationConfig {
        client_ca_files: vec![ca_file],
        token_file: Some(tokens.path().to_owned()),
        anonymous,
        ..AuthenticationConfig::default()
    };
    Fixture {
        authentication: Authentication::new(&config, vocabulary).unwrap(),
        trusted: authority.issue("certificate-user", |_| {}),
        foreign: Authority::new("other").issue("certificate-user", |_| {}),
    }
}

fn describe(result: Result<Authenticated, AuthError>) -> String {
    match result {
        Ok(identity) => {
            format!("{}: {} {:?}", identity.method(), identity.user().name, identity.user().groups)
        }
        Err(AuthError::NoCredentials) => "no credentials".to_owned(),
        Err(AuthError::UnknownToken) => "unknown token".to_owned(),
        Err(AuthError::Certificate { .. }) => "bad certificate".to_owned(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn an_invalid_credential_is_never_anonymous_and_any_valid_one_will_do() {
    const CERTIFICATE: &str = "certificate: certificate-user [\"system:authenticated\"]";
    const TOKEN: &str = "token-file: token-user [\"system:authenticated\"]";
    const ANONYMOUS: &str = "anonymous: system:anonymous [\"system:unauthenticated\"]";
    for anonymous in [false, true] {
        let Fixture { authentication, trusted, foreign } = fixture(anonymous, &EXAMPLE);
        let nobody = if anonymous { ANONYMOUS } else { "no credentials" };
        for (certificate, header, expected) in [
            (None, None, nobody),
            (None, Some("Bearer "), nobody),
            (None, Some("Bearer  tok"), nobody),
            (None, Some("Basic dTpw"), nobody),
            (None, Some("Bearer tok"), TOKEN),
            (None, Some("Bearer wrong"), "unknown token"),
            (Some(&trusted), None, CERTIFICATE),
            (Some(&trusted), Some("Bearer tok"), CERTIFICATE),
            (Some(&trusted), Some("Bearer wrong"), CERTIFICATE),
            (Some(&foreign), None, "bad certificate"),
            (Some(&foreign), Some("Bearer tok"), TOKEN),
            (Some(&foreign), Some("Bearer wrong"), "bad certificate"),
        ] {
            let peer = PeerCertificates::new(certificate.cloned().into_iter().collect());
            let credentials = Credentials::new(&peer, header.map(str::as_bytes), now());
            let result = authentication.authenticate(&credentials).resolve().await;
            assert_eq!(
                describe(result),
                expected,
                "anonymous={anonymous} {header:?} certificate={}",
                certificate.is_some()
            );
        }
    }
}

/// The field that CONTRIBUTING.md adds to [`AuthenticationConfig`].
struct WithFixedToken {
    fixed_token: Option<String>,
}

/// The lines that CONTRIBUTING.md adds to `read_files`, which has methods for the others.
fn read_files(config: &WithFixedToken) -> Vec<Result<Arc<dyn Authenticator>, AuthError>> {
    let (proxy, certificates, tokens) = (empty(), empty(), empty());
    let fixed = config.fixed_token.iter().map(|token| {
        let method = FixedTokenAuthenticator::new(token.clone());
        Ok(Arc::new(method) as Arc<dyn Authenticator>)
    });
    proxy.chain(certificates).chain(tokens).chain(fixed).collect()
}

/// What CONTRIBUTING.md shows, as the only method.
#[tokio::test]
async fn the_example_of_an_authenticator_knows_its_token() {
    let methods = read_files(&WithFixedToken { fixed_token: Some("fixed".to_owned()) });
    let method = methods[0].as_ref().unwrap();
    let peer = PeerCertificates::default();
    for (header, expected) in [
        (Some("Bearer fixed"), Some("fixed-token: example [\"system:authenticated\"]")),
        (Some("Bearer fixes"), None),
        (None, None),
    ] {
        let credentials = Credentials::new(&peer, header.map(str::as_bytes), now());
        let caller = method.authenticate(&credentials).resolve().await.unwrap();
        assert_eq!(caller.map(|caller| describe(Ok(caller))).as_deref(), expected, "{header:?}");
    }
}

#[tokio::test]
async fn a_token_is_refused_where_no_method_knows_tokens() {
    let authentication = Authentication::new(
        &AuthenticationConfig { anonymous: true, ..AuthenticationConfig::default() },
        &EXAMPLE,
    )
    .unwrap();
    let peer = PeerCertificates::default();
    let credentials = Credentials::new(&peer, Some(b"Bearer tok"), now());
    assert_eq!(describe(authentication.authenticate(&credentials).resolve().await), "unknown token");
}

#[test]
fn a_misplaced_space_draws_a_warning() {
    let peer = PeerCertificates::default();
    for (header, told) in [("Bearer  tok", true), ("Bearer tok", false), ("Bearer ", false)] {
        assert_eq!(
            Credentials::new(&peer, Some(header.as_bytes()), now()).warning().is_some(),
            told,
            "{header}"
        );
    }
    assert_eq!(Credentials::new(&peer, None, now()).warning(), None);
}

#[test]
fn errors_do_not_show_the_token() {
    let Fixture { authentication, .. } = fixture(true, &EXAMPLE);
    let peer = PeerCertificates::default();
    let credentials = Credentials::new(&peer, Some(b"Bearer s3cret"), now());
    let Answer::Ready(Err(error)) = authentication.authenticate(&credentials) else {
        panic!("must be refused")
    };
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

/// Gives a fixed answer, after one turn of the executor.
struct Slow(Result<Option<&'static str>, ()>);

impl Authenticator for Slow {
    fn authenticate<'a>(
        &'a self,
        _credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        Answer::Later(Box::pin(async {
            tokio::task::yield_now().await;
            match self.0 {
                Ok(name) => Ok(name.map(|name| Authenticated::new(UserInfo::new(name, [""; 0]), "slow"))),
                Err(()) => Err(AuthError::Certificate { problem: "slow".to_owned() }),
            }
        }))
    }
}

#[tokio::test]
async fn slow_methods_are_combined_like_fast_ones() {
    for (methods, expected) in [
        (vec![Ok(None), Ok(Some("late"))], "slow: late [\"system:authenticated\"]"),
        (vec![Err(()), Ok(Some("late"))], "slow: late [\"system:authenticated\"]"),
        (vec![Err(()), Ok(None)], "bad certificate"),
        (vec![Ok(None), Ok(None)], "anonymous: system:anonymous [\"system:unauthenticated\"]"),
    ] {
        let methods_of = methods.iter().map(|answer| Arc::new(Slow(*answer)) as Arc<dyn Authenticator>);
        let authentication = Authentication::from_methods(methods_of.collect(), true);
        let peer = PeerCertificates::default();
        let credentials = Credentials::new(&peer, None, now());
        assert_eq!(
            describe(authentication.authenticate(&credentials).resolve().await),
            expected,
            "{methods:?}"
        );
    }
}

/// What is wrong with one file keeps no credential that another one has withdrawn.
#[tokio::test]
async fn each_file_is_read_again_by_itself() {
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let (_first_guard, ca_file) = first.file();
    let tokens = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(tokens.path(), "tok,token-user,7\n").unwrap();
    let config = AuthenticationConfig {
        client_ca_files: vec![ca_file.clone()],
        token_file: Some(tokens.path().to_owned()),
        anonymous: false,
        ..AuthenticationConfig::default()
    };
    let before = Authentication::new(&config, &EXAMPLE).unwrap();
    let chains = [&first, &second].map(|authority| vec![authority.issue("user", |_| {})]);
    let asked = async |authentication: &Authentication| {
        let mut told = Vec::new();
        for chain in &chains {
            let peer = PeerCertificates::new(chain.clone());
            told.push(describe(
                authentication.authenticate(&Credentials::new(&peer, None, now())).resolve().await,
            ));
        }
        let peer = PeerCertificates::default();
        let credentials = Credentials::new(&peer, Some(b"Bearer tok"), now());
        told.push(describe(authentication.authenticate(&credentials).resolve().await));
        told
    };
    let (user, token) =
        ("certificate: user [\"system:authenticated\"]", "token-file: token-user [\"system:authenticated\"]");
    assert_eq!(asked(&before).await, [user, "bad certificate", token]);

    // The other authority counts, while the tokens cannot be read.
    let (_second_guard, other) = second.file();
    std::fs::copy(other, &ca_file).unwrap();
    std::fs::write(tokens.path(), "tok\n").unwrap();
    let (read, errors) = before.read_again(&config, &EXAMPLE);
    assert_eq!(asked(&read).await, ["bad certificate", user, token]);
    assert!(matches!(errors.as_slice(), [AuthError::TokenFile { .. }]), "{errors:?}");

    // Tokens are withdrawn, while the authorities cannot be read.
    std::fs::write(&ca_file, "nothing").unwrap();
    std::fs::write(tokens.path(), "").unwrap();
    let (read, errors) = read.read_again(&config, &EXAMPLE);
    assert_eq!(asked(&read).await, ["bad certificate", user, "unknown token"]);
    assert!(matches!(errors.as_slice(), [AuthError::TrustBundle { .. }]), "{errors:?}");
}
