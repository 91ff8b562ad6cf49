//! `CSIDriver`: its generation is the number of changes, so a new one has none.

use orch_api::storage::v1::CSIDriver;
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct CsiDriverBehaviour;

impl Behaviour<CSIDriver> for CsiDriverBehaviour {
    fn prepare(&self, driver: &mut CSIDriver, old: Option<&CSIDriver>, _write: &WriteInfo<'_>) {
        if old.is_none() {
            driver.metadata.generation = 0;
        }
    }
}
