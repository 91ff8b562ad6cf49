//! The header `Authorization`, and changed tokens: only the whole right token is accepted.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use orch_api::KUBERNETES;
use orch_auth::{
    answer::Answer,
    authentication::Authentication,
    authenticator::{
        Authenticator, Credentials,
        bootstrap_token::{BootstrapToken, BootstrapTokenAuthenticator, BootstrapTokens},
        certificate::PeerCertificates,
        service_account::ServiceAccountAuthenticator,
    },
    service_account::{
        BoundObject, Directory, Found, Grant, Keys, Kind, TokenConfig, TokenDigest, TokenIssuer, key_files,
    },
};

const NOW: i64 = 1_700_000_000;
const BOOTSTRAP: &str = "abc123.0123456789abcdef";
const UID: &str = "u";
/// A key for this target alone.
const KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTc3fYnVGsxZAfOk9
Mq5Q4xrCvkbxNzXyQ5d6jrq/NHihRANCAATC0n8K+Ww5YZ/l2ODJO+mDCqFeFciO
MzXazIoicrfHM7xLTYqCJTUd0HzIwYYCUD5brZGOBXyC8IfYeKH5JsBj
-----END PRIVATE KEY-----
";

/// Every object exists.
struct Everything;

impl Directory for Everything {
    fn find(&self, _kind: Kind, _namespace: &str, _name: &str) -> Option<Found> {
        Some(Found { uid: UID.to_owned(), deleted_at: None })
    }

    /// No secret holds a token.
    fn token_held(&self, _namespace: &str, _secret: &str) -> Option<TokenDigest> {
        None
    }
}

impl BootstrapTokens for Everything {
    fn find(&self, secret_name: &str) -> Option<Arc<BootstrapToken>> {
        let fields = [
            ("token-id", "abc123"),
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
        ];
        let data: BTreeMap<String, &str> = fields.map(|(key, value)| (key.to_owned(), value)).into();
        BootstrapToken::of_secret(secret_name, &data).map(Arc::new)
    }
}

/// A server's methods, and a token of a service account that they accept.
static SERVER: LazyLock<(Authentication, String)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("key.pem");
    std::fs::write(&file, KEY).expect("the key can be written");
    let key = key_files::signing_key(&file).expect("the key is right");
    let tokens =
        Arc::new(TokenIssuer::new(Keys::new(key, Vec::new()), &TokenConfig::default(), &[], &KUBERNETES));
    let grant = Grant {
        id: Grant::new_id(),
        namespace: "n".to_owned(),
        account: BoundObject { name: "robot".to_owned(), uid: UID.to_owned() },
        audiences: tokens.audiences().to_vec(),
        bound: None,
        node: None,
        issued: NOW,
        expires: NOW + 600,
        warn_after: None,
    };
    let token = tokens.issue(&grant).expect("the key signs");
    let methods: Vec<Arc<dyn Authenticator>> = vec![
        Arc::new(ServiceAccountAuthenticator::new(tokens, Box::new(Everything), &KUBERNETES)),
        Arc::new(BootstrapTokenAuthenticator::new(Box::new(Everything))),
    ];
    (Authentication::from_methods(methods, false), token)
});

pub fn run(input: &[u8]) {
    let (_, token) = &*SERVER;
    check(input);
    check(&[b"Bearer ", input].concat());
    // Three bytes are a change: a place, and the bits that become others there.
    for valid in [token.as_str(), BOOTSTRAP] {
        let mut changed = valid.as_bytes().to_vec();
        for change in input.chunks_exact(3) {
            let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % changed.len();
            changed[place] ^= change[2];
        }
        check(&[b"Bearer ", &changed[..]].concat());
    }
}

/// Asks who has sent this header: somebody if and only if it carries one of the two tokens.
fn check(header: &[u8]) {
    let (authentication, token) = &*SERVER;
    let peer = PeerCertificates::default();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW.cast_unsigned());
    let credentials = Credentials::new(&peer, Some(header), now);
    let is_right = credentials
        .token()
        .is_some_and(|given| [token.as_bytes(), BOOTSTRAP.as_bytes()].contains(&given.secret()));
    let Answer::Ready(answer) = authentication.authenticate(&credentials) else {
        panic!("nobody else is asked")
    };
    assert_eq!(answer.is_ok(), is_right, "{}", header.escape_ascii());
}
