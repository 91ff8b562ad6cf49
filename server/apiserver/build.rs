//! Links the server so that it becomes smaller: a megabyte by relative relocations in their packed form, and
//! more than half of one by functions that exist once where their code is the same.
//!
//! The linker also lets texts share their ends (`-O2`).
//!
//! The C library reads packed relocations since its version 2.36; where an older one is installed, they stay
//! as they were. Functions are folded by the linker that comes with Rust, where nobody has chosen another
//! one.

use std::{env, process::Command};

/// The first version of the GNU C library that reads packed relocations.
const SINCE: (u32, u32) = (2, 36);

/// The target for which Rust brings its own linker.
const HAS_LINKER: &str = "x86_64-unknown-linux-gnu";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|name| name == "gnu");
    let is_native = env::var("HOST") == env::var("TARGET");
    if is_gnu && is_native && installed().is_some_and(|version| version >= SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let is_target = |name: &str| env::var("TARGET").is_ok_and(|target| target == name);
    let is_optimized = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_native && is_optimized && is_target(HAS_LINKER) && !chooses_linker() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all,-O2");
    }
}

/// Whether who builds has chosen a linker, or given flags that may do so.
fn chooses_linker() -> bool {
    env::var_os("RUSTC_LINKER").is_some()
        || env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"))
}

/// The version of the C library, `glibc 2.36`.
fn installed() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
