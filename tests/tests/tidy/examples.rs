//! Each example of the README and of the guides is run by a test, or there is a reason why none does.

use std::path::Path;

use crate::source::{none, read, root};

/// An example of a document.
#[derive(Debug, PartialEq)]
struct Example {
    language: String,
    /// Its first line.
    begins: String,
}

/// Document, language and beginning of examples, and what runs them: a file of tests, the script of CI, or
/// the reason why nothing does, in brackets.
const RUN_BY: &[(&str, &str, &str, &str)] = &[
    (
        "README.md",
        "console",
        "$ cargo run --release -- --vocabulary",
        "(as the first one, with a flag of most tests)",
    ),
    ("README.md", "console", "$ cargo run --release", ".ci/run"),
    ("README.md", "console", "$ cargo run -p widgets", "tests/gadgets/tests/example.rs"),
    ("README.md", "console", "$ kubectl apply -f gadget.yaml", "tests/gadgets/tests/example.rs"),
    ("README.md", "console", "$ kubectl", "tests/tests/kubectl/guides.rs"),
    ("README.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    ("README.md", "yaml", "", "tests/gadgets/tests/example.rs"),
    ("docs/AUDIT.md", "console", "$ orch-apiserver --audit-policy-file=", "tests/tests/api/audit.rs"),
    ("docs/CLIENTS.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    ("docs/MONITORING.md", "yaml", "", "tests/tests/kubectl/guides.rs"),
    ("docs/OPERATING.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    (
        "docs/OPERATING.md",
        "text",
        "install ",
        "(it changes the machine; tests/tests/api/deployment.rs tries the unit)",
    ),
    ("docs/OPERATING.md", "ini", "[Service]", "(it changes the machine)"),
    ("docs/OPERATING.md", "text", "kubectl --namespace orch exec", "(it takes a cluster that runs pods)"),
    ("docs/OPERATING.md", "text", "on_data() {", "(it takes a cluster that runs pods)"),
    ("docs/OPERATING.md", "yaml", "", "tests/tests/kubectl/guides.rs"),
    ("docs/REPLICAS.md", "", "orch-apiserver --storage=etcd", "server/apiserver/src/config/tests.rs"),
    ("docs/REPLICAS.md", "", "etcd --data-dir", "tests/tests/etcd/main.rs"),
    ("docs/REPLICAS.md", "", "orch-apiserver migrate-storage", "tests/tests/etcd/walkthrough.rs"),
    ("docs/RUST.md", "", "", "tests/tests/client/documentation.rs"),
    (
        "docs/SCHEMAS.md",
        "console",
        "$ cargo run -- validate",
        "(it is for a server of one's own; tests/tests/api/manifests.rs)",
    ),
    ("docs/SCHEMAS.md", "lua", "", "(it is for an editor; codegen/generator/tests/lsp.rs tries the server)"),
    ("docs/SCHEMAS.md", "sh", "", "codegen/generator/tests/guide.rs"),
];

#[test]
fn every_example_is_run_or_has_a_reason() {
    let guides = std::fs::read_dir(root().join("docs")).expect("the guides are there");
    let guides = guides.map(|entry| entry.expect("it can be listed").file_name());
    let guides = guides.filter_map(|name| name.into_string().ok());
    let guides = guides.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
    let mut documents: Vec<String> = guides.map(|name| format!("docs/{name}")).collect();
    documents.push("README.md".to_owned());
    let mut used = vec![false; RUN_BY.len()];
    let mut problems = Vec::new();
    for document in documents {
        for example in examples(&read(&root().join(&document))) {
            match RUN_BY.iter().position(|row| is_meant(row, &document, &example)) {
                Some(at) => used[at] = true,
                None => problems.push(format!("{document}: nothing runs {example:?}")),
            }
        }
    }
    for ((document, language, begins, by), used) in RUN_BY.iter().zip(used) {
        if !used {
            problems.push(format!("{document} has no example {language:?} that begins with {begins:?}"));
        }
        if !by.starts_with('(') && !root().join(by).exists() {
            problems.push(format!("there is no {by}"));
        }
    }
    none(&problems);
}

/// In the guide for Rust each language has a test.
fn is_meant(row: &(&str, &str, &str, &str), document: &str, example: &Example) -> bool {
    let (of, language, begins, _) = row;
    let is_language = *language == example.language || (language.is_empty() && begins.is_empty());
    *of == document && is_language && example.begins.starts_with(begins)
}

/// The fenced blocks of a document.
fn examples(text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let within: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let begins = within.first().copied().unwrap_or_default().trim().to_owned();
        found.push(Example { language: language.to_owned(), begins });
    }
    found
}

#[test]
fn examples_are_found() {
    let text = "a\n```sh\nb\nc\n```\nd\n  ```\n  e\n  ```\n";
    let example =
        |language: &str, begins: &str| Example { language: language.to_owned(), begins: begins.to_owned() };
    assert_eq!(examples(text), [example("sh", "b"), example("", "e")]);
    let row = ("D", "sh", "b", "t");
    assert!(is_meant(&row, "D", &example("sh", "b c")));
    for (document, language, begins) in [("E", "sh", "b"), ("D", "text", "b"), ("D", "sh", "c")] {
        assert!(!is_meant(&row, document, &example(language, begins)));
    }
}
