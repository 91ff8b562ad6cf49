//! Random rules over random types, and the Rust that is generated for them.

#[path = "src/dice.rs"]
mod dice;
#[path = "src/expressions.rs"]
mod expressions;
#[path = "src/schemas.rs"]
mod schemas;

use std::{env, fmt::Write as _, fs, io, path::PathBuf, process::ExitCode};

/// How many rules there are for the type of `subject.yaml` and for each random one, and from which number
/// they are made.
const RULES: usize = 400;
const RULES_OF_RANDOM: usize = 60;
const SEED: u64 = 20;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=subject.yaml");
    println!("cargo::rerun-if-changed=meta.yaml");
    let schema = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("schema");
    match written(&schema) {
        Ok(()) => orch_codegen::Build::new(schema).run(),
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the schema files.
fn written(schema: &std::path::Path) -> io::Result<()> {
    // What another version of this script has written there would be read too.
    if schema.is_dir() {
        fs::remove_dir_all(schema)?;
    }
    let mut text = fs::read_to_string("subject.yaml")?;
    let mut dice = dice::Dice::new(SEED);
    rules(&mut dice, RULES, &mut text);
    for number in 0..schemas::SCHEMAS {
        text += &schemas::schema(&mut dice, number);
        rules(&mut dice, RULES_OF_RANDOM, &mut text);
    }
    for (folder, text) in [("agreement.example.io/v1", text), ("meta/v1", fs::read_to_string("meta.yaml")?)] {
        let folder = schema.join(folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("types.yaml"), text)?;
    }
    Ok(())
}

/// Random rules, some of which make their messages.
fn rules(dice: &mut dice::Dice, count: usize, text: &mut String) {
    for number in 0..count {
        let rule = expressions::rule(dice).replace('\'', "''");
        let message = (dice.below(4) == 0).then(|| expressions::message(dice).replace('\'', "''"));
        let message = message.map_or(String::new(), |message| format!(", messageExpression: '{message}'"));
        let written = writeln!(text, "        - {{rule: '{rule}', message: r{number}{message}}}");
        assert!(written.is_ok(), "a text takes any text");
    }
}
