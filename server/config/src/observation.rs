//! Flags for traces and profiles of the server.

use std::path::PathBuf;

use clap::{ArgAction::Set, Args};

use crate::boolean::BOOL;

/// Flags about it.
#[derive(Debug, Args)]
pub struct ObservationFlags {
    /// A file that says where the traces of requests go, and of how many. Without it there are none.
    #[arg(long, value_name = "FILE")]
    tracing_config_file: Option<PathBuf>,
    /// Whether those who may get /debug/pprof are shown what the process does and holds.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = true)]
    profiling: bool,
}

/// What is shown of the server's work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationConfig {
    /// Who gets the traces of requests.
    pub tracing_file: Option<PathBuf>,
    /// Whether there is `/debug/pprof`.
    pub profiles: bool,
}

impl ObservationFlags {
    /// Files are read later, so there is nothing that can be wrong.
    pub fn check(self) -> ObservationConfig {
        ObservationConfig { tracing_file: self.tracing_config_file, profiles: self.profiling }
    }
}
