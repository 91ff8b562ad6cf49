//! `Example`: nobody makes a config map called `forbidden`.

use orch_api::core::v1::ConfigMap;
use orch_auth::answer::Answer;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::ApiError,
};

use super::created;

pub(crate) struct Example;

impl AdmissionPlugin for Example {
    fn name(&self) -> &'static str {
        "Example"
    }

    fn validate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let is_forbidden = request.name == "forbidden" && created::<ConfigMap>(request).is_some();
        let refusal = || ApiError::not_admitted(request.resource, request.name, "the name is forbidden");
        Answer::Ready(if is_forbidden { Err(refusal()) } else { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    #[tokio::test]
    async fn the_name_is_forbidden() {
        let server = TestServer::start().await;
        for (name, is_admitted) in [("a", true), ("forbidden", false)] {
            let map = json!({"metadata": {"name": name}});
            let created = server.create::<ConfigMap>(NAMESPACE, map).await;
            assert_eq!(created.is_ok(), is_admitted, "{name}: {created:?}");
        }
    }
}
