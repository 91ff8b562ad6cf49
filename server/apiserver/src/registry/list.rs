//! GET of a collection, in pages where that is asked for, and the options that list and watch share.

use std::sync::Arc;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};
use orch_storage::{Object, Revision, Snapshot, StoreError};

use super::{
    Answer, Call, Reply,
    continue_token::Position,
    read_version::{Named, Shown, VersionMatch},
    selection::Selection,
    store_error,
};
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
};

/// The selected objects at one version of the store, or a page of them.
#[derive(Clone, Debug)]
pub struct List {
    /// Their kind.
    pub resource: Arc<ServedResource>,
    /// The version of the collection; the same on every page.
    pub revision: Revision,
    /// In the order of their keys.
    pub objects: Vec<Arc<Object>>,
    /// What to ask for the next page with; empty on the last one.
    pub continue_token: String,
    /// How many objects the next pages hold; not known where selectors choose them.
    pub remaining: Option<u64>,
}

/// Lists the selected objects.
///
/// # Errors
/// 400 and 422 for wrong parameters, 410 for an exact version that is gone, 504 for one that is still to come.
pub async fn list(call: Call<'_>) -> Result<Reply> {
    let options = ReadOptions::parse(call, false)?;
    Ok(Answer::List(page(call, options).await?).into())
}

/// The page that a request asks for; also what a DELETE of a collection is about.
///
/// # Errors
/// As of [`list`].
pub async fn page(call: Call<'_>, options: ReadOptions) -> Result<List> {
    let ReadOptions { version_match, limit, selection, .. } = options;
    let token = call.query.text("continue");
    if token.is_empty() {
        let named = Named::parse(call.query)?;
        let snapshot = Shown::of(named, version_match, limit.is_some()).snapshot(call).await?;
        let limit = limit.filter(|_| named != Named::Zero);
        return Ok(cut(call, &selection, &snapshot, None, limit));
    }
    if !matches!(call.query.text("resourceVersion"), "" | "0") {
        let message = "specifying resource version is not allowed when using continue";
        return Err(ApiError::BadRequest(message.to_owned()));
    }
    let position = selection.with_binding(call, |binding| call.app.continue_key.open(binding, token));
    let Some(position) = position else {
        let message = "invalid continue token: continue key is not valid: it was not given out for this list";
        return Err(ApiError::BadRequest(message.to_owned()));
    };
    let snapshot = continued(call, &selection, &position).await?;
    Ok(cut(call, &selection, &snapshot, Some(&position), limit))
}

/// The state that a list is continued on.
async fn continued(call: Call<'_>, selection: &Selection, position: &Position) -> Result<Snapshot> {
    let resource = call.target.resource;
    let Some(revision) = position.revision else {
        return Shown::Newest.snapshot(call).await;
    };
    match call.app.storage.snapshot_at(&resource.storage_name, revision) {
        Ok(snapshot) => Ok(snapshot),
        // A version from the future was given out by data that a backup has replaced.
        Err(StoreError::Expired { .. } | StoreError::FutureRevision { .. }) => {
            let newest = Position { revision: None, remaining: None, ..position.clone() };
            let token = selection.with_binding(call, |binding| call.app.continue_key.seal(binding, &newest));
            Err(ApiError::ExpiredContinue { token })
        }
        Err(other) => Err(store_error::failure(resource, other)),
    }
}

/// The objects behind `position`, at most `limit`, and where the rest begins.
fn cut(
    call: Call<'_>,
    selection: &Selection,
    snapshot: &Snapshot,
    position: Option<&Position>,
    limit: Option<u64>,
) -> List {
    let after = position.map(|position| (position.namespace.as_str(), position.name.as_str()));
    let scope = selection.scope(call);
    let mut wanted = selection.select(call.target.resource, snapshot, &scope, after);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let objects: Vec<Arc<Object>> = wanted.by_ref().take(limit).cloned().collect();
    let mut page = List {
        resource: Arc::clone(call.target.resource),
        revision: snapshot.revision(),
        objects,
        continue_token: String::new(),
        remaining: None,
    };
    if page.objects.len() < limit || wanted.next().is_none() {
        return page;
    }
    if selection.is_everything() {
        page.remaining = Some(match position.and_then(|position| position.remaining) {
            Some(counted) => counted.saturating_sub(page.objects.len() as u64),
            None => 1 + wanted.count() as u64,
        });
    }
    let last =
        page.objects.last().expect("a limit is at least 1, and there are more objects than that").key();
    let next = Position {
        revision: Some(page.revision),
        namespace: (*last.namespace).to_owned(),
        name: (*last.name).to_owned(),
        remaining: page.remaining,
    };
    page.continue_token = selection.with_binding(call, |binding| call.app.continue_key.seal(binding, &next));
    page
}

/// What lists and watches are told by their parameters.
#[derive(Debug)]
pub struct ReadOptions {
    /// Which versions will do.
    pub version_match: Option<VersionMatch>,
    /// How many objects to list; at least 1.
    pub limit: Option<u64>,
    /// When a watch is to end.
    pub timeout_seconds: Option<i64>,
    /// Which objects.
    pub selection: Selection,
}

impl ReadOptions {
    /// Reads the parameters. Which of several errors is told depends on the order of the checks.
    ///
    /// # Errors
    /// 400 for what cannot be read and for fields that cannot be selected by, 422 for what makes no sense together.
    pub fn parse(call: Call<'_>, watch: bool) -> Result<Self> {
        let timeout_seconds = call.query.integer("timeoutSeconds")?;
        let limit = call.query.integer("limit")?.filter(|limit| *limit > 0).map(i64::cast_unsigned);
        let selection = Selection::parse(call)?;
        let version_match = check_versions(call, watch)?;
        selection.check(call.target.resource.def)?;
        Ok(ReadOptions { version_match, limit, timeout_seconds, selection })
    }
}

/// The combinations of version, match and initial events that make sense.
///
/// # Errors
/// 422 with every contradiction, in the words that clients know.
fn check_versions(call: Call<'_>, watch: bool) -> Result<Option<VersionMatch>> {
    let query = call.query;
    let vocabulary = call.app.catalog.vocabulary;
    let (text, version) = (query.text("resourceVersionMatch"), query.text("resourceVersion"));
    let initial = query.optional_flag("sendInitialEvents");
    let mut cx = Validation::new(vocabulary);
    let path = Path::ROOT.field("resourceVersionMatch");
    let continued = !query.text("continue").is_empty();
    if watch {
        check_watch_match(text, initial.is_some(), continued, &path, &mut cx);
    } else {
        if !text.is_empty() {
            check_list_match(text, version, continued, &path, &mut cx);
        }
        if initial.is_some() {
            let path = Path::ROOT.field("sendInitialEvents");
            cx.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
        }
    }
    if !cx.is_empty() {
        return Err(ApiError::Invalid {
            group: vocabulary.meta_group(),
            kind: "ListOptions".to_owned(),
            name: String::new(),
            errors: cx.into_errors(),
        });
    }
    Ok(match text {
        "Exact" => Some(VersionMatch::Exact),
        "NotOlderThan" => Some(VersionMatch::NotOlderThan),
        _ => None,
    })
}

fn check_list_match(text: &str, version: &str, continued: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    if version.is_empty() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        cx.push(FieldError::forbidden(path, detail));
    }
    if continued {
        cx.push(FieldError::forbidden(path, WHEN_CONTINUED));
    }
    if text != "Exact" && text != "NotOlderThan" {
        cx.push(FieldError::not_supported(path, text, &["Exact", "NotOlderThan", ""]));
    }
    if text == "Exact" && version == "0" {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        cx.push(FieldError::forbidden(path, detail));
    }
}

fn check_watch_match(
    text: &str,
    initial_events: bool,
    continued: bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if initial_events && text != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        cx.push(FieldError::forbidden(path, detail));
    }
    if text.is_empty() {
        return;
    }
    if !initial_events {
        let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        cx.push(FieldError::forbidden(path, detail));
    }
    if text != "NotOlderThan" {
        cx.push(FieldError::not_supported(path, text, &["NotOlderThan"]));
    }
    if continued {
        cx.push(FieldError::forbidden(path, WHEN_CONTINUED));
    }
}

const WHEN_CONTINUED: &str = "resourceVersionMatch is forbidden when continue is provided";
