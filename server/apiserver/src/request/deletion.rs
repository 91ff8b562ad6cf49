//! Requests that delete: their options, from a `DeleteOptions` body or from the query.

use orch_machinery::json::Limits;
use orch_meta::meta::v1::{DELETE_OPTIONS_TYPE, DeleteOptions};
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
/// 400 for a body that is not a JSON object or of another kind, or a query value of a wrong type; 422 for
/// options that contradict each other or do not exist.
pub fn options(core: &Core, query: &Query, body: &Body) -> Result<DeletionOptions> {
    let options = if body.bytes.is_empty() { from_query(query)? } else { from_body(core, body)? };
    DeletionOptions::check(core.vocabulary(), core.gates(), options)
}

/// The `apiVersion` of the options can be any version that is served, or absent.
fn from_body(core: &Core, body: &Body) -> Result<DeleteOptions> {
    let unreadable = |error: &dyn std::fmt::Display| {
        ApiError::BadRequest(format!("the body is no DeleteOptions: {error}"))
    };
    let read = (body.reader)(&body.bytes, &DELETE_OPTIONS_TYPE, &Limits::default());
    let tree = read.map_err(|error| unreadable(&error))?.tree;
    let text = |name: &str| tree.get(name).and_then(Tree::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let known = |version: &str| {
        let own = version
            .strip_suffix("/v1")
            .is_some_and(|group| core.catalog().meta_groups().contains(&group.to_owned()));
        own || core.catalog().group_versions.iter().any(|served| served.api_version == version)
            || core.catalog().spelling_of(version).is_some()
    };
    if !matches!(kind, "" | "DeleteOptions") || !(api_version.is_empty() || known(api_version)) {
        let message = format!("no kind \"{kind}\" is registered for version \"{api_version}\"");
        return Err(ApiError::BadRequest(message));
    }
    serde_json::from_value(tree).map_err(|error| unreadable(&error))
}

fn from_query(query: &Query) -> Result<DeleteOptions> {
    Ok(DeleteOptions {
        dry_run: query.all("dryRun").map(str::to_owned).collect(),
        grace_period_seconds: query.integer("gracePeriodSeconds")?,
        orphan_dependents: query.optional_flag("orphanDependents"),
        propagation_policy: query.get("propagationPolicy").filter(|text| !text.is_empty()).map(str::to_owned),
        ignore_store_read_error_with_cluster_breaking_potential: query.optional_flag(IGNORES_READ_ERRORS),
        ..DeleteOptions::default()
    })
}
