//! Runs of real programs.

use orch_meta::{KUBERNETES, ORCH};
use serde_json::{Value, json};

use super::{MAX_OUTPUT, run};
use crate::{credential::Proof, exec::definition::Definition};

const SECRET: &str = "hunter2";

/// A shell script as a plugin, with `$API` as its `apiVersion`.
fn shell(suffix: &str, script: &str) -> Definition {
    let config = json!({
        "apiVersion": format!("client.authentication.{suffix}/v1"),
        "command": "sh", "args": ["-c", script, "first"],
        "env": [{"name": "GIVEN", "value": SECRET}],
        "interactiveMode": "Never", "installHint": "Install it.",
    });
    Definition::new(&serde_json::from_value(config).unwrap()).unwrap()
}

#[tokio::test]
async fn a_plugin_has_its_arguments_its_environment_and_what_it_is_told() {
    for vocabulary in [&ORCH, &KUBERNETES] {
        let suffix = vocabulary.group_suffix;
        let script = format!(
            r#"cat >&2; printf '{{"apiVersion": "client.authentication.{suffix}/v1", "kind": "ExecCredential",
            "status": {{"token": "%s-%s-%s"}}}}' "$0" "$GIVEN" "$(printf %s "${}" | cksum | cut -d ' ' -f 1)""#,
            vocabulary.exec_info_variable
        );
        let mut definition = shell(suffix, &script);
        definition.cluster = Some(json!({"server": "https://a"}));
        let credential = run(&definition, true).await.unwrap();
        let told = std::process::Command::new("sh")
            .args(["-c", r#"printf %s "$0" | cksum | cut -d ' ' -f 1"#, &definition.info(false)])
            .output()
            .unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let expected = Proof::bearer(&format!("first-{SECRET}-{}", told.trim())).unwrap();
        assert!(credential.proof == expected, "{suffix}");
        assert!(serde_json::from_str::<Value>(&definition.info(false)).is_ok());
    }
}

#[tokio::test]
async fn what_goes_wrong_is_said_without_what_is_secret() {
    let long = format!("head -c {} /dev/zero", MAX_OUTPUT + 1);
    for (script, expected) in [
        ("echo $GIVEN; echo $GIVEN >&2; exit 3", "it failed (exit status: 3)"),
        ("kill -9 $$", "it failed (signal: 9 (SIGKILL))"),
        ("echo $GIVEN", "it printed no ExecCredential: something is wrong in line 1, column 1"),
        (
            "echo \"{\\\"status\\\": \\\"$GIVEN\\\"}\"",
            "it printed no ExecCredential: something is wrong in line 1",
        ),
        (long.as_str(), "it printed more than 1048576 bytes"),
    ] {
        let error = run(&shell(ORCH.group_suffix, script), false).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("credential plugin \"sh\": {expected}")), "{script}: {error}");
        assert!(!error.contains(SECRET), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_its_hint() {
    let mut definition = shell(ORCH.group_suffix, "");
    definition.command = "/no/such/plugin".to_owned();
    let error = run(&definition, false).await.unwrap_err().to_string();
    assert_eq!(error, "credential plugin \"/no/such/plugin\": the program is not found\nInstall it.");
}
