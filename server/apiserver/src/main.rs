//! The server of this product's own resources.

use std::process::ExitCode;

/// Every request allocates many small objects, on all threads; this allocator is fast at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    orch_apiserver::main_with(&[orch_api::registry()], orch_api::VOCABULARIES)
}
