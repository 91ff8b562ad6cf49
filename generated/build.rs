//! Runs the generator over the schema folder.

use std::{path::Path, process::ExitCode};

const SCHEMA: &str = "../schema";

fn main() -> ExitCode {
    match Path::new(SCHEMA).canonicalize() {
        Ok(folder) => println!("cargo::metadata=schema={}", folder.display()),
        Err(error) => {
            println!("cargo::error=no schema folder at {SCHEMA}: {error}");
            return ExitCode::FAILURE;
        }
    }
    orch_codegen::Build::new(SCHEMA).run()
}
