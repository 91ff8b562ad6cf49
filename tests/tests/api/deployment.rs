//! What is in `deploy/` works as it is written, as far as it can be tried without a service manager, a
//! builder of images or a cluster; and the server speaks with the service manager that starts it.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use orch_machinery::{json::Limits, yaml};
use orch_tests::{
    TestServer,
    kubeconfig::Kubeconfig,
    manifests::{Judged, documents, judge},
    server::server_binary,
    skip::skipped,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::UnixDatagram,
    process::{Child, Command},
    time::timeout,
};

/// How long a step may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("deploy")
}

fn read(file: &str) -> String {
    fs::read_to_string(deploy().join(file)).unwrap()
}

/// The line with which a server says where it listens.
async fn announced(server: &mut Child) -> String {
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    timeout(PATIENCE, lines.next_line()).await.expect("it listens in time").unwrap().expect("it listens")
}

async fn end(mut server: Child) {
    let signal = format!("kill -TERM {}", server.id().unwrap());
    assert!(Command::new("sh").args(["-c", &signal]).status().await.unwrap().success());
    // Waiting closes the input, with which the server ends too.
    let input = server.stdin.take();
    let status = timeout(PATIENCE, server.wait()).await.expect("it ends in time").unwrap();
    assert!(status.success(), "{status}");
    drop(input);
}

#[tokio::test]
async fn the_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    let mut command = TestServer::command();
    command.args(["--secure-port=0", "--data-dir"]).arg(directory.path().join("data"));
    let server = command.env("NOTIFY_SOCKET", &socket).stdout(Stdio::null()).spawn().unwrap();
    let told = async || {
        let mut message = [0; 100];
        let length = timeout(PATIENCE, manager.recv(&mut message)).await.expect("a message comes").unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    assert_eq!(told().await, "READY=1");
    assert!(directory.path().join("data/admin.kubeconfig").exists());
    end(server).await;
    assert_eq!(told().await, "STOPPING=1");
}

#[tokio::test]
async fn a_socket_of_the_service_manager_is_used() {
    let directory = tempfile::tempdir().unwrap();
    // Whoever takes the port meanwhile fails the test; nobody can keep it for another program.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("systemd-socket-activate");
    command.args(["--listen", &format!("127.0.0.1:{port}")]).arg(server_binary());
    // The port of the flag is in use, and does not count.
    command.args([&format!("--secure-port={port}"), "--data-dir"]).arg(directory.path().join("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let Ok(mut server) = command.spawn() else {
        return skipped("socket activation", "there is no systemd-socket-activate");
    };
    // It listens a moment after it was started, and starts the server at the first connection.
    let connected = timeout(PATIENCE, async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    connected.await.expect("it listens in time");
    assert_eq!(announced(&mut server).await, format!("Listening on https://127.0.0.1:{port}"));
    let kubeconfig = Kubeconfig::read(&directory.path().join("data/admin.kubeconfig"));
    assert_eq!(kubeconfig.server, format!("https://127.0.0.1:{port}"));
    end(server).await;
}

#[tokio::test]
async fn a_wrong_socket_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = TestServer::command();
    command.args(["--secure-port=0", "--data-dir"]).arg(directory.path().join("data"));
    // The third descriptor is the first one of the protocol: no socket is there.
    let mut server = command.env("LISTEN_FDS", "1").stderr(Stdio::piped()).spawn().unwrap();
    let input = server.stdin.take();
    let output = timeout(PATIENCE, server.wait_with_output()).await.unwrap().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("LISTEN_FDS: fd 3 is not"), "{said}");
}

/// The unit as systemd reads it, and how exposed it finds the service: 0 is not at all, 10 is like any
/// program.
#[tokio::test]
async fn the_units_are_valid_and_hardened() {
    let directory = tempfile::tempdir().unwrap();
    let binary = server_binary();
    let (service, socket) = ("orch-apiserver.service", "orch-apiserver.socket");
    let unit =
        read("systemd/orch-apiserver.service").replace("/usr/bin/orch-apiserver", binary.to_str().unwrap());
    fs::write(directory.path().join(service), unit).unwrap();
    fs::copy(deploy().join("systemd").join(socket), directory.path().join(socket)).unwrap();
    let (backup, timer) = ("orch-apiserver-backup.service", "orch-apiserver-backup.timer");
    let unit = read("systemd/orch-apiserver-backup.service");
    let unit = unit.replace("/usr/bin/orch-apiserver", binary.to_str().unwrap());
    fs::write(directory.path().join(backup), unit).unwrap();
    fs::copy(deploy().join("systemd").join(timer), directory.path().join(timer)).unwrap();
    // What the operator's guide adds.
    let guide = fs::read_to_string(deploy().join("../docs/OPERATING.md")).unwrap();
    let addition = guide.split("```ini\n").nth(1).and_then(|rest| rest.split("```").next());
    let folder = directory.path().join("orch-apiserver.service.d");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("override.conf"), addition.expect("the guide has an addition")).unwrap();
    let analyze = async |arguments: &[&str]| {
        let output = Command::new("systemd-analyze").args(arguments).current_dir(directory.path()).output();
        let output = output.await.ok()?;
        let said = [output.stdout, output.stderr].concat();
        Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    };
    let service = directory.path().join(service).display().to_string();
    let [socket, backup, timer] =
        [socket, backup, timer].map(|name| directory.path().join(name).display().to_string());
    let verified = analyze(&["verify", "--man=no", &service, &socket, &backup, &timer]).await;
    let Some((is_valid, said)) = verified else {
        return skipped("the units of systemd", "there is no systemd-analyze");
    };
    assert!(is_valid && !said.contains("orch-apiserver"), "{said}");
    let exposure = analyze(&["security", "--offline=true", "--threshold=15", "--no-pager", &service]).await;
    let (is_hardened, said) = exposure.expect("it was there just now");
    assert!(is_hardened, "{said}");
}

/// The command of the unit with its configuration file, in directories of the test.
#[tokio::test]
async fn the_service_starts_as_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    for path in ["etc/orch-apiserver", "state/orch-apiserver"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    make_private(&at("state/orch-apiserver"));
    fs::copy(deploy().join("systemd/config.yaml"), at("etc/orch-apiserver/config.yaml")).unwrap();
    let unit = read("systemd/orch-apiserver.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let line = line.replace("%E", at("etc").to_str().unwrap()).replace("%S", at("state").to_str().unwrap());
    let mut command = TestServer::command();
    // The port of the file may be in use here.
    command.args(line.split(' ').skip(1)).arg("--secure-port=0").stdout(Stdio::piped());
    let mut server = command.stderr(Stdio::null()).spawn().unwrap();
    assert!(announced(&mut server).await.starts_with("Listening on https://127.0.0.1:"));
    assert!(at("state/orch-apiserver/orch.db").exists());

    // The copy that the timer starts, beside the running server.
    fs::create_dir_all(at("state/orch-apiserver-backups")).unwrap();
    let unit = read("systemd/orch-apiserver-backup.service");
    for begin in ["ExecStart=", "ExecStartPost="] {
        let line = unit.lines().find_map(|line| line.strip_prefix(begin)).unwrap();
        let line = line.replace("%%", "PERCENT");
        let line =
            line.replace("%E", at("etc").to_str().unwrap()).replace("%S", at("state").to_str().unwrap());
        let line = line.replace("PERCENT", "%");
        let line = line.replace("/usr/bin/orch-apiserver", server_binary().to_str().unwrap());
        let mut shell = Command::new("sh");
        // Its input stays open, or the program would end with it.
        let mut ran = shell.args(["-c", &line]).stdin(Stdio::piped()).spawn().unwrap();
        let input = ran.stdin.take();
        assert!(timeout(PATIENCE, ran.wait()).await.unwrap().unwrap().success(), "{line}");
        drop(input);
    }
    let copies: Vec<_> =
        fs::read_dir(at("state/orch-apiserver-backups")).unwrap().map(Result::unwrap).collect();
    assert!(copies.len() == 1 && copies[0].file_name().to_string_lossy().ends_with(".db"), "{copies:?}");
    end(server).await;
}

fn make_private(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn the_manifests_are_valid() {
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let Judged { kinds, flags } =
        judge(&server.admin(), "orch", objects(&read("kubernetes/server.yaml"))).await;
    assert_eq!(kinds, ["Namespace", "ServiceAccount", "ConfigMap", "Service", "StatefulSet"]);
    start_with(&flags).await;
}

fn objects(manifests: &str) -> Vec<Value> {
    let object = |text: &str| yaml::decode(text.as_bytes(), &Limits::default()).expect("it is YAML").tree;
    documents(manifests).map(object).collect()
}

/// Starts a server with a file of flags, its data in a directory of the test.
async fn start_with(flags: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config.yaml");
    let data = directory.path().join("data");
    // The delay of the shutdown is tested elsewhere.
    let flags = flags.replace("/data/orch", data.to_str().unwrap()).replace("duration: 10s", "duration: 1ms");
    fs::write(&file, flags).unwrap();
    let mut command = TestServer::command();
    command.arg("--config").arg(&file).arg("--secure-port=0").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let said = announced(&mut server).await;
    assert!(said.starts_with("Listening on https://orch-apiserver.orch.svc:"), "{said}");
    let printed = printed_kubeconfig(&data).await;
    assert_eq!(printed, fs::read_to_string(data.join("admin.kubeconfig")).unwrap());
    end(server).await;
}

/// What the subcommand prints that images without a shell need.
async fn printed_kubeconfig(data: &Path) -> String {
    let mut command = TestServer::command();
    command.args(["kubeconfig", "--data-dir"]).arg(data).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut printing = command.spawn().unwrap();
    let input = printing.stdin.take();
    let output = printing.wait_with_output().await.unwrap();
    drop(input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
