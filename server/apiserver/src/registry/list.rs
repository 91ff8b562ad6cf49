//! GET of a collection, and the options that list and watch share.

use std::sync::Arc;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};
use orch_storage::{Object, Revision};

use super::{
    Answer, Call, Reply,
    selection::{self, Selection},
};
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
};

/// The selected objects at one version of the store.
#[derive(Clone, Debug)]
pub struct List {
    /// Their kind.
    pub resource: Arc<ServedResource>,
    /// The version of the collection.
    pub revision: Revision,
    /// In the order of their keys.
    pub objects: Vec<Arc<Object>>,
}

/// `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// At least as new.
    NotOlderThan,
    /// Exactly.
    Exact,
}

/// Lists the selected objects.
///
/// # Errors
/// 400 and 422 for wrong parameters, 410 for an exact version that is gone, 504 for one that is still to come.
pub async fn list(call: Call<'_>) -> Result<Reply> {
    let version_match = check_options(call, false)?;
    call.query.integer("limit")?;
    call.query.integer("timeoutSeconds")?;
    let selection = Selection::parse(call)?;
    let minimum = selection::minimum_version(call.query)?;
    if let Some(version) = minimum {
        call.app.wait_for(version).await?;
    }
    let resource = call.target.resource;
    let snapshot = match (version_match, minimum) {
        (Some(VersionMatch::Exact), Some(version)) => {
            call.app.storage.snapshot_at(&resource.storage_name, version).map_err(|_| {
                ApiError::Expired("The resourceVersion for the provided list is too old.".to_owned())
            })?
        }
        _ => call.app.storage.snapshot(&resource.storage_name),
    };
    let list = List {
        resource: Arc::clone(resource),
        revision: snapshot.revision(),
        objects: selection.select(call, &snapshot),
    };
    Ok(Answer::List(list).into())
}

/// The combinations of version, match and initial events that make sense.
///
/// # Errors
/// 422 with every contradiction, in the words that clients know.
pub fn check_options(call: Call<'_>, watch: bool) -> Result<Option<VersionMatch>> {
    let query = call.query;
    let vocabulary = call.app.catalog.vocabulary;
    let (text, version) = (query.text("resourceVersionMatch"), query.text("resourceVersion"));
    let initial = query.optional_flag("sendInitialEvents");
    let mut cx = Validation::new(vocabulary);
    let path = Path::ROOT.field("resourceVersionMatch");
    if watch {
        check_watch_match(text, initial.is_some(), &path, &mut cx);
    } else {
        if !text.is_empty() {
            check_list_match(text, version, !query.text("continue").is_empty(), &path, &mut cx);
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
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        cx.push(FieldError::forbidden(path, detail));
    }
    if text != "Exact" && text != "NotOlderThan" {
        cx.push(FieldError::not_supported(path, text, &["Exact", "NotOlderThan", ""]));
    }
    if text == "Exact" && version == "0" {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        cx.push(FieldError::forbidden(path, detail));
    }
}

fn check_watch_match(text: &str, initial_events: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    if initial_events && text != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        cx.push(FieldError::forbidden(path, detail));
        if !text.is_empty() {
            cx.push(FieldError::not_supported(path, text, &["NotOlderThan"]));
        }
    }
    if !initial_events && !text.is_empty() {
        let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        cx.push(FieldError::forbidden(path, detail));
    }
}
