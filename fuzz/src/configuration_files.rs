//! Configuration files that operators write: used as a whole, or refused in one line.

use std::{error::Error, fs};

use orch_api::KUBERNETES;
use orch_auth::{abac::Abac, authentication_file, authorization_file, oidc::issuer::Issuers};
use orch_outbound::kubeconfig;

pub fn run(input: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let file = directory.path().join("file");
    fs::write(&file, input).expect("a file can be written");
    in_one_line(kubeconfig::read(&file));
    in_one_line(Abac::read(&file, &KUBERNETES));
    in_one_line(authorization_file::read(&file, &KUBERNETES));
    in_one_line(authentication_file::read(&file, &[], &Issuers::new(), &KUBERNETES));
}

fn in_one_line<T, E: Error>(read: Result<T, E>) {
    if let Err(error) = read {
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text:?} has several lines");
    }
}
