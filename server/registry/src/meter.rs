//! What verbs tell about their work, for metrics.

use std::time::Duration;

use crate::catalog::ServedResource;

/// Is told about the work of verbs. It is called on their threads, so it counts and does not wait.
pub trait Meter: Send + Sync {
    /// The store has answered a write after so long. `operation` is `create`, `update` or `delete`.
    fn committed(
        &self,
        resource: &ServedResource,
        operation: &'static str,
        took: Duration,
        is_committed: bool,
    );

    /// A list of so many objects was made.
    fn listed(&self, resource: &ServedResource, objects: usize);
}
