//! Manifests without a server: `validate` says what a server would say, `convert` writes them in another
//! version.

use std::{fs, process::Stdio};

use orch_tests::TestServer;
use tempfile::{TempDir, tempdir};

/// What a command does with files: its exit code, stdout and stderr.
struct Outcome(Option<i32>, String, String);

async fn run(directory: &TempDir, arguments: &[&str]) -> Outcome {
    let mut command = TestServer::command();
    command.current_dir(directory.path()).args(arguments).arg("--vocabulary=kubernetes");
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Its other end stays open, or the process would end with it.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome(output.status.code(), text(output.stdout), text(output.stderr))
}

fn files(files: &[(&str, &str)]) -> TempDir {
    let directory = tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

#[tokio::test]
async fn what_is_wrong_is_told_in_the_words_of_a_server() {
    let directory = files(&[
        (
            "right.yaml",
            "# A comment.\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n\n\
          apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team}\n",
        ),
        (
            "wrong.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: A}\n---\n\
          apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndta: {a: b}\n---\napiVersion: example.com/v1\nkind: Thing\n",
        ),
    ]);
    let Outcome(code, said, problem) = run(&directory, &["validate", "-f", "right.yaml"]).await;
    assert_eq!((code, problem.as_str()), (Some(0), ""));
    assert_eq!(
        said,
        "right.yaml:2: v1 Namespace team is valid\nright.yaml:7: v1 ConfigMap team/a is valid\n"
    );

    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[]}}"#;
    fs::write(directory.path().join("pod.json"), pod).unwrap();
    let Outcome(code, said, problem) = run(&directory, &["validate", "-f", "wrong.yaml", "pod.json"]).await;
    assert_eq!(code, Some(1));
    let name = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
                must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    assert_eq!(
        said,
        format!(
            "wrong.yaml:1: items[0]: ConfigMap \"A\" is invalid: metadata.name: Invalid value: \"A\": {name}\n\
             wrong.yaml:8: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
             unknown field \"dta\"\n\
             wrong.yaml:13: no matches for kind \"Thing\" in version \"example.com/v1\"\n\
             pod.json:1: Pod \"p\" is invalid: spec.containers: Required value\n"
        )
    );
    assert!(problem.ends_with(": 4 of 4 objects are invalid\n"), "{problem}");
}

#[tokio::test]
async fn files_without_objects_are_told() {
    let directory = files(&[("empty.yaml", "# Nothing.\n"), ("list.yaml", "kind: List\nitems: []\n")]);
    let Outcome(code, said, problem) = run(&directory, &["validate", "-f", "empty.yaml", "list.yaml"]).await;
    assert_eq!((code, said.as_str()), (Some(0), ""), "{problem}");
    assert!(problem.ends_with(": no objects in empty.yaml, list.yaml\n"), "{problem}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_with_its_place() {
    let directory =
        files(&[("broken.yaml", "a: 1\n---\nb: 1\na: [\n"), ("broken.json", "{\"a\": 1}\n{\"a\": ")]);
    for (file, expected) in [
        ("broken.yaml", ": broken.yaml:4:4: yaml: "),
        ("broken.json", ": broken.json:2:6: EOF while parsing a value"),
        ("missing.yaml", ": missing.yaml: cannot read it: "),
    ] {
        for arguments in [&["validate", "-f", file][..], &["convert", "--output-version=v1", "-f", file]] {
            let Outcome(code, said, problem) = run(&directory, arguments).await;
            assert_eq!((code, said.as_str()), (Some(2), ""), "{problem}");
            assert!(problem.contains(expected), "{problem}");
        }
    }
}

const GROUP: &str = "flowcontrol.apiserver.k8s.io";

#[tokio::test]
async fn manifests_are_written_in_another_version() {
    let level = format!(
        "apiVersion: {GROUP}/v1beta2\nkind: PriorityLevelConfiguration\nmetadata: {{name: l}}\nspec:\n  type: Limited\n  \
         limited: {{assuredConcurrencyShares: 7, limitResponse: {{type: Reject}}}}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n"
    );
    let directory = files(&[]);
    let convert = async |version: &str, text: &str| {
        fs::write(directory.path().join("level.yaml"), text).unwrap();
        let version = format!("--output-version={version}");
        run(&directory, &["convert", "-f", "level.yaml", &version]).await
    };
    let Outcome(code, newer, problem) = convert(&format!("{GROUP}/v1"), &level).await;
    assert_eq!(code, Some(0), "{problem}");
    assert!(
        newer.contains("nominalConcurrencyShares: 7") && newer.contains(&format!("apiVersion: {GROUP}/v1\n")),
        "{newer}"
    );
    assert!(newer.ends_with("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"), "{newer}");
    let Outcome(code, older, _) = convert(&format!("{GROUP}/v1beta2"), &newer).await;
    assert!(code == Some(0) && older.contains("assuredConcurrencyShares: 7"), "{older}");

    let Outcome(code, _, problem) = convert("example.com/v1", &level).await;
    assert_eq!(code, Some(2));
    assert!(problem.contains("--output-version: no kind has the version \"example.com/v1\""), "{problem}");
    let wrong = level.replace("assured", "nominal");
    let Outcome(code, said, problem) = convert(&format!("{GROUP}/v1"), &wrong).await;
    assert!(code == Some(1) && said.starts_with("apiVersion: v1\n"), "{said}");
    let expected =
        "level.yaml:1: strict decoding error: unknown field \"spec.limited.nominalConcurrencyShares\"\n";
    assert!(problem.starts_with(expected), "{problem}");
}
