//! The server as a library: it takes a configuration, resource tables and their behaviour, and runs.
//!
//! `Server::builder(config).resources(tables).run(stopping)` is all that a program needs beside a schema
//! folder; [`run`](crate::run) adds a command line. What the product's kinds can do, a user's kinds can do
//! through the same methods.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use arc_swap::ArcSwap;
use axum::Router;
use orch_auth::authorizer::Authorizer;
use orch_config::{Config, start_error::StartError};
use orch_controllers::controller::{AnyController, Controller};
use orch_http::{app::App, connections};
use orch_listener::Listener;
use orch_registry::{
    admission::AdmissionPlugin,
    behaviour::{Behaviour, Behaviours},
    operation::{Operation, Operations, Review},
};
use orch_runtime::{object::Kind, resource_def::GroupVersionDef};
use rustls::ServerConfig;
use tokio::sync::watch;

use self::parts::Parts;
use crate::bootstrap::{
    logging::LostLines,
    service_manager::{self, READY},
};

mod answers;
mod assembly;
mod callers;
mod convert;
mod first_objects;
mod follower;
mod import;
mod left_behind;
mod migrate;
mod offline;
mod parts;
mod ready;

pub use convert::Converted;
pub use import::Imported;
pub use migrate::Migrated;

/// A server that is being put together. The product's own behaviour and plugins are in it already; its
/// controllers are added when it starts.
pub struct Server {
    config: Config,
    tables: Vec<&'static GroupVersionDef>,
    behaviours: Behaviours,
    operations: Operations,
    admission: Vec<Box<dyn AdmissionPlugin>>,
    controllers: Vec<Box<dyn AnyController>>,
    authorizers: Vec<Box<dyn Authorizer>>,
    router: Router,
    socket: Option<TcpListener>,
    lost_lines: Option<LostLines>,
}

/// A server that listens.
pub struct Running {
    parts: Parts,
    listener: Listener,
    /// For new connections.
    tls: Arc<ArcSwap<ServerConfig>>,
}

/// Where requests come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The configured address. Data is where the configuration says.
    Address,
    /// This process. Data is in memory.
    Process,
}

impl Server {
    /// A server with this configuration and no resources yet.
    pub fn builder(config: Config) -> Self {
        let mut behaviours = Behaviours::default();
        orch_kinds::behaviours(&config.ranges, &mut behaviours);
        Server {
            config,
            tables: Vec::new(),
            behaviours,
            operations: Operations::default(),
            admission: orch_kinds::admission(),
            controllers: Vec::new(),
            authorizers: Vec::new(),
            router: Router::new(),
            socket: None,
            lost_lines: None,
        }
    }

    /// Serves these resources too; may be called for several crates.
    #[must_use]
    pub fn resources(mut self, tables: impl IntoIterator<Item = &'static GroupVersionDef>) -> Self {
        self.tables.extend(tables);
        self
    }

    /// Gives objects of the kind `T` this behaviour, in place of one that was given before.
    #[must_use]
    pub fn behaviour<T: Kind>(mut self, behaviour: impl Behaviour<T>) -> Self {
        self.behaviours.register(behaviour);
        self
    }

    /// Performs this operation at POST to this sub-resource of objects of the kind `T`.
    #[must_use]
    pub fn operation<T: Kind>(mut self, subresource: &'static str, operation: impl Operation) -> Self {
        self.operations.register::<T>(subresource, operation);
        self
    }

    /// Answers questions of the virtual kind `T` with this review.
    #[must_use]
    pub fn review<T: Kind>(mut self, review: impl Review<T>) -> Self {
        self.operations.register_review(review);
        self
    }

    /// Asks this plugin about writes, after the product's own.
    #[must_use]
    pub fn admission(mut self, plugin: impl AdmissionPlugin) -> Self {
        self.admission.push(Box::new(plugin));
        self
    }

    /// Runs this controller too, unless `--controllers` says otherwise.
    #[must_use]
    pub fn controller(mut self, controller: impl Controller) -> Self {
        self.controllers.push(Box::new(controller));
        self
    }

    /// Asks this authorizer too: before the configured modes, and after the rule that `system:masters` may do
    /// everything. May be called several times.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer + 'static) -> Self {
        self.authorizers.push(Box::new(authorizer));
        self
    }

    /// Serves these routes on paths outside the API, with the same authentication and authorization. The
    /// caller is an extension of the request, [`RouteCaller`](orch_http::routes::RouteCaller).
    #[must_use]
    pub fn router(mut self, router: Router) -> Self {
        self.router = self.router.merge(router);
        self
    }

    /// Answers clients of this socket, which listens already, instead of binding the configured address.
    #[must_use]
    pub fn socket(mut self, socket: TcpListener) -> Self {
        self.socket = Some(socket);
        self
    }

    /// Keeps keys and certificates in this directory.
    pub(crate) fn store_in(&mut self, directory: &std::path::Path) {
        directory.clone_into(&mut self.config.storage.data_dir);
    }

    /// Runs no controller.
    pub(crate) fn without_controllers(mut self) -> Self {
        self.config.controllers.clear();
        self
    }

    /// Shows how many lines of the log were lost.
    pub(crate) fn count_lost_lines(mut self, lost: LostLines) -> Self {
        self.lost_lines = Some(lost);
        self
    }

    /// Serves until `stopping` becomes true and every request is finished.
    ///
    /// # Errors
    /// What keeps the server from starting, or from closing its store.
    pub async fn run(self, stopping: watch::Receiver<bool>) -> Result<(), StartError> {
        let running = Box::pin(self.start(stopping)).await?;
        running.parts.site.announce(running.address())?;
        running.serve().await
    }

    /// Opens the store, prepares everything and listens. Connections wait until [`Running::serve`].
    ///
    /// # Errors
    /// What keeps the server from starting.
    pub async fn start(self, told: watch::Receiver<bool>) -> Result<Running, StartError> {
        let (parts, tls, listener) = Box::pin(self.assemble(told, Entrance::Address)).await?;
        Ok(Running { parts, listener: listener.expect("it has an address"), tls })
    }
}

impl Running {
    /// Where it listens. The port is the real one, also where the configuration says 0.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_address()
    }

    /// Answers requests until the server is to stop, finishes them, and closes the store.
    ///
    /// # Errors
    /// Where the store cannot be closed.
    pub async fn serve(self) -> Result<(), StartError> {
        let Running { parts, listener, tls } = self;
        let answering = async |app: Arc<App>, stopping| {
            service_manager::tell(READY);
            connections::answer_all(app, listener, tls, stopping).await;
        };
        parts.run(answering).await
    }
}
