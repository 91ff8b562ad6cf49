//! What happens while the server starts, after it has read its files.

use std::{fs, path::Path, process::Stdio, time::Duration};

use orch_tests::TestServer;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::unix::pipe,
    time::{sleep, timeout},
};

const KEYS: &str = "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n\
                    - resources: [secrets]\n  providers:\n  - identity: {}\n";

const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a server that reads its keys from a pipe, and so stands still in the middle of its start. Then
/// `act` happens to the process; then the server goes on, until its log has this text.
async fn during_a_start(folder: &Path, flag: &str, act: impl FnOnce(u32), expected: &str) {
    let keys = folder.join("keys");
    assert!(std::process::Command::new("mkfifo").arg(&keys).status().unwrap().success());
    let mut process = TestServer::command()
        .current_dir(folder)
        .args(["--secure-port=0", "--data-dir=data", "--encryption-provider-config=keys", flag])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The server ends with its input.
    let (_input, log) = (process.stdin.take(), process.stderr.take().unwrap());
    let opened = async {
        loop {
            // There is nobody at the other end yet.
            let Ok(pipe) = pipe::OpenOptions::new().open_sender(&keys) else {
                sleep(Duration::from_millis(5)).await;
                continue;
            };
            return pipe;
        }
    };
    let mut pipe = timeout(PATIENCE, opened).await.expect("the server reads its keys");
    act(process.id().unwrap());
    pipe.write_all(KEYS.as_bytes()).await.unwrap();
    drop(pipe);
    let mut lines = BufReader::new(log).lines();
    let logged = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains(expected) {
                return;
            }
        }
        panic!("the server ends and has not logged {expected:?}");
    };
    timeout(PATIENCE, logged).await.unwrap_or_else(|_| panic!("{expected:?} is not logged"));
}

#[tokio::test]
async fn a_file_that_changes_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authorizers.yaml");
    let write = |authorizer: &str| {
        let head = "apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\n";
        fs::write(&file, format!("{head}authorizers:\n- {authorizer}\n")).unwrap();
    };
    write("{type: RBAC, name: roles}");
    let flag = "--authorization-config=authorizers.yaml";
    let change = |_| write("{type: Node, name: nodes}");
    during_a_start(folder.path(), flag, change, "the authorizers are read again").await;
}

#[tokio::test]
async fn a_hangup_is_acted_on_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let hang_up = |process: u32| {
        let told = std::process::Command::new("kill").args(["-HUP", &process.to_string()]).status().unwrap();
        assert!(told.success());
    };
    let flag = "--authorization-mode=RBAC";
    during_a_start(folder.path(), flag, hang_up, "certificates and tokens are read again").await;
}
