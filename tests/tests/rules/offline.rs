//! `validate` says of every object of the tables what a running server has said, byte by byte.

use std::{fmt::Write as _, fs, io::BufRead, process::Stdio};

use orch_tests::TestServer;
use serde_json::Value;
use tempfile::tempdir;

use crate::{TABLES, ask};

#[tokio::test]
async fn manifests_are_judged_as_by_a_server() {
    let tables = || TABLES.iter().for_each(|table| table());
    // The tables wait for their server themselves.
    tokio::task::spawn_blocking(tables).await.unwrap();
    let created = ask::created();
    let mut text = String::new();
    for (tree, _) in &created {
        writeln!(text, "{tree}").unwrap();
    }
    let directory = tempdir().unwrap();
    let file = directory.path().join("objects.json");
    fs::write(&file, text).unwrap();
    let mut command = TestServer::command();
    command.args(["validate", "--vocabulary=kubernetes", "--output=json"]).args(ask::FLAGS);
    let mut process = command.arg("--filename").arg(&file).stdout(Stdio::piped()).spawn().unwrap();
    // Its other end stays open, or the process would end with it.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(1), "some are wrong");
    let lines: Vec<String> = output.stdout.lines().map(Result::unwrap).collect();
    assert_eq!(lines.len(), created.len());
    let mut differences = Vec::new();
    for (line, (tree, refusal)) in lines.iter().zip(&created) {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let status = line.split_once(",\"status\":").map(|(_, status)| status.strip_suffix('}').unwrap());
        assert_eq!(verdict["valid"], status.is_none());
        // The tables do not ask strictly.
        let is_strict = status.is_some_and(|status| status.contains("strict decoding error: unknown field"));
        if !is_strict && status != refusal.as_deref().map(str::trim_end) {
            differences.push(format!("{tree}\n  told {status:?}\n  expected {refusal:?}"));
        }
    }
    let [count, all] = [differences.len(), created.len()];
    assert!(differences.is_empty(), "{count} of {all} differ:\n{}", differences[..count.min(20)].join("\n"));
}
