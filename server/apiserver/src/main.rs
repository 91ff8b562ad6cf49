//! The server of this product's own resources.

use std::process::ExitCode;

/// Small objects come and go with every request, on all threads: this allocator is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    orch_apiserver::main_with(&[orch_api::registry()], orch_api::VOCABULARIES)
}
