//! Runs the generator over the part of the schema folder that no kind is in, but kinds of any folder use.

fn main() -> std::process::ExitCode {
    orch_codegen::Build::new("../../schema").only(&["autoscaling", "meta", "vocabulary.yaml"]).run()
}
