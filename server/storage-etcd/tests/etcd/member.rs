//! A member of etcd for a test. Also a part of the tests of whole servers.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

/// One member, which ends with the test.
pub struct Member {
    process: Child,
    /// Where clients reach it.
    pub url: String,
    /// Removed when it has ended.
    #[expect(dead_code, reason = "it is there to be dropped")]
    data: Arc<TempDir>,
}

/// What it says when it can be spoken to.
const READY: &str = "ready to serve client requests";

/// The program: that of the variable, or the one that is installed.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ORCH_TEST_ETCD") {
        return Some(path.into());
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|path| path.join("etcd")).find(|path| path.is_file())
}

impl Member {
    /// A new one without data. Without the program, says so, and there is none.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same, with further flags.
    pub fn start_with(flags: &[&str]) -> Option<Self> {
        let Some(program) = program() else {
            assert!(std::env::var_os("ORCH_TEST_ALL").is_none(), "etcd is not installed");
            println!("SKIPPED: etcd is not installed");
            return None;
        };
        let data = Arc::new(TempDir::new().expect("a temporary directory can be made"));
        // Somebody else may take a port before etcd does.
        for _ in 0..5 {
            let [client, peer] = [free_url(), free_url()];
            let mut command = Command::new(&program);
            command.arg("--data-dir").arg(data.path().join("etcd"));
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
            command.arg(format!("--initial-cluster=default={peer}"));
            command.args(flags).stdout(Stdio::null()).stderr(Stdio::piped());
            let process = command.spawn().expect("etcd can be started");
            let data = Arc::clone(&data);
            let mut member = Self { process, url: client, data };
            if member.serves() {
                return Some(member);
            }
        }
        panic!("etcd does not start");
    }

    /// Whether it comes up. What it says is read to its end, so that it can always say more.
    fn serves(&mut self) -> bool {
        let mut lines = BufReader::new(self.process.stderr.take().expect("it is a pipe")).lines();
        let is_ready = lines.by_ref().map_while(Result::ok).any(|line| line.contains(READY));
        std::thread::spawn(move || lines.for_each(drop));
        is_ready
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    format!("http://{}", listener.local_addr().expect("it has an address"))
}
