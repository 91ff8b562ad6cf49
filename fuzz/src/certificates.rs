//! Certificates of clients, in DER: refused or accepted. Nobody has signed them, so in truth all are refused.

use std::{sync::LazyLock, time::SystemTime};

use orch_api::KUBERNETES;
use orch_auth::authenticator::{
    Authenticator, Credentials,
    certificate::{CertificateAuthenticator, PeerCertificates},
};

static AUTHENTICATOR: LazyLock<CertificateAuthenticator> =
    LazyLock::new(|| CertificateAuthenticator::from_files(&[], &KUBERNETES).expect("no file, no error"));

pub fn run(input: &[u8]) {
    let chain = input.split(|byte| *byte == 0xff).take(3);
    let whole = vec![input.to_vec().into()];
    for chain in [whole, chain.map(|der| der.to_vec().into()).collect()] {
        let peer = PeerCertificates::new(chain);
        let credentials = Credentials::new(&peer, None, SystemTime::UNIX_EPOCH);
        let answer = AUTHENTICATOR.authenticate(&credentials);
        if let orch_auth::answer::Answer::Ready(Ok(Some(caller))) = answer {
            panic!("nobody signed {caller:?}");
        }
    }
}
