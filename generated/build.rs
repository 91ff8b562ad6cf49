//! Runs the generator over the schema folder; the part of it that `orch-meta` holds is imported.

fn main() -> std::process::ExitCode {
    orch_codegen::Build::new("../schema").seed().run()
}
