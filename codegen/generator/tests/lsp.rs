//! `orch-codegen lsp` as an editor sees it.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// The types that every kind needs.
const META: &str = "tests/fixtures/meta/meta/v1/objectmeta.yaml";

const WIDGET: &str = "\
openapi: 3.1.0
info: {title: example.orch.io, version: v1}
components:
  schemas:
    Widget:
      description: A widget.
      x-orch-resource: {plural: widgets, scope: Namespaced}
      type: object
      properties:
        spec: {$ref: '#/components/schemas/WidgetSpec'}
    WidgetSpec:
      descripton: What is wanted.
      type: object
      properties:
        least: {description: The fewest., type: integer}
        most: {description: The most., type: integer}
        zone: {$ref: example.orch.io.v1.Zone}
      x-orch-validations:
        - {rule: self.least <= self.most}
";

const ZONE: &str = "\
openapi: 3.1.0
info: {title: example.orch.io, version: v1}
components:
  schemas:
    Zone: {description: Where it is., type: string}
";

/// An editor with the files of a folder.
struct Editor {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
    next: u64,
}

impl Editor {
    fn start() -> Editor {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("meta/v1/objectmeta.yaml", &fs::read_to_string(META).unwrap());
        write("example.orch.io/v1/widget.yaml", WIDGET);
        write("example.orch.io/v1/zone.yaml", ZONE);
        let mut command = Command::new(env!("CARGO_BIN_EXE_orch-codegen"));
        let mut process = command
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        Editor { process, input, output, folder, next: 1 }
    }

    fn initialized() -> Editor {
        let mut editor = Editor::start();
        let answer = editor.ask("initialize", &json!({"capabilities": {}}));
        assert_eq!(answer["result"]["capabilities"]["hoverProvider"], true, "{answer}");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("example.orch.io/v1").join(name)
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The answer; what is told in between is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        self.tell("textDocument/didOpen", &json!({"textDocument": {"uri": uri, "version": 1, "text": text}}));
    }

    fn change(&mut self, name: &str, text: &str) {
        let document = json!({"uri": self.uri(name), "version": 2});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", &params);
    }

    /// The codes and lines that are told next about a file.
    fn faults(&mut self, name: &str) -> Vec<(String, u64)> {
        loop {
            let message = self.read();
            if message["params"]["uri"] == self.uri(name).as_str() {
                let items = message["params"]["diagnostics"].as_array().unwrap().iter();
                return items
                    .map(|item| {
                        let line = item["range"]["start"]["line"].as_u64().unwrap();
                        (item["code"].as_str().unwrap().to_owned(), line)
                    })
                    .collect();
            }
        }
    }

    /// Asks about the end of `marker` in the text of the widget's file.
    fn ask_at(&mut self, method: &str, text: &str, marker: &str) -> Value {
        let at = text.find(marker).unwrap() + marker.len();
        let line = text[..at].matches('\n').count();
        let character = at - text[..at].rfind('\n').map_or(0, |begin| begin + 1);
        let document = json!({"uri": self.uri("widget.yaml")});
        let params = json!({"textDocument": document, "position": {"line": line, "character": character}});
        self.ask(&format!("textDocument/{method}"), &params)["result"].take()
    }

    fn labels(&mut self, text: &str, marker: &str) -> Vec<String> {
        self.change("widget.yaml", text);
        // A file is checked when nothing else is asked, so that this request can come before.
        let found = self.ask_at("completion", text, marker);
        found.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    fn exit(mut self) -> Option<i32> {
        self.tell("exit", &Value::Null);
        self.process.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.process.wait();
    }
}

#[test]
fn what_is_wrong_is_told_as_it_is_typed() {
    let mut editor = Editor::initialized();
    editor.open("widget.yaml", WIDGET);
    let faults = editor.faults("widget.yaml");
    assert!(faults.contains(&("E0121".to_owned(), 11)), "{faults:?}");
    // What is typed counts, and not what is on disk.
    let mended = WIDGET.replace("descripton", "description");
    editor.change("widget.yaml", &mended);
    let left = editor.faults("widget.yaml");
    assert!(left.iter().all(|(code, _)| code != "E0121"), "{left:?}");
    editor.change("widget.yaml", &mended.replace("self.least", "self.laest"));
    assert!(editor.faults("widget.yaml").contains(&("E0231".to_owned(), 18)));
    // Other files are told about, too.
    editor.change("widget.yaml", &mended);
    editor.faults("widget.yaml");
    editor.open("zone.yaml", &ZONE.replace("    Zone:", "    Zoen:"));
    assert!(editor.faults("widget.yaml").contains(&("E0201".to_owned(), 16)));
    fs::write(editor.path("zone.yaml"), ZONE).unwrap();
    let uri = editor.uri("zone.yaml");
    editor.tell("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    assert!(editor.faults("widget.yaml").iter().all(|(code, _)| code != "E0201"));
    assert_eq!(editor.ask("shutdown", &Value::Null)["result"], Value::Null);
    assert_eq!(editor.exit(), Some(0));
}

#[test]
fn words_are_completed_explained_and_found() {
    let mut editor = Editor::initialized();
    let good = WIDGET.replace("descripton", "description");
    editor.open("widget.yaml", &good);
    editor.faults("widget.yaml");
    let scope = editor.labels(&good, "scope: ");
    assert_eq!(scope, ["Namespaced", "Cluster"]);
    let types = editor.labels(&good, "zone: {$ref: ");
    for expected in ["'#/components/schemas/WidgetSpec'", "example.orch.io.v1.Zone", "meta.v1.ObjectMeta"] {
        assert!(types.iter().any(|label| label == expected), "{expected}: {types:?}");
    }
    assert_eq!(editor.labels(&good, "rule: self."), ["least", "most", "zone"]);
    let names = editor.labels(&good, "rule: s");
    for expected in ["self", "oldSelf", "words", "size"] {
        assert!(names.iter().any(|label| label == expected), "{expected}: {names:?}");
    }

    let text = |hover: &Value| hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    let hover = editor.ask_at("hover", &good, "x-orch-resou");
    assert_eq!(text(&hover), "Makes the object a kind that is served.");
    let hover = text(&editor.ask_at("hover", &good, "#/components/schemas/Widg"));
    assert!(hover.starts_with("`example.orch.io.v1.WidgetSpec`") && hover.contains("- `least`: "), "{hover}");
    assert_eq!(editor.ask_at("hover", &good, "openapi: 3"), Value::Null);

    let place = editor.ask_at("definition", &good, "$ref: example.orch.io.v1");
    assert_eq!(place["uri"], editor.uri("zone.yaml"));
    assert_eq!(place["range"]["start"], json!({"line": 4, "character": 4}));
    let place = editor.ask_at("definition", &good, "#/components");
    assert_eq!(
        (&place["uri"], &place["range"]["start"]["line"]),
        (&editor.uri("widget.yaml").into(), &10.into())
    );
    // Texts with faults come last: until they are judged again, answers rest on what was read of them.
    let rules = "      x-orch-rules:\n      - field: .least\n        immutable: true\n        except: [{field: .least, when: \
                 oldSelf.}]\n";
    let excepted =
        good.replace("      x-orch-validations:\n", &format!("{rules}      x-orch-validations:\n"));
    assert!(excepted.contains(rules), "{excepted}");
    assert_eq!(editor.labels(&excepted, "when: oldSelf."), ["least", "most", "zone"]);
    let keyword = good.replace("      description: What is wanted.\n", "      x-orch-u\n");
    let labels = editor.labels(&keyword, "x-orch-u");
    assert!(labels.contains(&"x-orch-union".to_owned()), "{labels:?}");
    assert_eq!(editor.exit(), Some(1), "without `shutdown`");
}

#[test]
fn nonsense_does_not_end_the_server_and_takes_no_memory() {
    let mut editor = Editor::start();
    assert_eq!(
        editor.ask("textDocument/hover", &json!({}))["error"]["code"],
        -32600,
        "`initialize` comes first"
    );
    editor.ask("initialize", &json!({}));
    for text in ["{", "[]", "7", "{\"id\": 5}", "{\"method\": 5}", "{\"method\": \"textDocument/didOpen\"}"] {
        editor.write(text);
    }
    editor.write(&"[".repeat(100_000));
    editor.write(&" ".repeat(5 * 1024 * 1024));
    write!(editor.input.as_mut().unwrap(), "noise\r\nContent-Length: -1\r\n\r\n").unwrap();
    for (method, params, code) in [
        ("textDocument/hover", json!({"textDocument": {"uri": "file:///gone"}, "position": {}}), -32602),
        ("textDocument/completion", json!(null), -32602),
        ("textDocument/rename", json!({}), -32601),
    ] {
        assert_eq!(editor.ask(method, &params)["error"]["code"], code, "{method}");
    }
    let deep = "a: ".to_owned() + &"{a: ".repeat(50_000);
    editor.open("widget.yaml", &deep);
    editor.open("widget.yaml", "\u{feff}\u{1F600}: [\n\t- ");
    let uri = editor.uri("widget.yaml");
    let position = json!({"line": 1, "character": 2});
    let answer =
        editor.ask("textDocument/completion", &json!({"textDocument": {"uri": uri}, "position": position}));
    assert!(answer["result"].is_array(), "{answer}");
    assert!(memory(Path::new(&format!("/proc/{}/status", editor.process.id()))) < 200 * 1024);
    editor.ask("shutdown", &Value::Null);
    assert_eq!(editor.ask("textDocument/hover", &json!({}))["error"]["code"], -32600);
    assert_eq!(editor.exit(), Some(0));
}

/// The most memory that a process had, in KiB; 0 where the system does not say.
fn memory(status: &Path) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[test]
fn functions_that_are_missing_are_told() {
    let mut editor = Editor::initialized();
    let write = |name: &str, text: &str| {
        let path = editor.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[package]\nname = \"server\"\nedition = \"2024\"\n[workspace]\n");
    write("src/main.rs", "fn main() {}");
    write("build.rs", "fn main() { orch_codegen::Build::new(\"schema\").run(); }");
    let name = "schema/example.orch.io/v1/zone.yaml";
    let text = ZONE.replace("type: string}", "type: string, x-orch-format: {fn: even}}");
    write(name, &text);
    let uri = format!("file://{}", editor.folder.path().join(name).display());
    editor.tell("textDocument/didOpen", &json!({"textDocument": {"uri": uri, "version": 1, "text": text}}));
    loop {
        let message = editor.read();
        if message["params"]["uri"] == uri.as_str() {
            let told = &message["params"]["diagnostics"][0];
            assert_eq!(
                (&told["code"], &told["range"]["start"]["line"]),
                (&json!("E0235"), &json!(4)),
                "{told}"
            );
            return;
        }
    }
}
