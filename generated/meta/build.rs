//! Runs the generator over the part of the schema folder that no kind is in.

fn main() -> std::process::ExitCode {
    orch_codegen::Build::new("../../schema").only(&["meta", "vocabulary.yaml"]).run()
}
