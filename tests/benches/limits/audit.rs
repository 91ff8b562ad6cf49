//! What audit costs a GET: its line is written by a thread of its own.

use std::path::{Path, PathBuf};

use orch_tests::{TestServer, server::ServerOptions};

use super::{
    report::{Report, Wanted},
    side_by_side,
};

/// The flags of a server that records by the policy that ships as an example, to a log in that directory.
pub fn recording(options: ServerOptions, directory: &Path) -> ServerOptions {
    let policy = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/audit-policy.yaml");
    options
        .flag(format!("--audit-policy-file={}", policy.display()))
        .flag(format!("--audit-log-path={}", directory.join("audit.log").display()))
        .flag("--audit-log-mode=batch")
        .flag("--audit-log-maxsize=10")
        .flag("--audit-log-maxbackup=1")
}

/// GET with it on and off.
pub async fn measure(report: &mut Report) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let start = || TestServer::options().flag("--authorization-mode=AlwaysAllow");
    let audited = recording(start(), directory.path()).start().await;
    let plain = start().start().await;
    let (audited, plain) = (("GET with audit", &audited), ("GET without", &plain));
    side_by_side::gets(report, audited, plain, Wanted::Unlimited).await;
}
