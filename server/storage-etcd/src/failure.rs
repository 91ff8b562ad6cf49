//! Why a call of etcd failed, and what that means to whoever called.

use std::fmt;
use std::sync::Arc;

use orch_storage::StoreError;

use crate::wire::Malformed;

/// Why a call has no good answer.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// No member could be reached: nothing was sent.
    Unreachable(String),
    /// The call was sent, and no answer came.
    NoAnswer(String),
    /// etcd answered with an error.
    Status { code: Code, message: String },
}

/// The status codes of gRPC that etcd gives for different reasons. What is not known here is `Other`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidArgument,
    ResourceExhausted,
    OutOfRange,
    Unavailable,
    Other(u32),
}

impl From<u32> for Code {
    fn from(code: u32) -> Self {
        match code {
            3 => Self::InvalidArgument,
            8 => Self::ResourceExhausted,
            11 => Self::OutOfRange,
            14 => Self::Unavailable,
            other => Self::Other(other),
        }
    }
}

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Self {
        Self::NoAnswer("etcd sent something else than an answer".to_owned())
    }
}

impl Failure {
    /// Whether the version that was asked for is compacted.
    pub(crate) fn is_compacted(&self) -> bool {
        matches!(self, Self::Status { code: Code::OutOfRange, message } if message.contains("compacted"))
    }

    /// Whether etcd has no room.
    pub(crate) fn is_out_of_space(&self) -> bool {
        matches!(self, Self::Status { code: Code::ResourceExhausted, message } if message.contains("space"))
    }

    /// Whether another member may do better.
    pub(crate) fn is_about_the_member(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::NoAnswer(_) => true,
            Self::Status { code, .. } => *code == Code::Unavailable,
        }
    }

    /// Whether a write may have been made all the same. etcd says that it is unavailable both before and
    /// after it has proposed a write.
    pub(crate) fn leaves_open(&self) -> bool {
        match self {
            Self::Unreachable(_) => false,
            Self::NoAnswer(_) => true,
            Self::Status { code, .. } => {
                !matches!(code, Code::InvalidArgument | Code::ResourceExhausted | Code::OutOfRange)
            }
        }
    }

    /// The failure of a write.
    pub(crate) fn of_write(&self) -> StoreError {
        let detail: Arc<str> = self.to_string().into();
        match self {
            failure if failure.is_out_of_space() => StoreError::DiskFull { detail },
            failure if failure.leaves_open() => StoreError::Unknown { detail },
            Self::Status { code: Code::InvalidArgument, message } if message.contains("too large") => {
                StoreError::TooLarge { detail }
            }
            Self::Status { code: Code::InvalidArgument | Code::OutOfRange, .. } => {
                StoreError::Unavailable { detail }
            }
            _ => StoreError::Unreachable { detail },
        }
    }

    /// The failure of anything else.
    pub(crate) fn of_read(&self) -> StoreError {
        let detail = self.to_string().into();
        if self.is_about_the_member() {
            StoreError::Unreachable { detail }
        } else {
            StoreError::Unavailable { detail }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(detail) => write!(f, "no member of etcd can be reached: {detail}"),
            Self::NoAnswer(detail) => write!(f, "etcd gave no answer: {detail}"),
            Self::Status { code: Code::Other(code), message } => write!(f, "{message} (code {code})"),
            Self::Status { message, .. } => f.write_str(message),
        }
    }
}
