//! Many clients list much at a time: each gets all of it or is told to come again, and the server does not
//! grow with their number, whether they read or not.

use std::time::Duration;

use futures_util::future::join_all;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::wire::connect;

/// 10 MB are listed.
const OBJECTS: usize = 20;
const SIZE: usize = 500_000;
/// Together 200 MB, of which half is not read.
const CLIENTS: usize = 20;
/// By how much the server may grow: what is on its way to each client, and no list.
const GROWTH: u64 = 48 << 20;

/// What the server has in memory, in bytes.
fn memory(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// How a list is asked for, and how many bytes of the answer come at least.
const FORMS: &[(&str, &str, usize)] = &[
    ("", "application/json", OBJECTS * SIZE),
    ("?pretty=true", "application/json", OBJECTS * SIZE),
    ("?resourceVersion=0", "application/yaml", OBJECTS * SIZE),
    ("", "application/vnd.orch.protobuf", OBJECTS * SIZE),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_lists_at_a_time_are_not_held_in_memory() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let value = "x".repeat(SIZE);
    for number in 0..OBJECTS {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{number}"), &value)).await.expect(201);
    }
    for (query, accept, expected) in FORMS {
        let before = memory(&server);
        let head = format!(
            "GET {CONFIG_MAPS}{query} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer tok-admin\r\n\
             accept: {accept}\r\nconnection: close\r\n\r\n"
        );
        let mut streams = Vec::new();
        for _ in 0..CLIENTS {
            let mut stream = connect(&server).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            streams.push(stream);
        }
        let silent = streams.split_off(CLIENTS / 2);
        let reads = streams.into_iter().map(|mut stream| {
            tokio::spawn(async move {
                let (mut first, mut count, mut buffer) = (Vec::new(), 0, vec![0; 256 * 1024]);
                while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                    if first.len() < 64 {
                        first.extend_from_slice(&buffer[..length.min(64)]);
                    }
                    count += length;
                }
                (String::from_utf8_lossy(&first).into_owned(), count)
            })
        });
        let reading = tokio::spawn(join_all(reads));
        let mut peak = before;
        while !reading.is_finished() {
            peak = peak.max(memory(&server));
            assert_eq!(admin.get("/livez").await.text(), "ok");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut complete = 0;
        for answer in reading.await.unwrap() {
            let (first, count) = answer.unwrap();
            let is_complete = first.starts_with("HTTP/1.1 200") && count > *expected;
            assert!(is_complete || first.starts_with("HTTP/1.1 429"), "{accept}: {count} bytes of {first}");
            complete += usize::from(is_complete);
        }
        assert!(complete > 0, "{accept}: all are sent away");
        let grown = peak.saturating_sub(before);
        println!("{accept}{query}: {complete} complete, {} MiB more", grown >> 20);
        assert!(grown < GROWTH, "{accept}{query}: {grown} bytes more");
        drop(silent);
    }
}
