//! Instructions of the server, counted by callgrind: what a machine that others use too cannot blur.
//!
//! A count is the difference of two runs, so that what happens once drops out. Encryption is included, by code for machines
//! without vector instructions, which is all that valgrind knows.

use std::{fs::Permissions, os::unix::fs::PermissionsExt, process::Command, time::Instant};

use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, config_map},
    server::server_binary,
};
use tempfile::TempDir;

use super::{
    VALUE_BYTES,
    load::{self, Load},
    report::{Report, Wanted},
    watches, writes,
};

/// Requests of one connection, and how many are sent before them.
const REQUESTS: usize = 400;
const WARM_UP: usize = 100;

/// Watches of the two runs, and writes that they hear.
const WATCHES: [usize; 2] = [10, 60];
const WRITES: u64 = 64;

/// Instructions of a GET, of a CREATE, and of the delivery of one event.
pub async fn count(report: &mut Report) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("instructions: SKIPPED, there is no valgrind");
        return;
    }
    let counted = Counted::start().await;
    let item = format!("{CONFIG_MAPS}/item");
    counted.server.admin().post(CONFIG_MAPS, &config_map("item", &"x".repeat(VALUE_BYTES))).await.expect(201);
    let each = counted.each(load::get(&item)).await;
    report.count("GET of 1 KiB, instructions", each, Wanted::Unlimited);
    writes::count(report, &counted).await;
    let [few, many] = [delivered(WATCHES[0]).await, delivered(WATCHES[1]).await];
    let events = (WATCHES[1] - WATCHES[0]) as u64 * WRITES;
    report.count(
        "delivery of an event, instructions",
        (many - few) as f64 / events as f64,
        Wanted::Unlimited,
    );
}

/// Instructions while some watches hear the writes.
async fn delivered(watches: usize) -> u64 {
    let counted = Counted::start().await;
    let server = &counted.server;
    watches::prepare(server).await;
    let epoch = Instant::now();
    let heard = watches::watch(server, watches, epoch).await;
    let warm = (watches::write(server, 1000, 16, epoch).await.len() * watches) as u64;
    assert!(heard.wait(warm).await, "events are missing");
    let before = counted.instructions();
    let events = (watches::write(server, 1000, WRITES, epoch).await.len() * watches) as u64;
    assert!(heard.wait(warm + events).await, "events are missing");
    counted.instructions() - before
}

/// A server that runs in valgrind.
pub struct Counted {
    pub server: TestServer,
    _directory: TempDir,
}

impl Counted {
    async fn start() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let wrapper = directory.path().join("counted");
        let script = format!(
            "#!/bin/sh\nexec valgrind --tool=callgrind --quiet --callgrind-out-file={}/out {} \"$@\"\n",
            directory.path().display(),
            server_binary().display()
        );
        std::fs::write(&wrapper, script).expect("a file can be written");
        std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).expect("the file is ours");
        Counted { server: TestServer::options().binary(wrapper).start().await, _directory: directory }
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
    fn instructions(&self) -> u64 {
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
