//! Clients of other projects, unmodified, against real servers.
//!
//! They come from their own registries, which takes a network and some minutes, so `.ci/run clients` installs
//! them into a folder and names it in [`FOLDER`]. A test whose client is not there is skipped, and says so.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod export;
mod helm;
mod libraries;
mod manager;
mod monitoring;
mod openapi;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use orch_tests::{TestServer, skip::skipped};
use tokio::process::Command;

/// The variable that names the folder with the clients.
const FOLDER: &str = "ORCH_TEST_CLIENTS";

/// How long one command may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where a client is installed; `None` where it is not, and then `test` is skipped.
fn installed(test: &str, client: &str) -> Option<PathBuf> {
    let found = std::env::var_os(FOLDER).map(|folder| Path::new(&folder).join(client));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        skipped(test, &format!("{client} is not installed: .ci/run clients does that"));
    }
    found
}

/// A file of this crate that a client is run with.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// A program that finds the server by its kubeconfig, and writes nowhere but below the server's scratch
/// folder.
fn program(server: &TestServer, path: &Path) -> Command {
    let mut command = Command::new(path);
    command
        .env("KUBECONFIG", server.kubeconfig_path())
        .env("HOME", server.scratch_dir())
        .current_dir(server.scratch_dir())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Runs a command that succeeds: what it prints.
async fn run(mut command: Command) -> String {
    let shown = format!("{:?}", command.as_std());
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.unwrap_or_else(|_| panic!("{shown} hangs")).expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shown}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}
