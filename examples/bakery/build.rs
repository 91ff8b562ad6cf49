//! Schema files in, Rust out.

fn main() -> std::process::ExitCode {
    orch_codegen::Build::new("schema").run()
}
