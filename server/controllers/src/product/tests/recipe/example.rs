//! Labels every config map. An example.

use orch_api::core::v1::ConfigMap;
use orch_registry::error::{ApiError, Result};

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

const LABEL: &str = "example.com/seen";

/// See the module.
pub(super) struct Example;

impl Controller for Example {
    type Resource = ConfigMap;

    fn name(&self) -> &'static str {
        "example"
    }

    fn is_on_by_default(&self) -> bool {
        false
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let maps = cx.api::<ConfigMap>()?;
        let mut map = match maps.get(&key.namespace, &key.name) {
            Ok(map) => map,
            Err(ApiError::NotFound { .. }) => return Ok(Action::Done),
            Err(error) => return Err(error),
        };
        if map.metadata.labels.insert(LABEL.to_owned(), "true".to_owned()).is_none() {
            maps.update(&map).await?;
        }
        Ok(Action::Done)
    }
}
