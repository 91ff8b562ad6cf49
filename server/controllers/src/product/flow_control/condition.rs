//! The condition `Dangling` of flow schemas: whether their priority level is missing. The server ignores a
//! flow schema without one, and the column `MISSINGPL` of tables shows the condition.

use orch_api::flowcontrol::v1::{FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration};
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::object::Kind;
use serde_json::json;

const DANGLING: &str = "Dangling";

/// Writes the condition where it is not right.
pub(super) async fn tell_whether_dangling(client: &Client, schema: &FlowSchema) -> Result<()> {
    let level = &schema.spec.priority_level_configuration.name;
    let served = |def| client.core().catalog().served(def);
    // A server without the kinds has nothing to tell.
    let (Some(levels), Some(schemas)) =
        (served(PriorityLevelConfiguration::RESOURCE), served(FlowSchema::RESOURCE))
    else {
        return Ok(());
    };
    let is_dangling = client.snapshot(levels).get("", level).is_none();
    let (status, reason, rest) = if is_dangling {
        ("True", "NotFound", "but there is no such object")
    } else {
        ("False", "Found", "and it exists")
    };
    let message =
        format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {rest}");
    let has_type = |condition: &&FlowSchemaCondition| condition.type_ == DANGLING;
    let present = schema.status.conditions.iter().find(has_type);
    if present.is_some_and(|present| (&*present.status, &present.message) == (status, &message)) {
        return Ok(());
    }
    let name = &schema.metadata.name;
    let configuration = json!({
        "kind": schemas.def.kind, "apiVersion": schemas.api_version, "metadata": {"name": name},
        "status": {"conditions": [{
            "type": DANGLING, "status": status, "lastTransitionTime": client.core().now(),
            "reason": reason, "message": message,
        }]},
    });
    match client.apply_status(schemas, "", name, &configuration, true).await {
        // Its deletion brings the key again.
        Ok(_) | Err(ApiError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
