//! Events that controllers report about objects, for people: `kubectl describe` shows them.
//!
//! The same report again counts up the event that is there. A report that cannot be stored is lost: no work
//! waits for it.

use std::hash::{DefaultHasher, Hash, Hasher};

use orch_api::core::v1::Event;
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::Tree;
use serde_json::json;

use crate::controller::Context;

/// Where events about objects without a namespace are, as in the reference.
const NAMESPACE_OF_CLUSTER_SCOPED: &str = "default";
/// The longest part of an object's name that goes into the name of an event, in bytes.
const NAME_BYTES: usize = 200;

/// The object that an event is about.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// Its kind.
    pub resource: &'a ServedResource,
    /// Empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
}

/// Whether somebody has to look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No.
    Normal,
    /// Yes.
    Warning,
}

/// Reports an event; `reason` is one word for programs, `message` is for people.
pub async fn report(cx: &Context, about: &About<'_>, severity: Severity, reason: &str, message: &str) {
    report_as(cx.client().name(), cx, about, severity, reason, message).await;
}

/// The same in the name of `component`, where the reference has one controller and this server several.
pub async fn report_as(
    component: &str,
    cx: &Context,
    about: &About<'_>,
    severity: Severity,
    reason: &str,
    message: &str,
) {
    if let Err(error) = store(component, cx, about, severity, reason, message).await {
        tracing::debug!(controller = cx.client().name(), reason, message, ?error, "an event is lost");
    }
}

async fn store(
    component: &str,
    cx: &Context,
    about: &About<'_>,
    severity: Severity,
    reason: &str,
    message: &str,
) -> Result<()> {
    let events = cx.served::<Event>()?;
    let namespace = if about.namespace.is_empty() { NAMESPACE_OF_CLUSTER_SCOPED } else { about.namespace };
    let name = name_of(about, reason, message);
    let now = cx.client().core().now().to_string();
    let event = json!({
        "kind": "Event", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": about.resource.api_version, "kind": about.resource.def.kind,
            "namespace": about.namespace, "name": about.name, "uid": about.uid,
        },
        "type": match severity { Severity::Normal => "Normal", Severity::Warning => "Warning" },
        "reason": reason, "message": message,
        "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        "source": {"component": component}, "reportingComponent": component, "reportingInstance": "",
    });
    match cx.client().create(events, namespace, event).await {
        Err(ApiError::AlreadyExists { .. }) => {}
        created => return created.map(drop),
    }
    let Some(current) = cx.client().core().objects().lookup(events, namespace, &name)? else { return Ok(()) };
    let mut event = current.tree;
    event["count"] = (event["count"].as_i64().unwrap_or(0) + 1).into();
    event["lastTimestamp"] = Tree::from(now);
    cx.client().update(events, "", event).await.map(drop)
}

/// The same for the same report.
fn name_of(about: &About<'_>, reason: &str, message: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (about.uid, reason, message).hash(&mut hasher);
    // Names are ASCII, so any position is between two characters.
    let name = about.name.get(..NAME_BYTES).unwrap_or(about.name);
    format!("{}.{:016x}", name.trim_end_matches(['.', '-']), hasher.finish())
}
