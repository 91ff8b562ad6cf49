//! The commands `diff` and `lock` from the outside: places, forms, exit codes, what is recorded.

use std::{
    fs,
    process::{Command, Output},
};

use super::{FILE, META, RELEASES, WIDGET, folder};

/// A small kind.
const SMALL: &str = "openapi: 3.1.0
info: {title: example.orch.io, version: v1}
components:
  schemas:
    Widget:
      description: A thing.
      x-orch-resource: {plural: widgets, scope: Cluster}
      type: object
      properties: {a: {description: A., type: string}}
";

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_orch-codegen")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn both_places_are_shown_and_programs_get_them_too() {
    let import = format!("orch_api={META}");
    let old = folder(&[(FILE, SMALL)]);
    let new = folder(&[(FILE, &SMALL.replace("{type: string}", "x").replace("a: {", "b: {"))]);
    let [old_path, new_path] = [&old, &new].map(|folder| folder.path().to_str().unwrap());
    let diff =
        |arguments: &[&str]| run(&[&["--import", &import, "diff", old_path, new_path], arguments].concat());
    let (code, stdout, stderr) = diff(&[]);
    assert_eq!(code, Some(1));
    assert_eq!(stdout, format!("{old_path} -> {new_path}: 1 breaking change, 0 allowed\n"));
    assert_eq!(
        stderr,
        format!(
            "error[B201]: `Widget.a` is removed\n --> {new_path}/{FILE}:5:5\n  |\n5 |     Widget:\n  |     ^^^^^^\n \
             ::: {old_path}/{FILE}:9:20\n  |\n9 |       properties: {{a: {{description: A., type: string}}}}\n  |                    - it was declared here\n  \
             = help: keep it, with `x-orch-deprecated`; it can go with its version\n\n"
        )
    );
    for (format, expected) in
        [("json", "\"code\": \"B201\""), ("sarif", "\"ruleId\": \"B201\""), ("github", ",title=B201::")]
    {
        let (code, stdout, stderr) = diff(&["--format", format]);
        assert_eq!((code, stderr.as_str()), (Some(1), ""), "{format}");
        assert!(stdout.contains(expected) && stdout.contains("it was declared here"), "{stdout}");
    }
    for (allow, expected) in
        [("B201=nobody has it", 0), ("B201@example.orch.io.v1.Widget.a=why", 0), ("B201@other=why", 1)]
    {
        let (code, stdout, stderr) = diff(&["--allow", allow]);
        assert_eq!(code, Some(expected), "{allow}: {stderr}");
        assert_eq!(stdout.contains("0 breaking changes, 1 allowed"), expected == 0, "{stdout}");
    }
    for (allow, expected) in [
        ("B201", "write CODE=REASON, or CODE@PLACE=REASON"),
        ("B201= ", "write CODE=REASON"),
        ("B999=x", "no change has the code B999"),
    ] {
        let (code, _, stderr) = diff(&["--allow", allow]);
        assert!(code == Some(2) && stderr.contains(expected), "{stderr}");
    }
    fs::write(new.path().join(FILE), "openapi: 3.1.0\n").unwrap();
    let (code, stdout, stderr) = diff(&[]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error[E0103]: the file "), "{stderr}");
}

#[test]
fn a_lock_is_written_on_purpose_and_records_what_is_allowed() {
    let import = format!("orch_api={META}");
    let place = folder(&[(FILE, WIDGET), ("releases.yaml", RELEASES)]);
    let path = place.path().to_str().unwrap();
    let lock = place.path().join("schema.lock.json");
    let write = |arguments: &[&str]| {
        let (code, stdout, stderr) =
            run(&[&["--schema", path, "--import", &import, "lock"], arguments].concat());
        assert!(code != Some(2), "{stderr}");
        (code == Some(0), stdout, fs::read_to_string(&lock).unwrap())
    };
    let (is_written, stdout, first) = write(&[]);
    assert!(is_written && stdout.ends_with(": 0 breaking changes, 0 allowed\n"), "{stdout}");
    assert!(first.contains("\n        \"most\": {\"type\": \"integer\"},\n"), "{first}");
    assert!(!first.contains("description"), "documentation is not promised: {first}");
    assert_eq!(write(&[]).2, first, "a second time it is the same");

    fs::write(place.path().join(FILE), WIDGET.replace("maximum: 9", "maximum: 8")).unwrap();
    let (is_written, stdout, text) = write(&[]);
    assert!(!is_written && text == first && stdout.contains("stays as it was"), "{stdout}");
    let (code, _, stderr) = run(&["--import", &import, "diff", lock.to_str().unwrap(), path]);
    assert!(
        code == Some(1) && stderr.contains("schema.lock.json:") && stderr.contains("it was `9`"),
        "{stderr}"
    );

    let (is_written, _, second) = write(&["--allow", "B206=it never worked"]);
    let recorded = "{\"code\": \"B206\", \"at\": \"example.orch.io.v1.WidgetSpec.size\", \"reason\": \"it never worked\"}";
    assert!(is_written && second.contains(recorded), "{second}");
    assert!(write(&[]).2.contains(recorded), "it stays recorded");

    for (text, expected) in [
        ("{}", "not a lock of schema files"),
        ("{\"lock\": 2, \"types\": {}}", "a lock of the form 2"),
        ("{\"lock\": 1, \"releases\": {}, \"types\": {\"a.v1.B\": {\"mximum\": 1}}}", "unknown key `mximum`"),
        ("{\"lock\": 1, \"releases\": {\"x\": \"y\"}, \"types\": {}}", "`x` is not a release"),
        (
            "{\"lock\": 1, \"releases\": {}, \"accepted\": [{\"code\": \"B1\"}], \"types\": {}}",
            "an accepted change has",
        ),
        (
            "{\"lock\": 1, \"releases\": {}, \"retired\": [{\"type\": \"a\"}], \"types\": {}}",
            "a retired tag has",
        ),
        ("{", "not valid YAML"),
    ] {
        fs::write(&lock, text).unwrap();
        let (code, _, stderr) = run(&["--import", &import, "diff", lock.to_str().unwrap(), path]);
        assert!(code == Some(2) && stderr.contains(expected), "{text}: {stderr}");
    }
}

/// Between the two locks nothing says any more that the number was used, but for the lock.
#[test]
fn a_tag_is_not_used_again_two_locks_later() {
    let import = format!("orch_api={META}");
    let gated = ", x-orch-tag: 5, x-orch-feature-gate: {name: New, stage: alpha}}";
    let with = |field: &str| WIDGET.replace("x-orch-tag: 3}\n", &format!("x-orch-tag: 3}}\n{field}"));
    let first = with(&format!("        first: {{description: A., type: string{gated}\n"));
    let place = folder(&[(FILE, &first), ("releases.yaml", RELEASES)]);
    let path = place.path().to_str().unwrap();
    let lock = || run(&["--schema", path, "--import", &import, "lock"]);
    assert_eq!(lock().0, Some(0));
    fs::write(place.path().join(FILE), WIDGET).unwrap();
    let (code, stdout, stderr) = lock();
    assert_eq!(code, Some(0), "what is behind the gate of an alpha feature may go: {stdout}{stderr}");
    assert_eq!(lock().0, Some(0), "it stays recorded");
    let text = fs::read_to_string(place.path().join("schema.lock.json")).unwrap();
    let recorded = "{\"type\": \"example.orch.io.v1.Part\", \"tag\": 5, \"field\": \"first\"}";
    assert!(text.contains(recorded), "{text}");
    let second = with("        second: {description: A., type: string, x-orch-tag: 5}\n");
    fs::write(place.path().join(FILE), second).unwrap();
    let (code, _, stderr) = lock();
    assert!(code == Some(1) && stderr.contains("error[B210]: tag 5 of `Part` was `first`"), "{stderr}");
    fs::write(place.path().join(FILE), first).unwrap();
    assert_eq!(lock().0, Some(0), "the same field may come back");
    let text = fs::read_to_string(place.path().join("schema.lock.json")).unwrap();
    assert!(!text.contains("retired"), "{text}");
}

/// The lock of a folder is older than the folder, or the same.
#[test]
fn the_product_and_its_examples_keep_what_they_promised() {
    for schema in ["../../schema", "../../examples/widgets/schema", "../../examples/bakery/schema"] {
        let (code, stdout, stderr) = run(&["diff", &format!("{schema}/schema.lock.json"), schema]);
        assert!(code == Some(0) && stdout.ends_with(": 0 breaking changes, 0 allowed\n"), "{stdout}{stderr}");
    }
}

/// Time passes without a change of the files: what is overdue is told each time, until it is accepted.
#[test]
fn what_is_overdue_is_told_until_it_is_accepted() {
    let lifecycle = "scope: Cluster, lifecycle: {introduced: \"1.20\"}}";
    let kind = SMALL.replace("version: v1}", "version: v1beta1}").replace("scope: Cluster}", lifecycle);
    let folder = folder(&[("example.orch.io/v1beta1/widget.yaml", &kind), ("releases.yaml", RELEASES)]);
    let path = folder.path().to_str().unwrap();
    let import = format!("orch_api={META}");
    let command = |arguments: &[&str]| run(&[&["--import", &import, "--schema", path], arguments].concat());
    assert_eq!(command(&["lock"]).0, Some(0), "a first lock is not compared with anything");
    let lock = format!("{path}/schema.lock.json");
    let (code, _, stderr) = command(&["diff", &lock]);
    assert!(code == Some(1) && stderr.contains("error[B307]"), "{stderr}");
    assert_eq!(command(&["lock"]).0, Some(1));
    assert_eq!(command(&["lock", "--allow", "B307=clients need it"]).0, Some(0));
    let (code, stdout, stderr) = command(&["diff", &lock]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
}
