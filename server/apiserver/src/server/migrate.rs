//! All objects written in the version in which the server stores them now, in the data directory of a server
//! that does not run.
//!
//! Afterwards a program can do without the version in which they were stored.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, stream};
use orch_config::{enablement::Enablement, start_error::StartError};
use orch_http::response::status;
use orch_registry::{catalog::ServedResource, client::Client, migration};
use orch_storage::Object;

use super::Server;
use crate::bootstrap::must_exist;

/// How many objects are written at the same time: the store writes them together.
const AT_ONCE: usize = 64;

/// What came of a migration.
#[derive(Debug, Default)]
pub struct Migrated {
    /// How many objects there are.
    pub objects: usize,
    /// How many of them were not stored as they would be written, and are now.
    pub written: usize,
    /// Objects that stay as they were, with the reason.
    pub refused: Vec<String>,
}

impl Server {
    /// Writes every object that is not in its storage version, or not under the key that is used for writing.
    /// The server answers no requests, and no controller runs. One that was cut off goes on when it is called
    /// again.
    ///
    /// # Errors
    /// Where there is no database; what keeps the server from starting, or from closing its store.
    pub async fn migrate(mut self) -> Result<Migrated, StartError> {
        if self.config.storage.etcd.is_none() {
            must_exist(self.config.storage.database())?;
        }
        // Objects are stored whether or not a version of their kind is served.
        self.config.enablement = Enablement::everything();
        Box::pin(self.instead_of_serving("migrate", migrate_all)).await
    }
}

async fn migrate_all(client: &Client) -> Migrated {
    let migrated = Mutex::new(Migrated::default());
    let catalog = client.core().catalog();
    for resource in catalog.stored_resources() {
        let snapshot = client.snapshot(resource);
        let objects = stream::iter(snapshot.iter());
        objects.for_each_concurrent(AT_ONCE, |object| migrate_one(client, resource, object, &migrated)).await;
    }
    let mut migrated = migrated.into_inner().unwrap_or_else(PoisonError::into_inner);
    migrated.refused.sort();
    migrated
}

async fn migrate_one(
    client: &Client,
    resource: &Arc<ServedResource>,
    object: &Object,
    migrated: &Mutex<Migrated>,
) {
    let written = match migration::is_outdated(client, resource, object) {
        Ok(true) => migration::rewrite(client, resource, object).await.map(|()| true),
        other => other,
    };
    let mut migrated = migrated.lock().unwrap_or_else(PoisonError::into_inner);
    migrated.objects += 1;
    match written {
        Ok(written) => migrated.written += usize::from(written),
        Err(error) => {
            let problem = status::text_for_operator(&error);
            migrated.refused.push(format!("{}: {problem}", object.key()));
        }
    }
}
