//! `Secret`: the write-only `stringData` is moved into `data`.

use orch_api::core::v1::Secret;
use orch_registry::behaviour::{Behaviour, WriteInfo};

pub(crate) struct SecretBehaviour;

impl Behaviour<Secret> for SecretBehaviour {
    fn prepare(&self, secret: &mut Secret, _old: Option<&Secret>, _write: &WriteInfo<'_>) {
        secret.merge_string_data();
    }
}
