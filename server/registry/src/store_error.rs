//! What errors of the store mean to a client.

use std::time::Instant;

use orch_storage::StoreError;

use crate::{catalog::ServedResource, error::ApiError, objects::Objects};

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
pub fn refused(objects: &Objects, resource: &ServedResource, error: StoreError) -> Refused {
    match error {
        StoreError::AlreadyExists { .. } => Refused::Exists,
        StoreError::NotFound { .. } | StoreError::Conflict { .. } | StoreError::ConditionFailed { .. } => {
            Refused::Race
        }
        other => Refused::Error(failure(objects, resource, other)),
    }
}

/// The answer where the store fails.
pub fn failure(objects: &Objects, resource: &ServedResource, error: StoreError) -> ApiError {
    let (states, now) = (objects.store_states(), Instant::now());
    match error {
        StoreError::DiskFull { .. } => {
            if let Some(requests) = states.full.count(now) {
                tracing::error!(%error, requests, "the disk is full");
            }
            let message = "the disk is full: only deletions are taken until there is room; reads go on";
            ApiError::InsufficientStorage(message.to_owned())
        }
        StoreError::DiskFails { .. } => {
            if let Some(requests) = states.failing.count(now) {
                tracing::error!(%error, requests, "the disk fails");
            }
            let message = "the disk fails: no write is made until it works again; reads go on";
            ApiError::InsufficientStorage(message.to_owned())
        }
        StoreError::ReadOnly { .. } => {
            if let Some(requests) = states.read_only.count(now) {
                tracing::error!(%error, requests, "the database takes no writes");
            }
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
            if let Some(requests) = states.unreachable.count(now) {
                tracing::error!(%error, requests, "the database cannot be reached");
            }
            ApiError::Unavailable("the database cannot be reached".to_owned())
        }
        StoreError::Closed => ApiError::Unavailable("the server is shutting down".to_owned()),
        other => ApiError::internal(format!("the store of {} failed", resource.group_resource), other),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use tracing::{Event, Metadata, Subscriber, span};

    use super::*;
    use crate::test_core::core;

    /// Counts what the log is told.
    struct Lines(Arc<AtomicUsize>);

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn the_log_is_told_of_a_state_and_not_of_each_write_that_it_refuses() {
        let core = core(&crate::behaviour::Behaviours::default());
        let objects = core.objects();
        let resource = objects.catalog().resource("", "v1", "namespaces").unwrap();
        let detail: Arc<str> = "it broke".into();
        for state in [
            StoreError::DiskFull { detail: Arc::clone(&detail) },
            StoreError::DiskFails { detail: Arc::clone(&detail) },
            StoreError::ReadOnly { detail: Arc::clone(&detail) },
            StoreError::Unreachable { detail },
        ] {
            let lines = Arc::default();
            tracing::subscriber::with_default(Lines(Arc::clone(&lines)), || {
                for _ in 0..1000 {
                    // Requests may have copies.
                    failure(&objects.clone(), resource, state.clone());
                }
            });
            assert_eq!(lines.load(Ordering::Relaxed), 1, "{state}");
        }
    }
}
