//! What `schema/README.md` shows in YAML is right, and Rust can be made of it.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{fs, path::Path, process::Command};

use orch_codegen::{Inputs, emit, load};

const HEAD: &str = "openapi: 3.1.0\ninfo: {title: example.orch.io, version: v1}\ncomponents:\n  schemas:\n";

/// What an example is a part of.
struct Part {
    /// How the example begins.
    begins: &'static str,
    /// What stands before it in its file, and how far it is indented.
    before: &'static str,
    indent: usize,
    /// What stands after it.
    after: &'static str,
}

const PARTS: &[Part] = &[
    Part { begins: "openapi:", before: "", indent: 0, after: "" },
    Part {
        begins: "Ingress:",
        before: "",
        indent: 4,
        after: "      properties: {mode: {type: string}, ip: {type: string}, port: {type: integer, format: int32}, targetPort: \
                {type: string, format: int-or-string}, protocol: {type: string}, timeouts: {$ref: \
                '#/components/schemas/Timeouts'}}\n    Timeouts: {type: object, properties: {read: {type: integer}}}\n",
    },
    Part {
        begins: "x-orch-resource:",
        before: "    Widget:\n      type: object\n      properties: {spec: {$ref: '#/components/schemas/WidgetSpec'}}\n",
        indent: 6,
        after: "    WidgetSpec: {type: object, properties: {color: {type: string}, host: {type: string}}}\n",
    },
    Part {
        begins: "weight:",
        before: "    Widget:\n      type: object\n      properties:\n",
        indent: 8,
        after: "",
    },
    Part {
        begins: "Profile:",
        before: "",
        indent: 4,
        after: "      properties: {type: {type: string}, path: {type: string}, mounts: {type: array, items: {$ref: \
                '#/components/schemas/Mount'}}, volumes: {type: array, items: {$ref: '#/components/schemas/Volume'}}}\n    \
                Mount: {type: object, properties: {volume: {type: string}}}\n    \
                Volume: {type: object, properties: {name: {type: string}}}\n",
    },
    Part {
        begins: "Host:",
        before: "",
        indent: 4,
        after: "      properties: {name: {type: string}, zone: {type: string}, kind: {type: string}}\n",
    },
    Part {
        begins: "- {field: 'oldSelf.parts[*].name'",
        before: "    Part: {type: object, properties: {name: {type: string}}}\n    Widget:\n      type: object\n      properties: \
                 {parts: {type: array, items: {$ref: '#/components/schemas/Part'}}}\n      x-orch-rules:\n",
        indent: 6,
        after: "",
    },
];

/// Files beside schema files.
const OTHERS: &[(&str, &str)] = &[("releases:", "releases.yaml"), ("flags:", "surface.yaml")];

/// The newer version of the kind that one of the examples is an older version of.
const NEWER: &str = "openapi: 3.1.0\ninfo: {title: example.orch.io, version: v1}\ncomponents:\n  schemas:\n    Widget:\n      \
                     type: object\n      x-orch-resource: {plural: widgets, scope: Namespaced, storageVersion: true}\n      \
                     properties: {spec: {$ref: '#/components/schemas/WidgetSpec'}}\n    WidgetSpec: {type: object, \
                     properties: {look: {$ref: '#/components/schemas/Look'}, hosts: {type: array, items: {type: \
                     string}}}}\n    Look: {type: object, properties: {colour: {type: string}}}\n";

#[test]
fn the_examples_of_the_readme_are_right() {
    let readme = fs::read_to_string("../../schema/README.md").unwrap();
    let blocks = readme.split("```yaml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let mut count = 0;
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        let other = OTHERS.iter().find(|(begins, _)| block.starts_with(begins));
        match other {
            Some((_, file)) => read_beside(folder.path(), file, block),
            None => generate(folder.path(), block),
        }
        count += 1;
    }
    assert!(count > 9, "the README shows examples");
}

/// The command that reads such files reads this one.
fn read_beside(folder: &Path, file: &str, text: &str) {
    write(folder, "v1", NEWER);
    fs::write(folder.join(file), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_orch-codegen"));
    let output = command
        .args(["--import", "orch_api=tests/fixtures/meta", "diff"])
        .args([folder, folder])
        .output()
        .unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn generate(folder: &Path, block: &str) {
    let part = PARTS.iter().find(|part| block.starts_with(part.begins));
    let part = part.unwrap_or_else(|| panic!("say in PARTS what this is a part of:\n{block}"));
    let is_file = part.indent == 0;
    let lines = block.lines().map(|line| format!("{:indent$}{line}\n", "", indent = part.indent));
    let text: String = lines.collect();
    let is_older = part.begins == "x-orch-resource:";
    let head = if is_older { HEAD.replace("v1}", "v1beta1}") } else { HEAD.to_owned() };
    let text = if is_file { block.to_owned() } else { [&head, part.before, &text, part.after].concat() };
    write(folder, if is_older { "v1beta1" } else { "v1" }, &text);
    if is_older {
        write(folder, "v1", NEWER);
    }
    let imports = vec![("orch_api".to_owned(), "tests/fixtures/meta".into())];
    let loaded = load(&Inputs { schema: folder.into(), imports });
    assert!(loaded.diagnostics.counts().0 == 0, "{text}\n{}", loaded.diagnostics.render());
    for file in emit::emit(&loaded.model, "example", false) {
        let is_rust = Path::new(&file.path).extension().is_some_and(|extension| extension == "rs");
        assert!(!is_rust || syn::parse_file(&file.text).is_ok(), "{}", file.text);
    }
}

fn write(folder: &Path, version: &str, text: &str) {
    let folder = folder.join("example.orch.io").join(version);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("example.yaml"), text).unwrap();
}
