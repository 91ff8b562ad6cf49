//! `CSIDriver`: its generation counts changes only, so a new one has none.

use orch_api::storage::v1::CSIDriver;
use orch_runtime::object::ApiObject;

use super::{Change, Hooks};

pub(super) struct CsiDriverHooks;

impl Hooks for CsiDriverHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, _change: &Change<'_>) {
        if let (None, Some(driver)) = (old, object.as_any_mut().downcast_mut::<CSIDriver>()) {
            driver.metadata.generation = 0;
        }
    }
}
