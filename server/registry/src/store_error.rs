//! What errors of the store mean to a client.

use orch_storage::StoreError;

use crate::{catalog::ServedResource, error::ApiError};

/// Why a commit did not happen.
#[derive(Debug)]
pub enum Refused {
    /// An object of that name exists.
    Exists,
    /// Another write came first, or a condition of this one no longer holds. It can run again.
    Race,
    /// The client's answer.
    Error(ApiError),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Refused::Error(error)
    }
}

/// Sorts a store error into races and failures.
pub fn refused(resource: &ServedResource, error: StoreError) -> Refused {
    match error {
        StoreError::AlreadyExists { .. } => Refused::Exists,
        StoreError::NotFound { .. } | StoreError::Conflict { .. } | StoreError::ConditionFailed { .. } => {
            Refused::Race
        }
        other => Refused::Error(failure(resource, other)),
    }
}

/// The answer where the store fails.
pub fn failure(resource: &ServedResource, error: StoreError) -> ApiError {
    match error {
        StoreError::DiskFull { .. } => {
            tracing::error!(%error, "the disk is full");
            let message = "the disk is full: only deletions are taken until there is room; reads go on";
            ApiError::InsufficientStorage(message.to_owned())
        }
        StoreError::ReadOnly { .. } => {
            tracing::error!(%error, "the database takes no writes");
            let message = "the database takes no writes until its operator has mended it; reads go on";
            ApiError::InsufficientStorage(message.to_owned())
        }
        StoreError::TooLarge { .. } => {
            tracing::warn!(%error, "the database takes no value of this size");
            ApiError::TooLarge("the database takes no value of this size".to_owned())
        }
        StoreError::Unknown { .. } => {
            tracing::error!(%error, "a write has no answer");
            ApiError::Timeout("it is not known whether the write was made".to_owned())
        }
        StoreError::Unreachable { .. } => {
            tracing::error!(%error, "the database cannot be reached");
            ApiError::Unavailable("the database cannot be reached".to_owned())
        }
        StoreError::Closed => ApiError::Unavailable("the server is shutting down".to_owned()),
        other => ApiError::internal(format!("the store of {} failed", resource.group_resource), other),
    }
}
