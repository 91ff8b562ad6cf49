//! Members of etcd for a test. Also a part of the tests of whole servers.
//!
//! Their data are in memory where the system has a place for that: a write takes no longer than elsewhere
//! where the disk is slow, and a process that is killed loses nothing by it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

/// One member, which ends with the test.
pub struct Member {
    process: Child,
    program: PathBuf,
    arguments: Vec<String>,
    /// Where clients reach it.
    pub url: String,
    /// Removed when it has ended.
    #[allow(dead_code, reason = "not all tests that include this look at it")]
    data: Arc<TempDir>,
}

/// What it says when it can be spoken to.
const READY: &str = "ready to serve client requests";

/// A directory of the system's memory.
const MEMORY: &str = "/dev/shm";

/// How long it may take until it says so.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program: that of the variable, or the one that is installed. Where there is none, says so.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ORCH_TEST_ETCD") {
        return Some(path.into());
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|path| path.join("etcd")).find(|path| path.is_file());
    if found.is_none() {
        assert!(std::env::var_os("ORCH_TEST_ALL").is_none(), "etcd is not installed");
        println!("SKIPPED: etcd is not installed");
    }
    found
}

impl Member {
    /// A new one without data. Without the program, says so, and there is none.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with its data on the disk, for measurements.
    #[allow(dead_code, reason = "tests do not measure")]
    pub fn start_on_disk() -> Option<Self> {
        Self::start_in(&std::env::temp_dir(), 1, &[])?.into_iter().next()
    }

    /// The same, with further flags. With a certificate it is reached over TLS.
    pub fn start_with(flags: &[&str]) -> Option<Self> {
        let members = Self::start_cluster(1, flags)?;
        members.into_iter().next()
    }

    /// Members of one cluster.
    pub fn start_cluster(count: usize, flags: &[&str]) -> Option<Vec<Self>> {
        let memory = Path::new(MEMORY);
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self::start_in(&place, count, flags)
    }

    fn start_in(place: &Path, count: usize, flags: &[&str]) -> Option<Vec<Self>> {
        let program = program()?;
        // Somebody else may take a port before etcd does.
        for _ in 0..5 {
            let mut members = Self::spawn_cluster(&program, place, count, flags);
            if members.iter_mut().all(Self::serves) {
                return Some(members);
            }
        }
        panic!("etcd does not start");
    }

    fn spawn_cluster(program: &PathBuf, place: &Path, count: usize, flags: &[&str]) -> Vec<Self> {
        let is_secured = flags.iter().any(|flag| flag.starts_with("--cert-file="));
        let urls: Vec<(String, String)> = (0..count)
            .map(|_| (free_url(if is_secured { "https" } else { "http" }), free_url("http")))
            .collect();
        let cluster: Vec<String> =
            urls.iter().enumerate().map(|(index, (_, peer))| format!("m{index}={peer}")).collect();
        let spawned = urls.iter().enumerate().map(|(index, (client, peer))| {
            let data = Arc::new(TempDir::new_in(place).expect("a temporary directory can be made"));
            let mut arguments: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            arguments.push(format!("--name=m{index}"));
            arguments.push(format!("--data-dir={}", data.path().join("etcd").display()));
            for (flag, url) in [
                ("listen-client-urls", client),
                ("advertise-client-urls", client),
                ("listen-peer-urls", peer),
                ("initial-advertise-peer-urls", peer),
            ] {
                arguments.push(format!("--{flag}={url}"));
            }
            arguments.push(format!("--initial-cluster={}", cluster.join(",")));
            let process = spawn(program, &arguments);
            Self { process, program: program.clone(), arguments, url: client.clone(), data }
        });
        spawned.collect()
    }

    /// Whether it comes up. What it says is read to its end, so that it can always say more.
    fn serves(&mut self) -> bool {
        let mut lines = BufReader::new(self.process.stderr.take().expect("it is a pipe")).lines();
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            // Nobody may wait for it any more.
            let _ = ready.send(lines.by_ref().map_while(Result::ok).any(|line| line.contains(READY)));
            lines.for_each(drop);
        });
        is_ready.recv_timeout(PATIENCE).unwrap_or(false)
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again on its data after [`Self::kill`].
    pub fn restart(&mut self) {
        self.process = spawn(&self.program, &self.arguments);
        assert!(self.serves(), "etcd does not start again");
    }

    /// Ends it, and puts a copy of its data there, or puts what is there back; then starts it again.
    #[allow(dead_code, reason = "not all tests that include this do it")]
    pub fn copied(&mut self, copy: &Path, is_put_back: bool) {
        self.kill();
        let data = self.data.path();
        let (from, to) = if is_put_back { (copy, data) } else { (data, copy) };
        std::fs::remove_dir_all(to.join("etcd"))
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
            .expect("the old data can be removed");
        let status = Command::new("cp").arg("-r").arg(from.join("etcd")).arg(to).status();
        assert!(status.is_ok_and(|status| status.success()), "the data can be copied");
        self.restart();
    }

    /// Ends it, and starts it again on its data with further flags, among them a certificate: it is reached
    /// over TLS from then on.
    #[allow(dead_code, reason = "not all tests that include this do it")]
    pub fn secure(&mut self, flags: &[&str]) {
        self.kill();
        let url = self.url.replace("http://127.0.0.1", "https://localhost");
        for argument in &mut self.arguments {
            if argument.contains("-client-urls=") {
                *argument = argument.replace(&self.url, &url);
            }
        }
        self.url = url;
        self.arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self.restart();
    }

    /// Stops it where it is, or lets it go on.
    pub fn pause(&self, is_paused: bool) {
        let signal = if is_paused { "STOP" } else { "CONT" };
        let command = format!("kill -{signal} {}", self.process.id());
        let status = Command::new("sh").args(["-c", &command]).status();
        assert!(status.is_ok_and(|status| status.success()), "{command}");
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(program: &PathBuf, arguments: &[String]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("etcd can be started")
}

fn free_url(scheme: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it has an address").port();
    // A certificate names a host.
    if scheme == "https" { format!("https://localhost:{port}") } else { format!("http://127.0.0.1:{port}") }
}
