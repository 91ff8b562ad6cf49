//! What can go wrong with a call.

use std::{path::PathBuf, time::Duration};

/// Every error of this crate. No message contains a credential or what a target answered.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A kubeconfig file is wrong.
    #[error("{}: {problem}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong, without credentials.
        problem: String,
    },
    /// An address, authority or client certificate cannot be used.
    #[error("{0}")]
    Target(String),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(std::io::Error),
    /// A connection that broke before the answer was complete.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// An answer that is no success.
    #[error("the server answered {status}")]
    Status {
        /// The status code.
        status: u16,
        /// How long the server asks to wait before the next attempt.
        retry_after: Option<Duration>,
    },
    /// A call of gRPC that did not succeed.
    #[error("the server answered with the gRPC status {status}")]
    Grpc {
        /// The status code.
        status: u16,
        /// Whether another attempt may succeed.
        is_passing: bool,
    },
    /// An answer that is larger than it may be.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The target was not there several times, and is not called for a while.
    #[error("not called, because it cannot be reached")]
    CircuitOpen,
}

impl OutboundError {
    /// Whether another attempt may succeed: the target is overloaded or being restarted.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Broken(_) => true,
            Self::Status { status, .. } => *status == 429 || *status >= 500,
            Self::Grpc { is_passing, .. } => *is_passing,
            _ => false,
        }
    }

    /// Whether the target is not there. An answer of any status, or none in time, may be caused by what was
    /// asked: whoever chooses the questions must not decide whether those of others are put.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Connect(_))
    }
}
