//! What `docs/SCHEMAS.md` says of manifests without a server, with the program of a release.

use std::{fs, process::Stdio};

use tokio::process::Command;

use crate::program::{perform, program};

const GUIDE: &str = include_str!("../../../../docs/SCHEMAS.md");

/// The files of the commands there.
const FILES: &[(&str, &str)] = &[
    (
        "autoscalers.yaml",
        "apiVersion: example.orch.io/v1\nkind: Autoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: A, \
         name: a}, maxReplicas: 3}\n",
    ),
    (
        "more.json",
        r#"{"apiVersion": "example.orch.io/v1", "kind": "Autoscaler", "metadata": {"name": "b"},
            "spec": {"scaleTargetRef": {"kind": "B", "name": "b"}, "maxReplicas": 0}}"#,
    ),
];

#[tokio::test]
async fn the_guide_says_what_the_program_says() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let block = GUIDE.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut happened = String::new();
    for line in block.lines().filter(|line| line.starts_with("$ ")) {
        happened.extend([line, "\n"]);
        // The others build the program first.
        let Some(arguments) = line.strip_prefix("$ cargo run -- ") else { continue };
        let mut command = Command::new(program("1.32"));
        command.args(arguments.split(' ')).current_dir(directory.path()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let output = perform(command).await;
        happened += &String::from_utf8(output.stdout).unwrap();
    }
    assert_eq!(block, happened);
}
