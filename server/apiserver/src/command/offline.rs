//! What is done with the kinds of a server that answers no requests, and what is printed of it.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use orch_config::{
    ConvertFlags, ImportFlags, ObjectForm, ValidateFlags, VerdictForm, Work, start_error::StartError,
};
use orch_machinery::yaml;
use orch_runtime::Tree;
use serde_json::json;

use crate::{
    bootstrap,
    in_process::Verdict,
    manifests::{self, Manifest},
    server::{Imported, Migrated, Server},
};

/// Does it.
pub(super) fn perform(server: Server, work: Work) -> Result<(), StartError> {
    match work {
        Work::Import(flags) => import(server, flags),
        Work::Migrate => migrate(server),
        Work::Validate(flags) => validate(server, &flags),
        Work::Convert(flags) => convert(server, &flags),
    }
}

/// Creates the objects of a file, and prints what came of it.
fn import(server: Server, flags: ImportFlags) -> Result<(), StartError> {
    let manifests = manifests::read_all(&[flags.manifests])?;
    let importing = Box::pin(server.import(manifests));
    let imported = super::runtime()?.block_on(bootstrap::during("importing", importing))?;
    let Imported { created, existing, without_owner, refused } = imported;
    let mut text = format!("{created} objects are created\n");
    for (what, objects) in [
        ("there already", &existing),
        ("without an owner that is not here", &without_owner),
        ("refused", &refused),
    ] {
        text.extend(objects.iter().map(|object| format!("{what}: {object}\n")));
    }
    print(&text);
    none_of(refused.len(), "objects are refused")
}

/// Writes every object in its storage version, and prints what came of it.
fn migrate(server: Server) -> Result<(), StartError> {
    let migrating = Box::pin(server.migrate());
    let migrated = super::runtime()?.block_on(bootstrap::during("migrating", migrating))?;
    let Migrated { objects, written, refused } = migrated;
    let state = match refused.len() {
        0 => "all in their storage version".to_owned(),
        stay => format!("{stay} stay as they were stored"),
    };
    let mut text = format!("{objects} objects, {state}; {written} were written anew\n");
    text.extend(refused.iter().map(|object| format!("refused: {object}\n")));
    print(&text);
    none_of(refused.len(), "objects stay as they were stored")
}

/// Prints what a server says of manifests.
fn validate(server: Server, flags: &ValidateFlags) -> Result<(), StartError> {
    let manifests = some_of(&flags.files)?;
    let verdicts = super::runtime()?.block_on(server.validate(manifests))?;
    let shown = match flags.output {
        VerdictForm::Text => in_words,
        VerdictForm::Json => in_json,
    };
    print(&verdicts.iter().map(shown).collect::<String>());
    let refused = verdicts.iter().filter(|verdict| verdict.refusal.is_some()).count();
    none_of(refused, &format!("of {} objects are invalid", verdicts.len()))
}

/// The objects of these files. That there are none is no error, and often not what was meant.
fn some_of(files: &[PathBuf]) -> Result<Vec<Manifest>, StartError> {
    let manifests = manifests::read_all(files)?;
    if manifests.is_empty() {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let _ = writeln!(io::stderr(), "{}: no objects in {}", super::program_name(), names.join(", "));
    }
    Ok(manifests)
}

fn in_words(Verdict { place, object, warnings, refusal }: &Verdict) -> String {
    let verdict = match refusal {
        Some(refusal) => refusal.message.clone(),
        None => format!("{object} is valid"),
    };
    let warnings = warnings.iter().map(|warning| format!("warning: {warning}"));
    let mut text = String::new();
    text.extend(warnings.chain([verdict]).map(|line| format!("{place}: {line}\n")));
    text
}

fn in_json(Verdict { place, object, warnings, refusal }: &Verdict) -> String {
    let mut verdict = json!({
        "file": &*place.file, "line": place.line, "object": object, "valid": refusal.is_none(),
        "warnings": warnings,
    });
    if let Some(item) = place.item {
        verdict["item"] = item.into();
    }
    let mut text = verdict.to_string();
    if let Some(refusal) = refusal {
        // As it was answered: a tree would have its fields in another order.
        text.pop();
        text.extend([",\"status\":", &refusal.status, "}"]);
    }
    text + "\n"
}

/// Prints manifests in another version.
fn convert(server: Server, flags: &ConvertFlags) -> Result<(), StartError> {
    let manifests = some_of(&flags.files)?;
    let (mut text, mut faults) = (String::new(), Vec::new());
    for converted in server.convert(manifests, &flags.output_version)? {
        match (converted.object, flags.output) {
            (Ok(object), ObjectForm::Json) => text.extend([object.as_str(), "\n"]),
            (Ok(object), ObjectForm::Yaml) => {
                let tree: Tree = serde_json::from_str(&object).expect("it was written as JSON");
                text += if text.is_empty() { "" } else { "---\n" };
                text += &yaml::encode(&tree);
            }
            (Err(problem), _) => faults.push(format!("{}: {problem}\n", converted.place)),
        }
    }
    print(&text);
    // Where nobody can read it, the exit code has to do.
    let _ = io::stderr().write_all(faults.concat().as_bytes());
    none_of(faults.len(), "objects cannot be converted")
}

/// Exit code 1 where there are some.
fn none_of(count: usize, what: &str) -> Result<(), StartError> {
    if count == 0 { Ok(()) } else { Err(StartError::Runtime(format!("{count} {what}"))) }
}

fn print(text: &str) {
    // A closed pipe is no error: the exit code says the same.
    let _ = io::stdout().write_all(text.as_bytes());
}
