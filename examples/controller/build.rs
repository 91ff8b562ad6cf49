//! The schema folder of the server in `examples/widgets`, as Rust.

fn main() -> std::process::ExitCode {
    orch_codegen::Build::new("../widgets/schema").run()
}
