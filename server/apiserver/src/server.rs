//! The server as a library: configuration and resource tables in, a running server out.
//!
//! `Server::builder(config).resources(orch_api::registry()).run()` is all that a server of one's own needs besides a
//! schema folder.

use std::{sync::Arc, time::SystemTime};

use orch_auth::{authentication::Authentication, authorization::Authorization};
use orch_runtime::resource_def::GroupVersionDef;
use orch_storage::{Storage, SystemClock};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    app::App,
    bootstrap,
    catalog::Catalog,
    config::Config,
    controllers::{namespace_content, system_namespaces},
    discovery::Discovery,
    health::Checks,
    layers,
    listener::Listener,
    metrics::Metrics,
    openapi::OpenApi,
    root_paths::RootPaths,
    start_error::StartError,
    version::Version,
};
