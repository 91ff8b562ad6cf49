//! The server of this product's own resources.

use std::process::ExitCode;

fn main() -> ExitCode {
    orch_apiserver::bootstrap::main_with(&[orch_api::registry()], orch_api::VOCABULARIES)
}
