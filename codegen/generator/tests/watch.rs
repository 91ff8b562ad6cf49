//! `orch-codegen check --watch`: what a person sees who edits a file.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// How long a change may take to be seen, on a busy machine too.
const PATIENCE: Duration = Duration::from_mins(1);

const GOOD: &str = "\
openapi: 3.1.0
info: {title: example.orch.io, version: v1}
components:
  schemas:
    Part: {description: A part., type: string}
";

fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

#[test]
fn a_change_is_checked_and_only_what_is_new_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("example.orch.io/v1/part.yaml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    // A file is changed at once, as editors do it: a moment without its text would be told about, too.
    let aside = tempfile::tempdir().unwrap();
    let put = |text: &str| {
        fs::write(aside.path().join("new"), text).unwrap();
        fs::rename(aside.path().join("new"), &file).unwrap();
    };
    put(GOOD);
    let mut command = Command::new(env!("CARGO_BIN_EXE_orch-codegen"));
    command.arg("--schema").arg(folder.path()).args(["check", "--watch"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sums = lines(process.stdout.take().unwrap());
    let faults = lines(process.stderr.take().unwrap());
    let sum = || sums.recv_timeout(PATIENCE).expect("a change is seen");
    // The lines of one report; the last one is the remedy.
    let report = || {
        let mut report = String::new();
        while !report.contains("= help: ") {
            report += &faults.recv_timeout(PATIENCE).expect("it is told");
        }
        report
    };
    assert!(sum().ends_with(": 0 kinds, 1 type, 0 errors, 0 warnings"));
    put(&GOOD.replace("type: string", "type: strng"));
    assert!(sum().contains(" 1 error, "));
    assert!(report().starts_with("error[E0125]: unknown value `strng`"));
    // It moves by a line, and another one comes.
    let more = GOOD.replace("type: string", "type: strng").replace("components:", "# more\ncomponents:");
    put(&(more + "    Other: {description: Another one., type: boolen}\n"));
    assert!(sum().contains(" 2 errors, "));
    assert!(report().starts_with("error[E0125]: unknown value `boolen`"), "the first one is not told again");
    put(GOOD);
    assert!(sum().contains(" 0 errors, "));
    let gone: Vec<String> = (0..2).map(|_| faults.recv_timeout(PATIENCE).unwrap()).collect();
    assert!(gone.iter().all(|line| line.starts_with("gone[E0125]: unknown value `")), "{gone:?}");
    process.kill().unwrap();
    process.wait().unwrap();
}
