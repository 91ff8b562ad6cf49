//! The schema files of each release, each in a module of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    for release in ["1.29", "1.30", "1.31", "1.32", "1.34"] {
        let module = format!("release_{}", release.replace('.', "_"));
        let build = orch_codegen::Build::new(format!("releases/{release}")).module(module);
        if build.run() != ExitCode::SUCCESS {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
