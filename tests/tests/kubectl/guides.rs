//! The examples of the guides in `docs/`, run as they are written.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Stdio, time::Duration};

use orch_tests::{kubectl::is_installed, server::server_binary, skip::skipped};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

/// How long the examples of a guide may take together.
const PATIENCE: Duration = Duration::from_mins(3);

/// The program of the guides: the server, whose input is a pipe that ends with the test.
const PROGRAM: &str = "#!/bin/sh\nexec \"$SERVER\" \"$@\" <\"$ALIVE\"\n";

#[tokio::test]
async fn the_operators_guide_works_as_written() {
    works("docs/OPERATING.md").await;
}

#[tokio::test]
async fn the_clients_guide_works_as_written() {
    works("docs/CLIENTS.md").await;
}

async fn works(guide: &str) {
    if !is_installed(guide) {
        return;
    }
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().await.is_err() {
        return skipped(guide, "there is no curl");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace");
    let script = script(&fs::read_to_string(root.join(guide)).unwrap());
    assert!(script.lines().count() > 20, "the examples of {guide} are not found");
    let directory = TempDir::with_prefix("orch-guide-").unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("bin")).unwrap();
    fs::create_dir_all(at("work")).unwrap();
    fs::write(at("bin/orch-apiserver"), PROGRAM).unwrap();
    fs::set_permissions(at("bin/orch-apiserver"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("mkfifo").arg(at("alive")).status().await.unwrap().success());
    let alive = fs::File::options().read(true).write(true).open(at("alive")).unwrap();

    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-euxo", "pipefail", "-c", &script]).current_dir(at("work"));
    shell.env("PATH", path).env("HOME", at("work")).env("SERVER", server_binary()).env("ALIVE", at("alive"));
    shell.env_remove("KUBECONFIG").stdin(Stdio::null()).kill_on_drop(true);
    let ended = timeout(PATIENCE, shell.output()).await;
    drop(alive);
    let output = ended.unwrap_or_else(|_| panic!("the examples of {guide} hang")).unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{guide}\n{said}");
}

/// The blocks of a guide that are commands, one after the other.
fn script(guide: &str) -> String {
    guide.split("```sh\n").skip(1).filter_map(|block| block.split("```").next()).collect()
}
