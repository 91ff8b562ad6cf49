//! Why the server does not start, or ends early: one line for the operator, and an exit code.

use std::{fmt::Display, process::ExitCode};

/// What ends the process, other than a requested shutdown.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A flag, a file or a combination of them is at fault. Nothing was answered yet.
    #[error("{subject}: {problem}")]
    Configuration {
        /// The flag or the file.
        subject: String,
        /// What is wrong, with the remedy where there is one.
        problem: String,
    },
    /// The command line itself cannot be read.
    #[error("{0}")]
    Usage(String),
    /// The server cannot go on.
    #[error("{0}")]
    Runtime(String),
    /// A second signal came before the first one's shutdown was done.
    #[error("stopped by a second signal; requests that were not finished are cut off")]
    Interrupted,
    /// The shutdown took longer than it may.
    #[error("the shutdown took too long; requests that were not finished are cut off")]
    Overdue,
}

impl StartError {
    /// A fault of a flag or a file.
    pub fn configuration(subject: impl Display, problem: impl Display) -> Self {
        Self::Configuration { subject: subject.to_string(), problem: problem.to_string() }
    }

    /// An error with its causes: `cannot read x: permission denied`.
    pub fn caused(subject: impl Display, error: &dyn std::error::Error) -> Self {
        Self::configuration(subject, with_causes(error))
    }

    /// 2 for what the operator has to change, 1 for everything else.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration { .. } | Self::Usage(_) => ExitCode::from(2),
            Self::Runtime(_) | Self::Interrupted | Self::Overdue => ExitCode::FAILURE,
        }
    }
}

/// An error and what caused it, in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::StartError;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read tokens.csv")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn causes_stand_on_the_same_line() {
        let error = Outer(std::io::Error::other("no luck"));
        assert_eq!(
            StartError::caused("--token-auth-file", &error).to_string(),
            "--token-auth-file: cannot read tokens.csv: no luck"
        );
    }
}
