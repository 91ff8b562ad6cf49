//! Completions and manual pages of the whole command line.

use orch_runtime::vocabulary::Vocabulary;
use orch_test_catalog::{KUBERNETES, ORCH};

use crate::{Invocation, command, parse};

static VOCABULARIES: [&Vocabulary; 2] = [&ORCH, &KUBERNETES];

fn shown(arguments: &[&str]) -> String {
    match parse(["orch-apiserver"].iter().chain(arguments), &VOCABULARIES) {
        Ok(Invocation::Show(text)) => text,
        other => panic!("{arguments:?}: {other:?}"),
    }
}

#[test]
fn manual_pages_have_every_flag() {
    let page = shown(&["man"]);
    assert!(page.contains(".TH orch-apiserver 1"), "{page}");
    for flag in command(&VOCABULARIES).get_arguments().filter_map(|flag| flag.get_long()) {
        let roff = format!("\\-\\-{}", flag.replace('-', "\\-"));
        assert!(page.contains(&roff), "{roff} is missing");
    }
    let page = shown(&["man", "backup"]);
    assert!(page.contains(".TH orch-apiserver-backup 1") && page.contains("\\-\\-data\\-dir"), "{page}");
}

#[test]
fn completions_have_every_flag() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = shown(&["completions", shell]);
        for flag in command(&VOCABULARIES).get_arguments().filter_map(|flag| flag.get_long()) {
            assert!(text.contains(flag), "{shell}: {flag} is missing");
        }
    }
}

/// Bash itself completes a flag, a name that a flag takes, and a subcommand.
#[test]
fn bash_completes_with_them() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("completions");
    std::fs::write(&script, shown(&["completions", "bash"])).unwrap();
    for (typed, expected) in [
        ("--secure-p", "--secure-port"),
        ("--audit-log-form", "--audit-log-format"),
        ("resto", "restore"),
        ("--vocabulary kub", "kubernetes"),
        ("backup --data", "--data-dir"),
        ("completions z", "zsh"),
        ("man rest", "restore"),
    ] {
        let ask = format!(
            "source {} && COMP_WORDS=(orch-apiserver {typed}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
             _orch__apiserver orch-apiserver \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let Ok(asked) = std::process::Command::new("bash").args(["-c", &ask]).output() else {
            eprintln!("SKIPPED: there is no bash");
            return;
        };
        let (said, fault) = (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
        assert_eq!(said.trim(), expected, "{typed}: {fault}");
    }
}
