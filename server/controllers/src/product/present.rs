//! Objects that every server has, as they are now.

use orch_registry::{catalog::ServedResource, client::Client};
use orch_runtime::Tree;

/// What there is under a name.
pub(super) enum Present {
    Nothing,
    /// It stays as it is: one damaged object must not keep a server from starting, because an operator
    /// removes it with that server.
    Damaged,
    Object(Tree),
}

/// Looks, and logs what cannot be read.
pub(super) fn present(client: &Client, resource: &ServedResource, namespace: &str, name: &str) -> Present {
    match client.core().objects().lookup(resource, namespace, name) {
        Ok(None) => Present::Nothing,
        Ok(Some(current)) => Present::Object(current.tree),
        Err(error) => {
            tracing::error!(?error, "an object that every server has cannot be read; it stays as it is");
            Present::Damaged
        }
    }
}
