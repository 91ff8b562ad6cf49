//! The program of each release, and its objects.

use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use orch_tests::{TestServer, server::ServerOptions};
use serde_json::{Value, json};
use tokio::process::Command;

/// Serves the beta version, which is off by default.
pub const BETA: &str = "--runtime-config=example.orch.io/v1beta1";

/// The program under the name of a release.
pub fn program(release: &str) -> PathBuf {
    let name = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{release}"));
    // Another test may have made it.
    let _ = symlink(env!("CARGO_BIN_EXE_history"), &name);
    name
}

/// A server of a release.
pub fn server_of(release: &str) -> ServerOptions {
    TestServer::options().binary(program(release))
}

/// A command of a release on the data of a server.
pub fn command(release: &str, name: &str, server: &TestServer) -> Command {
    let mut command = Command::new(program(release));
    command.arg(name).arg("--data-dir").arg(server.data_dir());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// What a command comes to. It would end with its input, so that is kept open.
pub async fn perform(mut command: Command) -> Output {
    let mut process = command.spawn().unwrap();
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    output
}

/// In which version each autoscaler is stored.
pub async fn stored_in(server: &TestServer) -> Vec<String> {
    let mut export = command("1.34", "export", server);
    export.arg("-");
    let output = perform(export).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let objects = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let autoscalers = objects.filter(|object| object["kind"] == "Autoscaler");
    autoscalers.map(|object| object["apiVersion"].as_str().unwrap().replace("example.orch.io/", "")).collect()
}

/// Where autoscalers are in a version.
pub fn path(version: &str) -> String {
    format!("/apis/example.orch.io/{version}/namespaces/default/autoscalers")
}

pub fn autoscaler(version: &str, name: &str, spec: Value) -> Value {
    let mut object = json!({"kind": "Autoscaler", "metadata": {"name": name}});
    object["apiVersion"] = format!("example.orch.io/{version}").into();
    object["spec"] = spec;
    object
}
