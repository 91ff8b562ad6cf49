//! What the unit tests of this crate work on: a core over a store in memory, and a caller.

use std::sync::Arc;

use orch_api::storage::v1::CSIDriver;
use orch_auth::{answer::Answer, authorizer::Decision, user::UserInfo};
use orch_runtime::{object::Kind, resource_def::ResourceDef};
use orch_storage::{Indexer, Storage, SystemClock};
use tokio::sync::watch;

use crate::{
    admission::AdmissionChain,
    behaviour::Behaviours,
    catalog::Catalog,
    context::{Access, Caller},
    continue_token::{KEY_LENGTH, TokenKey},
    core::Core,
    feature_gates::FeatureGates,
    objects::Objects,
    read::index::CatalogIndexer,
};

/// A kind of another group that has the name of [`CSIDriver`].
pub static NAMESAKE: ResourceDef = ResourceDef { group: "example.com", ..*CSIDriver::RESOURCE };

/// The product's kinds with these behaviours, and no objects.
pub fn core(behaviours: &Behaviours) -> Arc<Core> {
    let tables = orch_api::registry().iter().copied();
    let catalog = Arc::new(Catalog::of_served(&orch_api::KUBERNETES, tables, behaviours, |_| true));
    let storage = Storage::in_memory();
    let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
    storage.index_by(&indexer);
    let (_, stopping) = watch::channel(false);
    Arc::new(Core::new(
        Objects::new(catalog, storage),
        Arc::new(SystemClock),
        FeatureGates::default(),
        AdmissionChain::default(),
        TokenKey::new(&[7; KEY_LENGTH]),
        stopping,
    ))
}

/// A caller without any further permission.
pub fn caller(user: &UserInfo) -> Caller<'_> {
    Caller { user, access: &Nothing }
}

struct Nothing;

impl Access for Nothing {
    fn may<'a>(&'a self, _verb: &'a str) -> Answer<'a, Decision> {
        Answer::Ready(Decision::NoOpinion { reason: "".into() })
    }
}
