//! Requests that delete: their options, from a `DeleteOptions` body or from the query.

use orch_machinery::json::Limits;
use orch_meta::meta::v1::{DELETE_OPTIONS_TYPE, DeleteOptions, Preconditions};
use orch_registry::{
    core::Core,
    error::{ApiError, Result},
    options::{DeletionOptions, IGNORES_READ_ERRORS},
    request::Body,
};
use orch_runtime::Tree;

use super::query::Query;

/// Reads the body, or the query where there is no body.
///
/// # Errors
/// 500 without a reason, as in the reference, for a body that is not a JSON object or of another kind; 400
/// for a query value of a wrong type; 422 for options that contradict each other or do not exist.
pub fn options(core: &Core, query: &Query, body: &Body) -> Result<DeletionOptions> {
    DeletionOptions::check(core.vocabulary(), core.gates(), read(core, query, body)?)
}

fn read(core: &Core, query: &Query, body: &Body) -> Result<DeleteOptions> {
    if body.bytes.is_empty() { from_query(query) } else { from_body(core, body) }
}

/// The same for a collection. As in the reference, a version in the query is that of the list and, without a
/// body, also the one that each object must have; but 0 is any version.
///
/// # Errors
/// As [`options`].
pub fn options_of_collection(core: &Core, query: &Query, body: &Body) -> Result<DeletionOptions> {
    let mut options = read(core, query, body)?;
    if let Some(preconditions) = &mut options.preconditions
        && query.text("resourceVersion") == "0"
    {
        preconditions.resource_version = None;
    }
    DeletionOptions::check(core.vocabulary(), core.gates(), options)?.for_collection(core.vocabulary())
}

/// The `apiVersion` of the options can be that of any group, or absent.
fn from_body(core: &Core, body: &Body) -> Result<DeleteOptions> {
    let unreadable = |error: &dyn std::fmt::Display| ApiError::Unclassified(error.to_string());
    let read = (body.reader)(&body.bytes, &DELETE_OPTIONS_TYPE, &Limits::default());
    let tree = read.map_err(|error| ApiError::Unclassified(no_options(&error.to_string())))?.tree;
    let text = |name: &str| tree.get(name).and_then(Tree::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    if api_version.split('/').count() > 2 {
        return Err(ApiError::Unclassified(format!("unexpected GroupVersion string: {api_version}")));
    }
    if !matches!(kind, "" | "DeleteOptions") {
        let own = format!("{}/v1", core.vocabulary().meta_group());
        let version: &str = if api_version.is_empty() { &own } else { api_version };
        return Err(ApiError::Unclassified(match kind {
            "Status" => "converting (v1.Status) to (v1.DeleteOptions): unknown conversion".to_owned(),
            kind => format!(
                "no kind \"{kind}\" is registered for version \"{version}\" in scheme \
                 \"pkg/runtime/scheme.go:100\""
            ),
        }));
    }
    serde_json::from_value(tree).map_err(|error| unreadable(&error))
}

/// Why a body cannot be read. What is no object has no kind: so the reference tells it, by its own types.
fn no_options(why: &str) -> String {
    match why.strip_suffix("v1.DeleteOptions") {
        Some(of_what) => format!(
            "couldn't get version/kind; json parse error: {of_what}struct {{ \
             APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
             Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ),
        None => why.to_owned(),
    }
}

/// The preconditions that the query names.
fn preconditions(query: &Query) -> Option<Preconditions> {
    let wanted = |name| query.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let (uid, resource_version) = (wanted("uid"), wanted("resourceVersion"));
    (uid.is_some() || resource_version.is_some()).then_some(Preconditions { uid, resource_version })
}

fn from_query(query: &Query) -> Result<DeleteOptions> {
    Ok(DeleteOptions {
        dry_run: query.all("dryRun").map(str::to_owned).collect(),
        grace_period_seconds: query.integer("gracePeriodSeconds")?,
        orphan_dependents: query.optional_flag("orphanDependents"),
        propagation_policy: query.get("propagationPolicy").map(str::to_owned),
        preconditions: preconditions(query),
        ignore_store_read_error_with_cluster_breaking_potential: query.optional_flag(IGNORES_READ_ERRORS),
    })
}
