//! The command `orch-codegen` from the outside: what it prints, what it writes, how it ends.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use orch_codegen::scaffold;

/// The types that every kind needs.
const META: &str = "tests/fixtures/meta";

/// The schema folders of the repository.
const FOLDERS: [&str; 3] = ["../../schema", "../../examples/widgets/schema", "../../examples/bakery/schema"];

/// The folder of several schema folders, one for each release. They have one schema of schema files, beside
/// them.
const RELEASES: &str = "../../examples/history/releases";

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orch-codegen")).args(arguments).output().expect("the command starts")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A schema folder that holds what every kind needs, and nothing else.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let meta = folder.path().join("meta/v1");
    fs::create_dir_all(&meta).expect("a folder can be made");
    fs::copy(Path::new(META).join("meta/v1/objectmeta.yaml"), meta.join("objectmeta.yaml"))
        .expect("a copy can be made");
    folder
}

fn text(folder: &tempfile::TempDir) -> &str {
    folder.path().to_str().expect("the path is text")
}

#[test]
fn check_sums_up_what_is_there() {
    let output = run(&["--schema", "tests/fixtures/basic", "check"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "tests/fixtures/basic: 2 kinds, 4 types, 0 errors, 3 warnings\n");
    assert!(stderr(&output).starts_with("warning[E0321]: the type `WidgetSpec` has no description\n"));
}

/// What build.rs imports, the command finds by itself: the folder of an example, from anywhere.
#[test]
fn check_and_show_see_what_the_build_script_imports() {
    const WIDGETS: &str = "../../examples/widgets/schema";
    let output = run(&["--schema", WIDGETS, "check"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).ends_with(" 0 errors, 0 warnings\n"), "{}", stdout(&output));
    let output = run(&["--schema", WIDGETS, "show", "Widget"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("pub struct Widget"), "{}", stdout(&output));
    let output = run(&["--schema", "../../examples/bakery/schema", "check"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (Some(0), ""));
    assert!(stdout(&output).ends_with(" 0 errors, 0 warnings\n"), "{}", stdout(&output));
}

#[test]
fn a_package_that_cargo_does_not_know_is_named() {
    let folder = folder();
    let schema = folder.path().join("schema");
    fs::create_dir(&schema).expect("a folder can be made");
    fs::write(folder.path().join("Cargo.toml"), "[package]\n").expect("a file can be written");
    let output = run(&["--schema", schema.to_str().expect("the path is text"), "check"]);
    assert_eq!(code(&output), Some(2));
    let text = stderr(&output);
    assert!(text.starts_with("error: cannot ask cargo about ") && text.contains("--import"), "{text}");
}

#[test]
fn check_fails_on_errors_and_reports_all_of_them() {
    let case = "tests/diagnostics/all_files_at_once";
    let output = run(&["check", "--schema", case, "--import", "orch_api=tests/fixtures/meta"]);
    assert_eq!(code(&output), Some(1));
    let expected = fs::read_to_string(Path::new(case).join("expected.txt")).expect("the case has a report");
    assert_eq!(stderr(&output), expected + "\n");
    assert!(stdout(&output).ends_with("3 errors, 0 warnings\n"), "{}", stdout(&output));
}

#[test]
fn other_programs_get_the_report_in_their_forms() {
    let check = |format: &str| {
        let case = "tests/diagnostics/all_files_at_once";
        run(&["check", "--schema", case, "--import", "orch_api=tests/fixtures/meta", "--format", format])
    };
    for (format, begin, count) in
        [("json", "[", "\"severity\""), ("sarif", "{", "\"level\""), ("github", "::error ", "::error ")]
    {
        let output = check(format);
        let text = stdout(&output);
        assert_eq!((code(&output), stderr(&output).as_str()), (Some(1), ""), "{format}");
        assert!(text.starts_with(begin) && text.matches(count).count() == 3, "{text}");
    }
}

#[test]
fn a_missing_folder_is_an_error() {
    let output = run(&["--schema", "tests/nowhere", "check"]);
    assert_eq!(code(&output), Some(1));
    assert!(stderr(&output).starts_with("error[E0101]: cannot read the folder: "), "{}", stderr(&output));
}

#[test]
fn a_new_kind_passes_the_check() {
    for (group_version, kind, file) in [
        ("example.orch.io/v1", "Widget", "example.orch.io/v1/widget.yaml"),
        ("core/v1", "NetworkPolicy", "core/v1/networkpolicy.yaml"),
        ("apps/v1beta1", "Batch", "apps/v1beta1/batch.yaml"),
    ] {
        let folder = folder();
        let output = run(&["--schema", text(&folder), "new", group_version, kind]);
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        let path: PathBuf = folder.path().join(file);
        assert_eq!(stdout(&output), format!("wrote {}\n", path.display()));
        let written = fs::read_to_string(&path).expect("the file is there");
        assert!(written.starts_with(scaffold::MODELINE), "{written}");
        assert!(folder.path().join(scaffold::IDL_SCHEMA).exists(), "the first line names it");
        let output = run(&["--schema", text(&folder), "check"]);
        assert_eq!((code(&output), stderr(&output).as_str()), (Some(0), ""), "{kind}");
    }
}

#[test]
fn new_never_touches_a_file_that_exists() {
    let folder = folder();
    let arguments = ["--schema", text(&folder), "new", "example.orch.io/v1", "Widget"];
    assert_eq!(code(&run(&arguments)), Some(0));
    let path = folder.path().join("example.orch.io/v1/widget.yaml");
    fs::write(&path, "mine").expect("the file can be written");
    let output = run(&arguments);
    assert_eq!(code(&output), Some(2));
    assert_eq!(stderr(&output), format!("error: {} exists already\n", path.display()));
    assert_eq!(fs::read_to_string(&path).expect("the file is there"), "mine");
}

#[test]
fn misuse_is_one_line_and_exit_code_2() {
    for (arguments, expected) in [
        (
            &["new", "v1", "Widget"][..],
            "error: `v1` is not GROUP/VERSION: write it like example.orch.io/v1, or core/v1",
        ),
        (
            &["new", "a/v1/b", "Widget"],
            "error: `a/v1/b` is not GROUP/VERSION: write it like example.orch.io/v1, or core/v1",
        ),
        (
            &["new", "../v1", "Widget"],
            "error: `../v1` is not GROUP/VERSION: write it like example.orch.io/v1, or core/v1",
        ),
        (
            &["new", "a/v1", "wid-get"],
            "error: `wid-get` cannot name a kind: write it in CamelCase, like Widget",
        ),
        (
            &["--schema", "tests/fixtures/basic", "show", "Gadget"],
            "error: no kind or type is called `Gadget`",
        ),
        (&[], "error: no command is given; --help lists all commands"),
        (&["frobnicate"], "error: unrecognized subcommand 'frobnicate'"),
        (&["chek"], "error: unrecognized subcommand 'chek' (did you mean check?)"),
        (&["new"], "error: the following required arguments were not provided: <GROUP_VERSION>, <KIND>"),
        (
            &["export", "foo"],
            "error: invalid value 'foo' for '<FORM>' (one of: crd, json-schema, typescript)",
        ),
        (&["--import", "x", "check"], "error: invalid value 'x' for '--import <CRATE=DIR>': write CRATE=DIR"),
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}");
        assert_eq!(stderr(&output), format!("{expected}\n"));
    }
}

#[test]
fn show_prints_the_code_of_one_kind() {
    let output = run(&["--schema", "tests/fixtures/basic", "show", "ConfigMap"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("pub struct ConfigMap {"), "{}", stdout(&output));
    let output = run(&["--schema", "tests/diagnostics/unknown_keyword", "show", "Widget"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).contains("unknown key `descripton`"), "{}", stderr(&output));
}

/// `UPDATE_GOLDEN=1 cargo test -p orch-codegen --test command` writes the files anew.
#[test]
fn the_schema_of_schema_files_is_up_to_date() {
    let printed = stdout(&run(&["idl-schema"]));
    for folder in FOLDERS.into_iter().chain([RELEASES]) {
        let file = Path::new(folder).join(scaffold::IDL_SCHEMA);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, &printed).expect("the file can be written");
        }
        let kept = fs::read_to_string(&file).expect("the schema of schema files is kept");
        assert!(kept == printed, "{} is old: UPDATE_GOLDEN=1 writes it anew", file.display());
    }
}

#[test]
fn the_first_line_of_a_schema_file_is_for_editors() {
    let of_release = scaffold::MODELINE.replace("../../", "../../../");
    let folders = FOLDERS.map(|folder| (PathBuf::from(folder), scaffold::MODELINE));
    let releases = below(Path::new(RELEASES)).into_iter().map(|folder| (folder, of_release.as_str()));
    let mut without: Vec<String> = Vec::new();
    for (folder, line) in folders.into_iter().chain(releases) {
        let files =
            below(&folder).into_iter().flat_map(|group| below(&group)).flat_map(|version| below(&version));
        let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml"));
        let is_without = |file: &PathBuf| {
            let text = fs::read_to_string(file).expect("the file can be read");
            text.lines().next() != Some(line)
        };
        without.extend(files.filter(is_without).map(|file| format!("{} without `{line}`", file.display())));
    }
    assert!(without.is_empty(), "{without:#?}");
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}

/// Rules are compiled into the server's program, so that is built and asked.
#[test]
fn manifests_are_judged_by_the_program_around_the_folder() {
    let folder = folder();
    let (package, schema) = (folder.path(), folder.path().join("schema"));
    let [src, manifest] = ["src", "Cargo.toml"].map(|name| package.join(name));
    fs::create_dir_all(&schema).unwrap();
    let schema = schema.to_str().unwrap();
    let output = run(&["--schema", schema, "validate", "-f", "a.yaml"]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no Cargo.toml above"), "{}", stderr(&output));

    fs::create_dir(&src).unwrap();
    fs::write(manifest, "[package]\nname = \"server\"\nedition = \"2024\"\n[workspace]\n").unwrap();
    let program =
        "fn main() { print!(\"{:?}\", Vec::from_iter(std::env::args().skip(1))); std::process::exit(1) }";
    fs::write(src.join("main.rs"), program).unwrap();
    for command in ["validate", "convert"] {
        let output = run(&["--schema", schema, command, "-f", "a.yaml", "--output", "json"]);
        assert_eq!(code(&output), Some(1), "{}", stderr(&output));
        assert_eq!(stdout(&output), format!("[{command:?}, \"-f\", \"a.yaml\", \"--output\", \"json\"]"));
    }
    let output = run(&["--schema", schema, "validate"]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
}

/// Functions are looked for where the build script that names the folder has them: nobody has to build first.
#[test]
fn functions_that_a_schema_names_are_looked_for_in_its_package() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[package]\nname = \"server\"\nedition = \"2024\"\n[workspace]\n");
    write("src/main.rs", "fn main() {}");
    write(
        "schema/example.orch.io/v1/part.yaml",
        "openapi: 3.1.0\ninfo: {title: example.orch.io, version: v1}\ncomponents:\n  schemas:\n    \
         Name: {description: A name., type: string, x-orch-format: {fn: even}}\n",
    );
    let schema = folder.path().join("schema");
    let check = || run(&["--schema", schema.to_str().unwrap(), "check"]);
    let output = check();
    assert_eq!(code(&output), Some(0), "no package generates from it: {}", stderr(&output));
    write("build.rs", "fn main() -> std::process::ExitCode { orch_codegen::Build::new(\"schema\").run() }");
    let output = check();
    assert_eq!(code(&output), Some(1));
    let told = stderr(&output);
    assert!(told.starts_with("error[E0235]: there is no function `crate::formats::even`\n"), "{told}");
    assert!(told.contains("part.yaml:5:"), "{told}");
    write("src/formats.rs", "pub fn even() -> Vec<String> { Vec::new() }");
    assert!(stderr(&check()).contains("it is called as `pub fn even(value: &str) -> Vec<String>`"));
    write("src/formats.rs", "pub fn even(value: &str) -> Vec<String> { Vec::new() }");
    let output = check();
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
}
