//! What a server costs that nobody asks for anything.

use std::{fs, time::Duration};

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, version},
};

/// A file of the server's process.
fn process(server: &TestServer, file: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{file}", server.pid())).expect("the process runs")
}

/// The number behind a name in such a file.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{text}"));
    line.trim().parse().unwrap()
}

/// What a process has used so far.
#[derive(Debug)]
struct Used {
    /// Hundredths of a second.
    processor: u64,
    /// How often a thread has waited for something.
    waits: u64,
    bytes_written: u64,
}

impl Used {
    fn by(server: &TestServer) -> Self {
        let stat = process(server, "stat");
        let (_, fields) = stat.rsplit_once(')').expect("the name of the process stands in parentheses");
        let fields: Vec<u64> =
            fields.split_whitespace().skip(11).take(2).map(|field| field.parse().unwrap()).collect();
        let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).expect("the process runs");
        let waits = threads.filter_map(|thread| {
            // A thread that has ended meanwhile waits no more.
            let status = fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
            Some(number(&status, "voluntary_ctxt_switches:"))
        });
        Used {
            processor: fields.iter().sum(),
            waits: waits.sum(),
            bytes_written: number(&process(server, "io"), "write_bytes:"),
        }
    }
}

/// How often each controller has worked, by its line of the metrics.
async fn worked(server: &TestServer) -> Vec<String> {
    let metrics = server.admin().get("/metrics").await.text();
    let lines = metrics.lines().filter(|line| line.starts_with("workqueue_work_duration_seconds_count{"));
    lines.map(str::to_owned).collect()
}

/// A minute without requests: nothing is written, no controller works, nobody becomes a leader of anything,
/// and the processor sleeps. Measured here, with a build that is not optimized: 180 waits, and 40 ms of work.
#[tokio::test]
async fn an_idle_server_does_next_to_nothing() {
    let server = TestServer::options().publish_authority().start().await;
    // By a connection of its own each time: one that waits for a minute is closed by the server.
    let newest = async || version(&server.admin().get(CONFIG_MAPS).await.expect(200)).to_owned();
    // What a start brings: the first look through the data, and the copy of the write-ahead log.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (version, worked_before) = (newest().await, worked(&server).await);
    let before = Used::by(&server);
    tokio::time::sleep(Duration::from_mins(1)).await;
    let after = Used::by(&server);
    assert_eq!(newest().await, version, "something was written");
    assert_eq!(worked(&server).await, worked_before, "a controller had something to do");
    assert!(worked_before.len() > 10, "{worked_before:?}");
    let leases = server.admin().get("/apis/coordination.orch.io/v1/leases").await.expect(200);
    assert_eq!(leases["items"].as_array().map(Vec::len), Some(0), "{leases}");
    let used = Used {
        processor: after.processor - before.processor,
        waits: after.waits - before.waits,
        bytes_written: after.bytes_written - before.bytes_written,
    };
    println!("{used:?}");
    assert_eq!(used.bytes_written, 0, "{used:?}");
    assert!(used.waits < 1500, "{used:?}");
    assert!(used.processor < 100, "{used:?}");
}
