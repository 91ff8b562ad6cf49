//! The log: to stderr, from the first line on.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{LogFormat, LoggingConfig};

/// Starts the log. A process that has a log already, because it embeds the server, keeps it.
pub fn start(config: &LoggingConfig) {
    let filter = EnvFilter::new(&config.filter);
    let log = fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    let started = match config.format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("the process has a log already");
    }
}
