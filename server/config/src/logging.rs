//! What is logged, and how. The log goes to stderr.

use clap::{Args, ValueEnum};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::start_error::StartError;

/// Under which name each answered request is logged, at the level debug.
pub const REQUESTS: &str = "requests";

/// Flags about the log.
#[derive(Debug, Args)]
pub struct LoggingFlags {
    /// Form of log lines: for people, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// What is logged: error, warn, info, debug or trace; a number from 0 (info) to 10 (trace), where 3 adds
    /// a line for each request; or levels by module: info,requests=debug.
    #[arg(short = 'v', long, value_name = "LEVEL", default_value = "info")]
    log_level: String,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one object per line.
    Json,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggingConfig {
    /// The form of log lines.
    pub format: LogFormat,
    /// Levels by module, as `tracing_subscriber` reads them; valid.
    pub filter: String,
}

impl LoggingFlags {
    /// Checks the levels.
    pub fn check(self) -> Result<LoggingConfig, StartError> {
        let filter = match self.log_level.parse::<u8>() {
            // Verbosity as a number, as in the reference: 3 shows single requests, 4 is for debugging.
            Ok(0..=2) => "info".to_owned(),
            Ok(3) => format!("info,{REQUESTS}=debug"),
            Ok(4..=5) => "debug".to_owned(),
            Ok(6..=10) => "trace".to_owned(),
            Ok(11..) => return Err(StartError::configuration("--log-level", "numbers go from 0 to 10")),
            Err(_) => self.log_level,
        };
        // A misspelled level would be read as the name of a module, and the log would be silent.
        let stray =
            filter.split(',').find(|part| !part.contains('=') && part.parse::<LevelFilter>().is_err());
        if stray.is_some() || EnvFilter::try_new(&filter).is_err() {
            let problem =
                format!("{filter:?} is not a level (error, warn, info, debug, trace), a number or a list");
            return Err(StartError::configuration("--log-level", problem));
        }
        Ok(LoggingConfig { format: self.log_format, filter })
    }
}
