//! A server whose instructions are counted by callgrind.

use std::{fs::Permissions, os::unix::fs::PermissionsExt, process::Command};

use orch_tests::{TestServer, client::Protocol, server::server_binary};
use tempfile::TempDir;

use super::load::{self, Load};

/// Requests of one connection, and how many are sent before them.
const REQUESTS: usize = 400;
const WARM_UP: usize = 100;

/// A server that runs in valgrind.
pub struct Counted {
    /// The server.
    pub server: TestServer,
    _directory: TempDir,
}

impl Counted {
    /// Starts one with the default flags.
    pub async fn start() -> Self {
        Counted::start_with(&[]).await
    }

    /// Starts one with these flags.
    pub async fn start_with(flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let wrapper = directory.path().join("counted");
        let script = format!(
            "#!/bin/sh\nexec valgrind --tool=callgrind --quiet --callgrind-out-file={}/out {} \"$@\"\n",
            directory.path().display(),
            server_binary().display()
        );
        std::fs::write(&wrapper, script).expect("a file can be written");
        std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).expect("the file is ours");
        // What a write itself costs, without what controllers do next.
        let options = TestServer::options().flag("--controllers=*,-daemonset-controller");
        let options = flags.iter().fold(options, |options, flag| options.flag(*flag));
        Counted { server: options.binary(wrapper).start().await, _directory: directory }
    }

    /// Instructions of one request of this shape.
    pub async fn each(&self, shape: load::Shape) -> f64 {
        let load = Load::open(&self.server, self.server.address(), Protocol::Http1, 1).await;
        load.send(WARM_UP, shape.clone()).await;
        let before = self.instructions();
        load.send(REQUESTS, shape).await;
        (self.instructions() - before) as f64 / REQUESTS as f64
    }

    /// How many it has run so far, on all threads.
    pub fn instructions(&self) -> u64 {
        let output = Command::new("callgrind_control").args(["-e", &self.server.pid().to_string()]).output();
        let text = String::from_utf8_lossy(&output.expect("it belongs to valgrind").stdout).into_owned();
        // `   Th 2       12,074`
        let threads =
            text.lines().filter_map(|line| line.trim().strip_prefix("Th ")?.split_whitespace().nth(1));
        let counts = threads.map(|count| count.replace(',', "").parse::<u64>().expect("counts are numbers"));
        let sum = counts.sum();
        assert!(sum > 0, "callgrind has counted nothing: {text}");
        sum
    }
}
