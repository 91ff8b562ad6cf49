//! The objects that tokens of service accounts are bound to, as they are stored now.

use std::sync::Arc;

use orch_auth::service_account::{Directory, Found, Kind};
use orch_machinery::meta::Meta;
use orch_runtime::scalar::Time;
use orch_storage::Storage;

use crate::{catalog::Catalog, registry::current};

/// Looks into the newest state.
pub struct AccountDirectory {
    catalog: Arc<Catalog>,
    storage: Storage,
}

impl AccountDirectory {
    /// Of what the catalog serves and the store holds.
    pub fn new(catalog: Arc<Catalog>, storage: Storage) -> Self {
        AccountDirectory { catalog, storage }
    }
}

impl Directory for AccountDirectory {
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<Found> {
        let resource = self.catalog.resource("", "v1", plural(kind))?;
        let snapshot = self.storage.snapshot(&resource.storage_name);
        // What cannot be read is nobody to vouch for.
        let tree = current::tree_of(resource, snapshot.get(namespace, name)?).ok()?;
        let meta = Meta::of(&tree);
        let deleted_at = meta.deletion_timestamp().and_then(|text| text.parse::<Time>().ok());
        Some(Found { uid: meta.uid().to_owned(), deleted_at: deleted_at.map(Time::as_unix_seconds) })
    }
}

/// The resource of a kind that tokens are bound to.
pub fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::ServiceAccount => "serviceaccounts",
        Kind::Pod => "pods",
        Kind::Secret => "secrets",
        Kind::Node => "nodes",
    }
}
