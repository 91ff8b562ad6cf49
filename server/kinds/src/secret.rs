//! Secret: the write-only `stringData` goes into `data`.

use orch_api::core::v1::Secret;
use orch_runtime::object::ApiObject;

use super::{Change, Hooks};

pub(super) struct SecretHooks;

impl Hooks for SecretHooks {
    fn prepare(&self, object: &mut dyn ApiObject, _old: Option<&dyn ApiObject>, _change: &Change<'_>) {
        if let Some(secret) = object.as_any_mut().downcast_mut::<Secret>() {
            secret.merge_string_data();
        }
    }
}
