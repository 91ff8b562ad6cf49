//! Links the server with relative relocations in their packed form, which makes it a megabyte smaller. The C
//! library reads them since its version 2.36; where an older one is installed, they stay as they were.

use std::{env, process::Command};

/// The first version of the GNU C library that reads packed relocations.
const SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|name| name == "gnu");
    let is_native = env::var("HOST") == env::var("TARGET");
    if is_gnu && is_native && installed().is_some_and(|version| version >= SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library, `glibc 2.36`.
fn installed() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
