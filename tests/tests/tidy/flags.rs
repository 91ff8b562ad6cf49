//! Every flag is explained, and listed in docs/FLAGS.md with the names that it takes.

use std::process::{Command, Output, Stdio};

use orch_tests::server::server_binary;

use crate::source::{none, read, root};

#[test]
fn every_flag_is_explained_and_listed() {
    let output = server(&["--help"]);
    assert!(output.status.success(), "--help fails");
    let help = String::from_utf8(output.stdout).expect("the help is text");
    assert!(flags(&help).len() > 10, "{help}");
    none(&faults(&help, &list()));
}

/// Flags that take names, and tell all of them when they are given another.
const NAMING: &[&str] = &["--controllers", "--enable-admission-plugins"];

#[test]
fn every_name_for_a_flag_is_listed() {
    let list = list();
    let mut unlisted = Vec::new();
    for flag in NAMING {
        let row = list.lines().find(|line| line.starts_with(&format!("| `{flag}`"))).expect("it has a row");
        let directory = tempfile::tempdir().expect("a directory can be made");
        let data_dir = directory.path().to_str().expect("the path is text");
        let refused = server(&[flag, "no-such-name", "--data-dir", data_dir]);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        let (_, names) = message.trim_end().split_once(" (one of: ").expect("the message has the names");
        let names = names.trim_end_matches(')').split(", ");
        let missing = names.filter(|name| !row.contains(&format!("`{name}`")));
        unlisted.extend(missing.map(|name| format!("docs/FLAGS.md does not list {name} for {flag}")));
    }
    none(&unlisted);
}

/// What the server says before it ends by itself. Its input stays open, because it ends with its input.
fn server(arguments: &[&str]) -> Output {
    let mut command = Command::new(server_binary());
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().expect("the server runs");
    let input = server.stdin.take();
    let output = server.wait_with_output().expect("the server ends");
    drop(input);
    output
}

/// The flags of a help text, and the line behind each.
fn flags(help: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = help.lines().collect();
    let flag = |line: &'_ str| -> Option<usize> {
        let word = line.trim_start().split(", ").last()?.split([' ', '[']).next()?;
        (line.starts_with("  ") && word.starts_with("--")).then(|| line.find(word)).flatten()
    };
    let pairs = lines.windows(2).filter_map(|pair| {
        let name = &pair[0][flag(pair[0])?..];
        Some((name.split([' ', '[']).next()?, pair[1].trim()))
    });
    pairs.collect()
}

fn list() -> String {
    read(&root().join("docs/FLAGS.md"))
}

fn faults(help: &str, list: &str) -> Vec<String> {
    let flags = flags(help);
    let unexplained = flags.iter().filter(|(_, explanation)| explanation.len() <= 10);
    let unlisted = flags
        .iter()
        .filter(|(flag, _)| !["--help", "--version"].contains(flag) && !list.contains(&format!("`{flag}`")));
    let unknown = list.split('`').filter(|word| {
        word.starts_with("--") && !word.contains(' ') && !flags.iter().any(|(flag, _)| flag == word)
    });
    unexplained
        .map(|(flag, _)| format!("{flag} has no explanation"))
        .chain(unlisted.map(|(flag, _)| format!("docs/FLAGS.md does not list {flag}")))
        .chain(unknown.map(|flag| format!("docs/FLAGS.md lists {flag}, which does not exist")))
        .collect()
}

#[test]
fn every_fault_of_a_flag_is_found() {
    let help = "Usage: server\n\n  -b, --bind <ADDRESS>\n          Where to listen on this machine\n  --quiet[=<BOOL>]\n\
                \n  -h, --help\n          Prints what you see here\n";
    let names: Vec<&str> = flags(help).into_iter().map(|(flag, _)| flag).collect();
    assert_eq!(names, ["--bind", "--quiet", "--help"]);
    let list = "| `--quiet`, `--gone` |";
    assert_eq!(
        faults(help, list),
        [
            "--quiet has no explanation",
            "docs/FLAGS.md does not list --bind",
            "docs/FLAGS.md lists --gone, which does not exist",
        ]
    );
}
