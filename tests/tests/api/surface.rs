//! What `schema/surface.yaml` and `schema/releases.yaml` say of the server is so.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use orch_codegen::{
    Inputs,
    diagnostic::Diagnostics,
    diff::{self, state::State},
};
use orch_tests::{TestServer, server::server_binary};

/// How often metrics are asked for until a request is counted.
const PATIENCE: usize = 500;

/// What the schema folder promises.
fn promised() -> State {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let mut found = Diagnostics::default();
    let state = diff::state(&Inputs { schema: schema.into(), imports: Vec::new() }, &mut found);
    state.unwrap_or_else(|| panic!("{}", found.render()))
}

#[test]
fn every_flag_that_is_promised_exists() {
    // Its input stays open, because it ends with its input.
    let mut command = Command::new(server_binary());
    command.arg("--help").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let input = server.stdin.take();
    let output = server.wait_with_output().unwrap();
    drop(input);
    let help = String::from_utf8(output.stdout).unwrap();
    let words = help.split(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '-'));
    let existing: BTreeSet<&str> = words.filter(|word| word.starts_with("--")).collect();
    let state = promised();
    let promised = state.surface.of("flags");
    let missing: Vec<&&str> = promised.keys().filter(|flag| !existing.contains(**flag)).collect();
    assert!(missing.is_empty() && promised.len() > 50, "deprecate them first: {missing:?}");
}

#[tokio::test]
async fn every_gate_and_metric_that_is_promised_exists() {
    let server = TestServer::start().await;
    // Requests are counted when they have been answered.
    server.admin().get("/api/v1/namespaces").await.expect(200);
    let mut text = String::new();
    for _ in 0..PATIENCE {
        text = server.admin().get("/metrics").await.text();
        if text.contains("# TYPE apiserver_request_total ") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let gate = |line: &str| {
        let rest = line.strip_prefix("orch_feature_enabled{name=\"")?;
        let (name, rest) = rest.split_once("\",stage=\"")?;
        let stage = rest.split('"').next()?.to_lowercase();
        Some((name.to_owned(), if stage.is_empty() { "stable".to_owned() } else { stage }))
    };
    let gates: BTreeMap<String, String> = text.lines().filter_map(gate).collect();
    let metrics: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let state = promised();
    let missing: Vec<&str> =
        state.surface.of("metrics").into_keys().filter(|name| !metrics.contains(name)).collect();
    assert!(missing.is_empty(), "deprecate them first: {missing:?}");
    for (name, stage) in state.surface.of("gates") {
        assert_eq!(gates.get(name).map(String::as_str), Some(stage), "{name}");
    }
}

/// The last release of the schema files is that of the server.
#[tokio::test]
async fn the_release_is_the_last_one() {
    let server = TestServer::start().await;
    let version = server.admin().get("/version").await.expect(200);
    let release = format!("{}.{}", version["major"].as_str().unwrap(), version["minor"].as_str().unwrap());
    assert_eq!(promised().releases.current().map(|current| current.to_string()), Some(release));
}
