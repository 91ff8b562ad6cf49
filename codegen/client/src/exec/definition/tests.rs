//! What may stand in a kubeconfig file, and what a plugin is told.

use kube::config::ExecConfig;
use orch_meta::{KUBERNETES, ORCH};
use serde_json::{Value, json};

use super::Definition;

fn definition(config: Value) -> Result<Definition, String> {
    let config: ExecConfig = serde_json::from_value(config).unwrap();
    Definition::new(&config).map_err(|error| error.to_string())
}

fn api_version(suffix: &str, version: &str) -> String {
    format!("client.authentication.{suffix}/{version}")
}

#[test]
fn both_vocabularies_and_both_versions_are_known() {
    for vocabulary in [&ORCH, &KUBERNETES] {
        for version in ["v1", "v1beta1"] {
            let api_version = api_version(vocabulary.group_suffix, version);
            let mode = json!({"apiVersion": api_version, "command": "p", "interactiveMode": "Never"});
            let definition = definition(mode).unwrap();
            assert_eq!(definition.variable, vocabulary.exec_info_variable);
            let info: Value = serde_json::from_str(&definition.info(false)).unwrap();
            let expected =
                json!({"kind": "ExecCredential", "apiVersion": api_version, "spec": {"interactive": false}});
            assert_eq!(info, expected);
        }
    }
}

#[test]
fn wrong_entries_are_refused_by_name() {
    let v1 = api_version(ORCH.group_suffix, "v1");
    for (config, expected) in [
        (json!({"apiVersion": v1, "interactiveMode": "Never"}), "it has no command"),
        (json!({"command": "p", "apiVersion": v1}), "it has no interactiveMode, which v1 requires"),
        (json!({"command": "p"}), "its apiVersion is \"\", and must be one of client.authentication."),
        (
            json!({"command": "p", "apiVersion": api_version("example.com", "v1")}),
            "its apiVersion is \"client.authentication.example.com/v1\"",
        ),
        (
            json!({"command": "p", "apiVersion": api_version(ORCH.group_suffix, "v1alpha1")}),
            "/v1alpha1\", and must be one of ",
        ),
        (
            json!({
                "command": "p", "apiVersion": v1, "interactiveMode": "Never",
                "env": [{"value": "SECRET"}],
            }),
            "an entry of env has no name",
        ),
    ] {
        let error = definition(config).unwrap_err();
        assert!(error.contains(expected) && error.starts_with("credential plugin "), "{error}");
        assert!(!error.contains("SECRET"), "{error}");
    }
}

#[test]
fn the_mode_decides_who_may_ask() {
    // Mode, version, with a terminal, without one.
    for (mode, version, with, without) in [
        (Some("Never"), "v1", Some(false), Some(false)),
        (Some("IfAvailable"), "v1", Some(true), Some(false)),
        (Some("Always"), "v1", Some(true), None),
        (None, "v1beta1", Some(true), Some(false)),
    ] {
        let api_version = api_version(ORCH.group_suffix, version);
        let mut config = json!({"apiVersion": api_version, "command": "p"});
        if let Some(mode) = mode {
            config["interactiveMode"] = json!(mode);
        }
        let definition = definition(config).unwrap();
        for (has_terminal, expected) in [(true, with), (false, without)] {
            assert_eq!(definition.is_interactive(has_terminal).ok(), expected, "{mode:?} {has_terminal}");
        }
    }
}

#[test]
fn the_server_is_described_where_that_is_asked_for() {
    let v1 = api_version(ORCH.group_suffix, "v1");
    let mut definition =
        definition(json!({"apiVersion": v1, "command": "p", "interactiveMode": "IfAvailable"})).unwrap();
    definition.cluster = Some(json!({"server": "https://a"}));
    let info: Value = serde_json::from_str(&definition.info(true)).unwrap();
    assert_eq!(info["spec"], json!({"interactive": true, "cluster": {"server": "https://a"}}));
}
