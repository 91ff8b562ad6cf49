//! A member of etcd for a test, and stores over it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orch_storage_etcd::EtcdConfig;
use tempfile::TempDir;

/// One member, which ends with the test.
pub struct Member {
    process: Child,
    pub url: String,
    prefixes: AtomicUsize,
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
        let Some(program) = program() else {
            assert!(std::env::var_os("ORCH_TEST_ALL").is_none(), "etcd is not installed");
            println!("SKIPPED: etcd is not installed");
            return None;
        };
        let data = Arc::new(TempDir::new().unwrap());
        // Somebody else may take a port before etcd does.
        for _ in 0..5 {
            let [client, peer] = [free_url(), free_url()];
            let mut command = Command::new(&program);
            command.arg("--data-dir").arg(data.path().join("etcd"));
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
            command.arg(format!("--initial-cluster=default={peer}"));
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            let process = command.spawn().unwrap();
            let data = Arc::clone(&data);
            let mut member = Self { process, url: client, prefixes: AtomicUsize::new(0), data };
            if member.serves() {
                return Some(member);
            }
        }
        panic!("etcd does not start");
    }

    /// A prefix that nobody has used.
    pub fn prefix(&self) -> String {
        format!("/test-{}", self.prefixes.fetch_add(1, Ordering::Relaxed))
    }

    /// A store over it. Its values have their revisions after the last `@`.
    pub fn config(&self, prefix: &str) -> EtcdConfig {
        let at_the_end = |value: &[u8]| value.iter().rposition(|byte| *byte == b'@').map(|at| at + 1);
        EtcdConfig {
            prefix: prefix.to_owned(),
            ..EtcdConfig::new(vec![self.url.clone()], "orch", at_the_end)
        }
    }

    /// Whether it comes up. What it says is read to its end, so that it can always say more.
    fn serves(&mut self) -> bool {
        let mut lines = BufReader::new(self.process.stderr.take().unwrap()).lines();
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
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}")
}
