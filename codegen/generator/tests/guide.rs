//! The examples of `docs/SCHEMAS.md` that are about `orch-codegen`, run as they are written.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn the_guide_for_authors_works_as_written() {
    if Command::new("bash").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: there is no bash");
        return;
    }
    let guide = fs::read_to_string("../../docs/SCHEMAS.md").unwrap();
    let blocks = guide.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    let script: String = blocks.collect();
    assert!(script.lines().count() > 10, "the examples are not found");
    let folder = tempfile::tempdir().unwrap();
    let (work, bin) = (folder.path().join("work"), folder.path().join("bin"));
    fs::create_dir(&work).unwrap();
    fs::create_dir(&bin).unwrap();
    symlink(Path::new(env!("CARGO_BIN_EXE_orch-codegen")), bin.join("orch-codegen")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-euxo", "pipefail", "-c", &script]).current_dir(&work).env("PATH", path);
    shell.env("REPOSITORY", fs::canonicalize("../..").unwrap());
    let output = shell.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
