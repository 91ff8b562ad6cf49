//! Work that the server does by itself, beside requests.
//!
//! A controller takes no input: it is woken by a signal or by time, looks at the state and brings it nearer to what it
//! should be. Running one twice does no harm.

pub mod namespace_content;
pub mod system_namespaces;
pub mod volume_protection;

use std::sync::Arc;

use orch_runtime::resource_def::Verb;

use crate::{app::App, catalog::ServedResource, request_info::Target};

/// What a controller's own write is about.
fn target<'t>(
    resource: &'t Arc<ServedResource>,
    verb: Verb,
    namespace: &'t str,
    name: &'t str,
) -> Target<'t> {
    Target { resource, verb, subresource: None, namespace: namespace.into(), name: name.into() }
}

/// Waits until the server stops.
async fn stopped(app: &App) {
    let mut stopping = app.stopping.clone();
    // An error means that the sender is gone, and the server with it.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
