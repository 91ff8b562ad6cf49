//! Each example of the documents is run by a test or is a part of code that is compiled, or there is a reason
//! why it is neither.

use std::path::Path;

use crate::source::{none, read, root};

/// An example of a document.
#[derive(Debug, PartialEq)]
struct Example {
    language: String,
    /// Its lines, as far to the left as its fence.
    text: String,
}

/// Document, language and beginning of examples, and what runs them: a file of tests or the script of CI.
/// After `=` stands a file that is compiled and has the example in it, line for line; in brackets the reason
/// why nothing runs it.
const RUN_BY: &[(&str, &str, &str, &str)] = &[
    ("ARCHITECTURE.md", "", "", "(it is a drawing; tests/tests/tidy/arrows.rs has its arrows)"),
    ("CONTRIBUTING.md", "rust", "//! One token", "=server/auth/src/authenticator/recipe.rs"),
    ("CONTRIBUTING.md", "rust", "    let fixed", "=server/auth/src/authentication/tests.rs"),
    (
        "CONTRIBUTING.md",
        "rust",
        "//! Labels every",
        "=server/controllers/src/product/tests/recipe/example.rs",
    ),
    ("CONTRIBUTING.md", "rust", "#[tokio::test", "=server/controllers/src/product/tests/recipe.rs"),
    ("CONTRIBUTING.md", "rust", "//! `ConfigMap`", "=server/kinds/src/behaviour_recipe.rs"),
    ("CONTRIBUTING.md", "rust", "//! `Example`", "=server/kinds/src/admission/recipe.rs"),
    (
        "CONTRIBUTING.md",
        "rust",
        "",
        "(lines for files that are there, of a keyword, flag or kind that is not)",
    ),
    ("CONTRIBUTING.md", "diff", "", "(the same)"),
    ("CONTRIBUTING.md", "console", "$ cargo", "(it builds the project; .ci/run runs all of its tests)"),
    ("CONTRIBUTING.md", "console", "$ UPDATE_GOLDEN=1", "(it changes the files of the repository)"),
    ("README.md", "console", "$ cargo run --release", "tests/tests/kubectl/guides.rs"),
    ("README.md", "console", "$ cargo run -p widgets", "tests/gadgets/tests/example.rs"),
    ("README.md", "console", "$ kubectl apply -f gadget.yaml", "tests/gadgets/tests/example.rs"),
    ("README.md", "console", "$ kubectl", "tests/tests/kubectl/guides.rs"),
    ("README.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    ("README.md", "yaml", "", "tests/gadgets/tests/example.rs"),
    ("docs/AUDIT.md", "console", "$ orch-apiserver --audit-policy-file=", "tests/tests/api/audit.rs"),
    ("docs/CLIENTS.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    ("docs/MONITORING.md", "yaml", "", "tests/tests/kubectl/guides.rs"),
    ("docs/OPERATING.md", "sh", "", "tests/tests/kubectl/guides.rs"),
    ("docs/OPERATING.md", "text", "", "tests/tests/kubectl/guides.rs"),
    ("docs/OPERATING.md", "ini", "[Service]", "tests/tests/api/deployment.rs"),
    ("docs/OPERATING.md", "yaml", "", "tests/tests/kubectl/guides.rs"),
    ("docs/REPLICAS.md", "", "orch-apiserver --storage=etcd", "server/config/src/tests.rs"),
    ("docs/REPLICAS.md", "", "etcd --data-dir", "tests/tests/etcd/main.rs"),
    ("docs/REPLICAS.md", "", "orch-apiserver migrate-storage", "tests/tests/etcd/walkthrough.rs"),
    ("docs/RUST.md", "rust", "", "tests/tests/client/documentation.rs"),
    ("docs/RUST.md", "sh", "", "tests/tests/client/documentation.rs"),
    ("docs/RUST.md", "toml", "", "tests/tests/client/documentation.rs"),
    ("docs/RUST.md", "yaml", "", "tests/tests/client/documentation.rs"),
    ("docs/SCHEMAS.md", "console", "$ cargo run -- validate", "examples/history/tests/life/manifests.rs"),
    (
        "docs/SCHEMAS.md",
        "lua",
        "",
        "(it takes an editor; codegen/generator/tests/lsp.rs speaks to the program as one)",
    ),
    ("docs/SCHEMAS.md", "sh", "", "codegen/generator/tests/guide.rs"),
    ("examples/history/README.md", "console", "$ history-", "examples/history/tests/life/releases.rs"),
    ("examples/history/README.md", "console", "$ ", "codegen/generator/tests/history.rs"),
    ("examples/history/README.md", "diff", "", "codegen/generator/tests/history.rs"),
    ("examples/history/README.md", "sh", "", "(it builds the programs that the tests of the others have)"),
    ("schema/README.md", "", "<group>/", "(they are names of files)"),
    (
        "schema/README.md",
        "",
        "cargo run -p orch-codegen",
        "(it lists all commands; codegen/generator/tests/command.rs and its like run them)",
    ),
    ("schema/README.md", "rust", "", "=examples/bakery/tests/bakery/main.rs"),
    ("schema/README.md", "ts", "", "=tests/clients/javascript/typed.mts"),
    ("schema/README.md", "yaml", "", "codegen/generator/tests/readme.rs"),
];

/// Where examples are looked for, besides `docs`.
const DOCUMENTS: &[&str] =
    &["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "examples/history/README.md", "schema/README.md"];

#[test]
fn every_example_is_run_or_has_a_reason() {
    let guides = std::fs::read_dir(root().join("docs")).expect("the guides are there");
    let guides = guides.map(|entry| entry.expect("it can be listed").file_name());
    let guides = guides.filter_map(|name| name.into_string().ok());
    let guides = guides.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
    let mut documents: Vec<String> = guides.map(|name| format!("docs/{name}")).collect();
    documents.extend(DOCUMENTS.iter().map(|&document| document.to_owned()));
    let mut used = vec![false; RUN_BY.len()];
    let mut problems = Vec::new();
    for document in documents {
        for example in examples(&read(&root().join(&document))) {
            match RUN_BY.iter().position(|row| is_meant(row, &document, &example)) {
                Some(at) => {
                    used[at] = true;
                    if let Some(file) = RUN_BY[at].3.strip_prefix('=')
                        && !read(&root().join(file)).contains(&example.text)
                    {
                        problems.push(format!("{document}: {file} has not the lines of {example:?}"));
                    }
                }
                None => problems.push(format!("{document}: nothing runs {example:?}")),
            }
        }
    }
    for ((document, language, begins, by), used) in RUN_BY.iter().zip(used) {
        if !used {
            problems.push(format!("{document} has no example {language:?} that begins with {begins:?}"));
        }
        if !by.starts_with('(') && !root().join(by.trim_start_matches('=')).exists() {
            problems.push(format!("there is no {by}"));
        }
    }
    none(&problems);
}

fn is_meant(row: &(&str, &str, &str, &str), document: &str, example: &Example) -> bool {
    let (of, language, begins, _) = row;
    *of == document && *language == example.language && example.text.starts_with(begins)
}

/// The fenced blocks of a document.
fn examples(text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((indent, language)) = line.split_once("```") else { continue };
        if !indent.trim().is_empty() {
            continue;
        }
        let within = lines.by_ref().take_while(|line| line.trim() != "```");
        let text = within.flat_map(|line| [line.strip_prefix(indent).unwrap_or(line), "\n"]).collect();
        found.push(Example { language: language.to_owned(), text });
    }
    found
}

#[test]
fn examples_are_found() {
    let text = "a\n```sh\nb\nc\n```\nd\n  ```\n  e\n    f\n\n  ```\n";
    let example =
        |language: &str, text: &str| Example { language: language.to_owned(), text: text.to_owned() };
    assert_eq!(examples(text), [example("sh", "b\nc\n"), example("", "e\n  f\n\n")]);
    let row = ("D", "sh", "b", "t");
    assert!(is_meant(&row, "D", &example("sh", "b c")));
    for (document, language, begins) in [("E", "sh", "b"), ("D", "text", "b"), ("D", "sh", "c")] {
        assert!(!is_meant(&row, document, &example(language, begins)));
    }
}
