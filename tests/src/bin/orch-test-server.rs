//! The server, as a process that ends with the test that started it.
//!
//! It is the product's own `main` and nothing else, except that it watches its standard input: a test holds
//! the other end, which the system closes when the test goes away, however that happens. A command that reads
//! its input itself ends by itself; a variable says so.

use std::process::ExitCode;

use orch_tests::server::READS_INPUT;

/// The same as in the product's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if std::env::var_os(READS_INPUT).is_none() {
        std::thread::spawn(|| {
            // End of input and an error mean the same: the test is gone.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            #[expect(clippy::disallowed_methods, reason = "the test that would read an exit code is gone")]
            std::process::exit(1);
        });
    }
    orch_apiserver::main_with(&[orch_api::registry()], orch_api::VOCABULARIES)
}
