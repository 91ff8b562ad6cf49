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

/// The status codes of gRPC (<https://grpc.io/docs/guides/status-codes>), as far as they mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidArgument,
    ResourceExhausted,
    OutOfRange,
    Unavailable,
    /// The members do not agree on the data, and etcd takes no writes.
    DataLoss,
    /// Another one that refuses: no right, for example, or a method that is not there.
    Refused(u32),
    /// Another one that tells nothing of what was done.
    Other(u32),
}

impl From<u32> for Code {
    fn from(code: u32) -> Self {
        match code {
            3 => Self::InvalidArgument,
            8 => Self::ResourceExhausted,
            11 => Self::OutOfRange,
            14 => Self::Unavailable,
            15 => Self::DataLoss,
            // Not found, already exists, permission denied, failed precondition, unimplemented,
            // unauthenticated.
            5 | 6 | 7 | 9 | 12 | 16 => Self::Refused(code),
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

    /// Whether etcd has not come to the version that was asked for.
    pub(crate) fn is_of_the_future(&self) -> bool {
        matches!(self, Self::Status { code: Code::OutOfRange, message } if message.contains("future"))
    }

    /// Whether etcd has no room.
    pub(crate) fn is_out_of_space(&self) -> bool {
        matches!(self, Self::Status { code: Code::ResourceExhausted, message } if message.contains("space"))
    }

    /// Whether the request is larger than etcd takes: by its own limit, or by that of its gRPC library.
    pub(crate) fn is_too_large(&self) -> bool {
        match self {
            Self::Status { code: Code::InvalidArgument, message } => message.contains("too large"),
            Self::Status { code: Code::ResourceExhausted, message } => message.contains("larger than max"),
            _ => false,
        }
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
            Self::Status { code, .. } => matches!(code, Code::Unavailable | Code::Other(_)),
        }
    }

    /// The failure of a write.
    pub(crate) fn of_write(&self) -> StoreError {
        let detail: Arc<str> = self.to_string().into();
        match self {
            failure if failure.is_out_of_space() => StoreError::DiskFull { detail },
            failure if failure.is_too_large() => StoreError::TooLarge { detail },
            failure if failure.leaves_open() => StoreError::Unknown { detail },
            Self::Status { code: Code::DataLoss, .. } => StoreError::ReadOnly { detail },
            Self::Status { code: Code::ResourceExhausted, .. } => StoreError::Unreachable { detail },
            Self::Status { .. } => StoreError::Unavailable { detail },
            _ => StoreError::Unreachable { detail },
        }
    }

    /// The failure of anything else.
    pub(crate) fn of_read(&self) -> StoreError {
        let detail = self.to_string().into();
        let is_passing = matches!(self, Self::Status { code: Code::ResourceExhausted | Code::Other(_), .. });
        if self.is_about_the_member() || is_passing {
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
            Self::Status { code: Code::Other(code) | Code::Refused(code), message } => {
                write!(f, "{message} (code {code})")
            }
            Self::Status { message, .. } => f.write_str(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may be answered later is told so.
    #[test]
    fn only_what_refuses_a_read_stays_so() {
        for (code, message, want) in [
            (4, "context deadline exceeded", "Unreachable"),
            (7, "etcdserver: permission denied", "Unavailable"),
            (8, "etcdserver: too many requests", "Unreachable"),
            (14, "etcdserver: leader changed", "Unreachable"),
            (16, "etcdserver: invalid auth token", "Unavailable"),
        ] {
            let failure = Failure::Status { code: code.into(), message: message.to_owned() };
            let error = format!("{:?}", failure.of_read());
            assert!(error.starts_with(want), "{code} {message}: {error}");
        }
    }

    /// Only what refuses says that a write was not made.
    #[test]
    fn a_status_means_the_same_to_all_who_write() {
        for (code, message, want) in [
            (2, "etcdserver: unknown", "Unknown"),
            (3, "etcdserver: request is too large", "TooLarge"),
            (3, "etcdserver: user name is empty", "Unavailable"),
            (4, "context deadline exceeded", "Unknown"),
            (7, "etcdserver: permission denied", "Unavailable"),
            (8, "etcdserver: mvcc: database space exceeded", "DiskFull"),
            (8, "grpc: received message larger than max (3000000 vs. 2097152)", "TooLarge"),
            (8, "etcdserver: too many requests", "Unreachable"),
            (9, "etcdserver: role name not found", "Unavailable"),
            (12, "unknown method Txn", "Unavailable"),
            (13, "internal", "Unknown"),
            (14, "etcdserver: request timed out", "Unknown"),
            (15, "etcdserver: corrupt cluster", "ReadOnly"),
            (16, "etcdserver: invalid auth token", "Unavailable"),
            (99, "?", "Unknown"),
        ] {
            let failure = Failure::Status { code: code.into(), message: message.to_owned() };
            let error = format!("{:?}", failure.of_write());
            assert!(error.starts_with(want), "{code} {message}: {error}");
            assert_eq!(failure.leaves_open(), want == "Unknown", "{code} {message}");
        }
    }
}
