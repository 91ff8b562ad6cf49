//! The clock of a server that jumps: the library `libfaketime`, loaded into its process, reads how far from a
//! file.

use std::path::{Path, PathBuf};

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
    server::ServerOptions,
    skip::skipped,
};
use tempfile::TempDir;

/// Where the package `libfaketime` puts its library for programs with threads.
const LIBRARIES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// Clocks of servers, each to be set apart.
pub struct Clocks {
    library: &'static str,
    directory: TempDir,
}

impl Clocks {
    /// None, which is told, where the library is missing.
    pub fn find() -> Option<Self> {
        let library = LIBRARIES.into_iter().find(|library| Path::new(library).exists());
        let Some(library) = library else {
            skipped("clocks that jump", "libfaketime is not installed");
            return None;
        };
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        Some(Self { library, directory })
    }

    /// Lets a server go by the clock `index`.
    pub fn give(&self, index: usize, options: ServerOptions) -> ServerOptions {
        self.set(index, 0);
        options
            .environment("LD_PRELOAD", self.library)
            .environment("FAKETIME_TIMESTAMP_FILE", self.file(index).display().to_string())
            .environment("FAKETIME_NO_CACHE", "1")
            // What measures how long something takes does not jump on real machines either.
            .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }

    /// Sets a clock so many seconds before or behind the true time.
    pub fn set(&self, index: usize, seconds: i64) {
        // A server never finds a file that is half written.
        let new = self.directory.path().join("new");
        std::fs::write(&new, format!("{seconds:+}\n")).expect("the file can be written");
        std::fs::rename(new, self.file(index)).expect("the file can be put in place");
    }

    fn file(&self, index: usize) -> PathBuf {
        self.directory.path().join(index.to_string())
    }
}

#[tokio::test]
async fn a_server_goes_by_its_clock() {
    const YEAR: i64 = 366 * 24 * 60 * 60;
    let Some(clocks) = Clocks::find() else { return };
    let server = clocks.give(0, TestServer::options()).start().await;
    let mut times = Vec::new();
    for (name, seconds) in [("b", 0), ("a", -YEAR), ("c", YEAR)] {
        clocks.set(0, seconds);
        let made = server.admin().post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
        times.push(made["metadata"]["creationTimestamp"].as_str().expect("a time").to_owned());
    }
    assert!(times[1] < times[0] && times[0] < times[2], "{times:?}");
}
