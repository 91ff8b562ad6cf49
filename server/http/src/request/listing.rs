//! Requests that read a collection: a list, a page of one, or a watch. Where several things are wrong, the
//! order of the checks decides which error is reported.

use std::time::Duration;

use orch_registry::{
    continue_token,
    error::{ApiError, Result},
    read::{
        selection::Selection,
        version::{self, RequestedVersion, VersionMatch},
    },
    request::{ListRequest, ListStart, Target, WatchRequest},
};
use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    vocabulary::Vocabulary,
};

use super::query::Query;

const WHEN_CONTINUED: &str = "resourceVersionMatch is forbidden when continue is provided";

/// The version that a read names.
///
/// # Errors
/// 400 where it is not a number.
pub fn version(query: &Query) -> Result<RequestedVersion> {
    RequestedVersion::parse(query.text("resourceVersion"))
}

/// A list, or a page of one.
///
/// # Errors
/// 400 for values that cannot be read and for fields that cannot be selected by, 422 for combinations that
/// make no sense.
pub fn list<'r>(query: &'r Query, target: Target<'r>) -> Result<ListRequest<'r>> {
    query.integer("timeoutSeconds")?;
    let limit = query.integer("limit")?.filter(|limit| *limit > 0).map(i64::cast_unsigned);
    let selection = selection(query, "")?;
    let version_match = check_versions(query, target.resource.vocabulary, None)?;
    selection.check(target.resource.def)?;
    let token = query.text("continue");
    if !token.is_empty() {
        continue_token::check(token)?;
    }
    let start = if token.is_empty() {
        ListStart::First { version: version(query)?, version_match }
    } else if matches!(query.text("resourceVersion"), "" | "0") {
        ListStart::Continued(token)
    } else {
        let message = "specifying resource version is not allowed when using continue";
        return Err(ApiError::BadRequest(message.to_owned()));
    };
    Ok(ListRequest { target, selection, start, limit })
}

/// A watch.
///
/// # Errors
/// As of [`list`], but 422 where the version is not a number, and for `sendInitialEvents` where the feature
/// is off.
pub fn watch<'r>(query: &Query, target: Target<'r>, has_initial_events: bool) -> Result<WatchRequest<'r>> {
    let seconds = query.integer("timeoutSeconds")?;
    query.integer("limit")?;
    let selection = selection(query, &target.name)?;
    check_versions(query, target.resource.vocabulary, Some(has_initial_events))?;
    selection.check(target.resource.def)?;
    let version = start_version(query, &target)?;
    // A watch with less than no time ends at once, as in the reference.
    let timeout = seconds.filter(|seconds| *seconds != 0).map(|seconds| u64::try_from(seconds).unwrap_or(0));
    Ok(WatchRequest {
        selection,
        version,
        initial_events: query.optional_flag("sendInitialEvents"),
        bookmarks: query.flag("allowWatchBookmarks"),
        timeout: timeout.map(Duration::from_secs),
        target,
    })
}

fn selection(query: &Query, named: &str) -> Result<Selection> {
    Selection::parse(query.text("labelSelector"), query.text("fieldSelector"), named)
}

/// The version that a watch starts after. The error names the resource, not the kind.
fn start_version(query: &Query, target: &Target<'_>) -> Result<RequestedVersion> {
    let text = query.text("resourceVersion");
    RequestedVersion::parse(text).map_err(|_| {
        let mut violations = Validation::new(target.resource.vocabulary);
        let path = Path::ROOT.field("resourceVersion");
        violations.push(FieldError::invalid(&path, text, &version::fault_of(text)));
        ApiError::Invalid {
            group: target.resource.group.clone(),
            kind: target.resource.def.plural.to_owned(),
            name: String::new(),
            errors: violations.into_errors(),
        }
    })
}

/// The combinations of version, match and initial events that make sense.
///
/// # Errors
/// 422 with every contradiction. `watch` is `None` for a list, else whether the watch may begin with the
/// existing objects.
fn check_versions(
    query: &Query,
    vocabulary: &Vocabulary,
    watch: Option<bool>,
) -> Result<Option<VersionMatch>> {
    let (text, version) = (query.text("resourceVersionMatch"), query.text("resourceVersion"));
    let initial = query.optional_flag("sendInitialEvents");
    let mut violations = Validation::new(vocabulary);
    let path = Path::ROOT.field("resourceVersionMatch");
    let continued = !query.text("continue").is_empty();
    if let Some(has_initial_events) = watch {
        check_watch_match(text, initial.is_some(), continued, &path, &mut violations);
        // Such a watch begins with what exists, as if the client asked for it.
        let begins_by_itself = initial.is_none() && text.is_empty() && matches!(version, "" | "0");
        if has_initial_events && continued && begins_by_itself {
            violations.push(FieldError::forbidden(&path, WHEN_CONTINUED));
        }
        if initial.is_some() && !has_initial_events {
            let detail =
                "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            violations.push(FieldError::forbidden(&Path::ROOT.field("sendInitialEvents"), detail));
        }
    } else {
        if !text.is_empty() {
            check_list_match(text, version, continued, &path, &mut violations);
        }
        if initial.is_some() {
            let path = Path::ROOT.field("sendInitialEvents");
            violations.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
        }
    }
    if !violations.is_empty() {
        return Err(ApiError::Invalid {
            group: vocabulary.meta_group(),
            kind: "ListOptions".to_owned(),
            name: String::new(),
            errors: violations.into_errors(),
        });
    }
    Ok(match text {
        "Exact" => Some(VersionMatch::Exact),
        "NotOlderThan" => Some(VersionMatch::NotOlderThan),
        _ => None,
    })
}

fn check_list_match(
    text: &str,
    version: &str,
    continued: bool,
    path: &Path<'_>,
    violations: &mut Validation<'_>,
) {
    if version.is_empty() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        violations.push(FieldError::forbidden(path, detail));
    }
    if continued {
        violations.push(FieldError::forbidden(path, WHEN_CONTINUED));
    }
    if text != "Exact" && text != "NotOlderThan" {
        violations.push(FieldError::not_supported(path, text, &["Exact", "NotOlderThan", ""]));
    }
    if text == "Exact" && version == "0" {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        violations.push(FieldError::forbidden(path, detail));
    }
}

fn check_watch_match(
    text: &str,
    initial_events: bool,
    continued: bool,
    path: &Path<'_>,
    violations: &mut Validation<'_>,
) {
    if initial_events && text != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        violations.push(FieldError::forbidden(path, detail));
    }
    if text.is_empty() {
        return;
    }
    if !initial_events {
        let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        violations.push(FieldError::forbidden(path, detail));
    }
    if text != "NotOlderThan" {
        violations.push(FieldError::not_supported(path, text, &["NotOlderThan"]));
    }
    if continued {
        violations.push(FieldError::forbidden(path, WHEN_CONTINUED));
    }
}
