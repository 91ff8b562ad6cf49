//! The examples of the guides in `docs/`, run as they are written.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Stdio, time::Duration};

use orch_tests::{TestServer, kubectl::is_installed, server::server_binary, skip::skipped};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

/// How long the examples of a guide may take together.
const PATIENCE: Duration = Duration::from_mins(3);

/// The program of the guides: the server, whose input is a pipe that ends with the test. A restore may read
/// its own.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = restore ]; then export ORCH_TEST_READS_INPUT=1; exec "$SERVER" "$@"; fi
exec "$SERVER" "$@" <"$ALIVE"
"#;

/// What stands for the tests of somebody's own.
const OTHER_TESTS: &str = "#!/bin/sh\nexec kubectl get namespaces\n";

#[tokio::test]
async fn the_operators_guide_works_as_written() {
    works("docs/OPERATING.md", 20).await;
}

#[tokio::test]
async fn the_clients_guide_works_as_written() {
    works("docs/CLIENTS.md", 20).await;
}

/// How to run somebody's own tests against a server, with other tests than those.
#[tokio::test]
async fn the_readmes_script_works_as_written() {
    works("README.md", 6).await;
}

/// Files that the guides show, and the flags that they are for.
#[tokio::test]
async fn files_of_the_guides_are_taken_as_they_are() {
    let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    for (guide, flag) in [
        ("docs/MONITORING.md", "--tracing-config-file"),
        ("docs/OPERATING.md", "--encryption-provider-config"),
    ] {
        let text = fs::read_to_string(root().join(guide)).unwrap();
        let file = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let directory = TempDir::with_prefix("orch-guide-").unwrap();
        let path = directory.path().join("file.yaml");
        fs::write(&path, file.replace("<head -c 32 /dev/urandom | base64>", key)).unwrap();
        let server = TestServer::options().flag(format!("{flag}={}", path.display())).start().await;
        assert_eq!(server.admin().get("/readyz").await.status, 200, "{guide}");
    }
}

/// The commands of the README's first minutes. The one that watches goes on until somebody ends it.
#[tokio::test]
async fn the_readmes_commands_work_as_written() {
    if !is_installed("README.md") {
        return;
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (first, _) = readme.split_once("Groups are called").expect("the README goes on about groups");
    let commands = first.lines().filter_map(|line| line.strip_prefix("$ kubectl "));
    let commands: Vec<&str> = commands.filter(|line| !line.ends_with("--watch")).collect();
    assert!(commands.len() >= 9, "the commands of the README are not found: {commands:?}");
    let server = TestServer::start().await;
    for line in commands {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("kubectl {line}")]).env("KUBECONFIG", server.kubeconfig_path());
        shell.env("HOME", server.scratch_dir()).stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(PATIENCE, shell.output()).await.expect("a command ends").unwrap();
        assert!(output.status.success(), "kubectl {line}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

async fn works(guide: &str, lines: usize) {
    if !is_installed(guide) {
        return;
    }
    for (program, argument) in [("curl", "--version"), ("openssl", "version")] {
        if Command::new(program).arg(argument).stdout(Stdio::null()).status().await.is_err() {
            return skipped(guide, &format!("there is no {program}"));
        }
    }
    let script = script(&fs::read_to_string(root().join(guide)).unwrap());
    assert!(script.lines().count() >= lines, "the examples of {guide} are not found");
    let directory = TempDir::with_prefix("orch-guide-").unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("bin")).unwrap();
    fs::create_dir_all(at("work")).unwrap();
    fs::write(at("bin/orch-apiserver"), PROGRAM).unwrap();
    fs::set_permissions(at("bin/orch-apiserver"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(at("bin/go"), OTHER_TESTS).unwrap();
    fs::set_permissions(at("bin/go"), fs::Permissions::from_mode(0o755)).unwrap();
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
