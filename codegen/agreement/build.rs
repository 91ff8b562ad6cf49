//! Random rules over one type, and the Rust that is generated for them.

#[path = "src/dice.rs"]
mod dice;
#[path = "src/expressions.rs"]
mod expressions;

use std::{env, fmt::Write as _, fs, path::PathBuf, process::ExitCode};

/// How many rules there are, and from which number they are made.
const RULES: usize = 400;
const SEED: u64 = 20;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=subject.yaml");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let schema = out.join("schema");
    let folder = schema.join("agreement.example.io/v1");
    let mut text = fs::read_to_string("subject.yaml").unwrap_or_default();
    let mut dice = dice::Dice::new(SEED);
    for number in 0..RULES {
        let rule = expressions::rule(&mut dice).replace('\'', "''");
        let written = writeln!(text, "        - {{rule: '{rule}', message: r{number}}}");
        assert!(written.is_ok(), "a text takes any text");
    }
    if let Err(error) =
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("subject.yaml"), text))
    {
        println!("cargo::error={error}");
        return ExitCode::FAILURE;
    }
    orch_codegen::Build::new(schema).run()
}
