//! The examples of the guides in `docs/`, run as they are written.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Stdio,
    time::Duration,
};

use orch_tests::{TestServer, kubectl::is_installed, server::server_binary, skip::skipped};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    time::timeout,
};

/// How long the examples of a guide may take together.
const PATIENCE: Duration = Duration::from_mins(3);

/// The program of the guides: the server, whose input is a pipe that ends with the test. A restore may read
/// its own.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = restore ]; then export ORCH_TEST_READS_INPUT=1; exec "$SERVER" "$@"; fi
exec "$SERVER" "$@" <"$ALIVE"
"#;

/// What stands for a machine, a container and a cluster.
const MACHINE: &str = include_str!("machine.sh");

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

/// What the operator's guide does to a machine, with containers and in a cluster, on what stands for them.
#[tokio::test]
async fn installations_work_as_written() {
    let guide = "docs/OPERATING.md";
    let text = fs::read_to_string(root().join(guide)).unwrap();
    let script = blocks(&text, "text").fold(MACHINE.to_owned(), |script, block| script + block);
    let script = ["usr", "etc", "var"].iter().fold(script, |script, folder| {
        let script = script.replace(&format!(" /{folder}/"), &format!(" \"$ROOT\"/{folder}/"));
        script.replace(&format!("=/{folder}/"), &format!("=\"$ROOT\"/{folder}/"))
    });
    runs(guide, &script, &["curl", "jq", "openssl"]).await;
}

/// The README's commands that start the server of this repository.
#[tokio::test]
async fn the_readmes_servers_start_as_written() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let commands = readme.lines().filter_map(|line| line.strip_prefix("$ cargo run --release"));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 2, "{commands:?}");
    for flags in commands {
        let directory = TempDir::with_prefix("orch-guide-").unwrap();
        let mut server = TestServer::command();
        server.args(flags.trim_start_matches(" -- ").split_whitespace()).arg("--secure-port=0");
        server.current_dir(directory.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().unwrap();
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
        let said = timeout(PATIENCE, said.next_line()).await.expect("it starts in time").unwrap();
        assert!(said.is_some_and(|line| line.starts_with("Listening on https://")), "{flags}");
    }
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
    let text = fs::read_to_string(root().join(guide)).unwrap();
    let script: String = blocks(&text, "sh").collect();
    assert!(script.lines().count() >= lines, "the examples of {guide} are not found");
    runs(guide, &script, &["curl", "openssl"]).await;
}

/// Runs a script in a folder of its own, where the programs are there that it needs besides kubectl.
async fn runs(guide: &str, script: &str, needs: &[&str]) {
    if !is_installed(guide) {
        return;
    }
    for program in needs {
        let which = format!("command -v {program}");
        let found = Command::new("sh").args(["-c", &which]).stdout(Stdio::null()).status().await.unwrap();
        if !found.success() {
            return skipped(guide, &format!("there is no {program}"));
        }
    }
    let directory = TempDir::with_prefix("orch-guide-").unwrap();
    let at = |name: &str| directory.path().join(name);
    for folder in ["bin", "root", "work/target/release"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for (name, program) in [("orch-apiserver", PROGRAM), ("go", OTHER_TESTS)] {
        let path = at("bin").join(name);
        fs::write(&path, program).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // What a checkout has that was built.
    symlink(at("bin/orch-apiserver"), at("work/target/release/orch-apiserver")).unwrap();
    symlink(root().join("deploy"), at("work/deploy")).unwrap();
    assert!(Command::new("mkfifo").arg(at("alive")).status().await.unwrap().success());
    let alive = fs::File::options().read(true).write(true).open(at("alive")).unwrap();

    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-euxo", "pipefail", "-c", script]).current_dir(at("work")).env("ROOT", at("root"));
    shell.env("PATH", path).env("HOME", at("work")).env("SERVER", server_binary()).env("ALIVE", at("alive"));
    shell.env_remove("KUBECONFIG").stdin(Stdio::null()).kill_on_drop(true);
    let ended = timeout(PATIENCE, shell.output()).await;
    drop(alive);
    let output = ended.unwrap_or_else(|_| panic!("the examples of {guide} hang")).unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{guide}\n{said}");
}

/// The blocks of a guide in a language.
fn blocks<'t>(guide: &'t str, language: &str) -> impl Iterator<Item = &'t str> {
    let parts: Vec<&str> = guide.split(&format!("```{language}\n")).skip(1).collect();
    parts.into_iter().filter_map(|block| block.split("```").next())
}
