//! What the monitoring system thinks of our alert rules and metrics, by its own libraries.

use std::{fs, path::Path, process::Stdio};

use orch_tests::TestServer;
use tokio::process::Command;

use crate::{installed, run};

const JUDGE: &str = "monitoring";

/// The judge has opinions on names. These are the reference's, which dashboards of its operators ask for.
const NAMES_OF_THE_REFERENCE: &[&str] = &[
    "authenticated_user_requests: counter metrics should have \"_total\" suffix",
    "authentication_attempts: counter metrics should have \"_total\" suffix",
    "authentication_token_cache_active_fetch_count: non-histogram and non-summary metrics should not have \
     \"_count\" suffix",
];

#[tokio::test]
async fn alert_rules_are_valid() {
    let Some(judge) = installed("the check of the alert rules", JUDGE) else { return };
    let mut command = Command::new(judge);
    command.arg("rules").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/alerts.yaml"));
    assert_eq!(run(command).await, "");
}

#[tokio::test]
async fn metrics_are_well_formed() {
    let Some(judge) = installed("the check of the metrics", JUDGE) else { return };
    let server = TestServer::start().await;
    let path = server.scratch_dir().join("metrics");
    fs::write(&path, server.admin().get("/metrics").await.text()).unwrap();
    let mut command = Command::new(judge);
    command.arg("metrics").stdin(Stdio::from(fs::File::open(path).unwrap()));
    let output = command.output().await.expect("the judge starts");
    let told = String::from_utf8(output.stdout).unwrap();
    let others: Vec<&str> = told.lines().filter(|line| !NAMES_OF_THE_REFERENCE.contains(line)).collect();
    assert!(others.is_empty(), "{others:#?}");
    assert!(!told.is_empty(), "the judge has looked at nothing");
}
