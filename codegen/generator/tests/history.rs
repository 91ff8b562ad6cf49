//! The history that `examples/history/README.md` tells, step by step: its edits are made, and `orch-codegen`
//! says what is written there. At the end of each release the schema files are those of that release.
//!
//! `UPDATE_GOLDEN=1` writes into the README what the command says. The lines `$ history-...` are done by the
//! tests of that package.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const EXAMPLE: &str = "../../examples/history";

/// The command as a shell can run it. The folder is in no package, so the import is named.
const COMMAND: &str = r#""$PROGRAM" 2>&1 --import "orch_api=$META" "#;

#[test]
fn the_history_of_the_readme_is_what_happens() {
    let readme = format!("{EXAMPLE}/README.md");
    let told = fs::read_to_string(&readme).unwrap();
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&Path::new(EXAMPLE).join("releases"), &folder.path().join("releases"));
    let mut happened = String::new();
    let (mut release, mut file) = (None, PathBuf::new());
    let mut lines = told.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            compare(folder.path(), release);
            release = heading.split(':').next();
        }
        if let Some(named) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            file = folder.path().join("schema").join(named);
        }
        happened.extend([line, "\n"]);
        let block = match line.strip_prefix("```") {
            Some(language) if !language.is_empty() => {
                let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                match language {
                    "diff" => edit(&file, &block),
                    "console" => happened += &run(folder.path(), &block),
                    _ => {}
                }
                if language != "console" {
                    happened.extend(block.iter().flat_map(|line| [*line, "\n"]));
                }
                "```\n"
            }
            _ => "",
        };
        happened += block;
    }
    compare(folder.path(), release);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&readme, &happened).unwrap();
        return;
    }
    assert_eq!(told, happened, "UPDATE_GOLDEN=1 writes into {readme} what is said");
}

/// Runs the commands of a block: the block with what they say now.
fn run(folder: &Path, block: &[&str]) -> String {
    let mut said = String::new();
    for line in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
        said.extend(["$ ", line, "\n"]);
        if line.starts_with("history-") {
            continue;
        }
        let output = Command::new("sh")
            .args(["-c", &line.replacen("orch-codegen ", COMMAND, 1)])
            .env("PROGRAM", env!("CARGO_BIN_EXE_orch-codegen"))
            .env("META", fs::canonicalize("tests/fixtures/meta").unwrap())
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.success(), !text.contains("error["), "{line}\n{text}");
        said += &text;
    }
    said
}

/// Makes an edit: ` ` stays, `-` goes, `+` comes, and `@@` is between two places. Each place is there once.
fn edit(file: &Path, block: &[&str]) {
    let mut text = fs::read_to_string(file).unwrap();
    for place in block.split(|line| *line == "@@") {
        let side = |other: char| -> String {
            let lines = place.iter().filter(|line| !line.starts_with(other));
            lines.flat_map(|line| [&line[1..], "\n"]).collect()
        };
        let (old, new) = (side('+'), side('-'));
        assert_eq!(text.matches(&old).count(), 1, "{}: there is not one\n{old}", file.display());
        text = text.replace(&old, &new);
    }
    fs::write(file, text).unwrap();
}

/// The schema files at the end of a release are those that are kept.
fn compare(folder: &Path, release: Option<&str>) {
    let Some(release) = release else { return };
    let mut now = files(&folder.join("schema"));
    assert!(now.remove(Path::new("schema.lock.json")).is_some(), "{release} is not locked");
    let kept = files(&folder.join("releases").join(release));
    assert_eq!(now, kept, "what is described is not releases/{release}");
}

/// All files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            all.extend(files(&path).into_iter().map(|(below, text)| (name.join(below), text)));
        } else {
            all.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    all
}

fn copy_folder(from: &Path, to: &Path) {
    for (path, text) in files(from) {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
