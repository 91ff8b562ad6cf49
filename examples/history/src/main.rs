//! The servers of all releases of `README.md`, in one program. The name by which it is called says which one
//! it is: `history-1.31` serves what `releases/1.31` describes.

use std::{env, ffi::OsStr, path::Path, process::ExitCode};

use orch_runtime::resource_def::GroupVersionDef;

#[cfg(test)]
mod proofs;

/// What a schema folder describes.
type Registry = fn() -> &'static [&'static GroupVersionDef];

macro_rules! releases {
    ($( $release:literal => $module:ident, )*) => {
        $(
            mod $module {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($module), "/history.rs"));
            }
        )*

        /// Each release, from the first to the last.
        const RELEASES: &[(&str, Registry)] = &[$( ($release, $module::registry), )*];
    };
}

releases! {
    "1.29" => release_1_29,
    "1.30" => release_1_30,
    "1.31" => release_1_31,
    "1.32" => release_1_32,
    "1.34" => release_1_34,
}

fn main() -> ExitCode {
    let program = env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_named = |(release, _): &&(&str, Registry)| name.ends_with(&format!("-{release}"));
    let Some((_, registry)) = RELEASES.iter().find(is_named) else {
        let releases: Vec<&str> = RELEASES.iter().map(|(release, _)| *release).collect();
        eprintln!("call it by the name of a release, history-N: {}", releases.join(", "));
        return ExitCode::from(2);
    };
    orch_apiserver::run(orch_api::VOCABULARIES, |server| {
        server.resources(orch_api::registry().iter().copied()).resources(registry().iter().copied())
    })
}
