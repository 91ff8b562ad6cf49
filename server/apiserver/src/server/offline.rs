//! What is done with the data of a server that answers no requests.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use orch_config::start_error::StartError;
use orch_registry::client::Client;
use tokio::sync::watch;

use super::Server;

impl Server {
    /// Opens the store as a start does, has `work` done by a client of this name, and closes the store. The
    /// server answers no requests, and no controller runs.
    pub(super) async fn instead_of_serving<T>(
        mut self,
        name: &'static str,
        work: impl AsyncFnOnce(&Client) -> T,
    ) -> Result<T, StartError> {
        self.socket = None;
        self.config.serving.address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (_stop, told) = watch::channel(false);
        let running = Box::pin(self.start(told)).await?;
        let client = Client::new(Arc::clone(&running.parts.app.core), name);
        let done = work(&client).await;
        let closed = running.parts.app.core.storage().shutdown().await;
        closed.map_err(|error| StartError::Runtime(format!("cannot close the store: {error}")))?;
        Ok(done)
    }
}
