//! The file of policies.

use std::path::{Path, PathBuf};

use orch_runtime::vocabulary::Vocabulary;
use serde::Deserialize;

use super::Policy;
use crate::user::GROUP_AUTHENTICATED;

/// The group of policies, in the spelling of the schema, and their version.
const GROUP: &str = "abac.authorization.";
const VERSION: &str = "v1beta1";
const KIND: &str = "Policy";

/// What is wrong with a file of policies.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line is no policy.
    #[error("{}:{place}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, and the column where one is known; both counted from 1.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// A line with a version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    api_version: String,
    kind: String,
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Spec {
    user: String,
    group: String,
    readonly: bool,
    api_group: String,
    resource: String,
    namespace: String,
    non_resource_path: String,
}

/// A line of the oldest form.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OldLine {
    user: String,
    group: String,
    readonly: bool,
    resource: String,
    namespace: String,
}

pub(super) fn read(path: &Path, vocabulary: &Vocabulary) -> Result<Vec<Policy>, PolicyFileError> {
    let text = orch_settings::read_text_once(path)
        .map_err(|source| PolicyFileError::Read { path: path.to_owned(), source })?;
    let mut policies = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let policy = policy(line, vocabulary).map_err(|(column, problem)| {
            let column = column.map(|column| format!(":{column}")).unwrap_or_default();
            PolicyFileError::Line { path: path.to_owned(), place: format!("{}{column}", index + 1), problem }
        });
        policies.push(policy?);
    }
    Ok(policies)
}

/// The policy of a line; otherwise the column, where it is known, and the problem.
fn policy(line: &str, vocabulary: &Vocabulary) -> Result<Policy, (Option<usize>, String)> {
    let syntax = |error: serde_json::Error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        (Some(error.column()), error.to_string().replace(&place, ""))
    };
    let has_version =
        serde_json::from_str::<serde_json::Value>(line).map_err(syntax)?.get("apiVersion").is_some();
    if !has_version {
        return Ok(from_old(serde_json::from_str(line).map_err(syntax)?));
    }
    let Line { api_version, kind, spec } = serde_json::from_str(line).map_err(syntax)?;
    let expected = format!("{GROUP}{}/{VERSION}", vocabulary.group_suffix);
    if api_version != expected {
        return Err((None, format!("apiVersion is {api_version:?}, not {expected}")));
    }
    if kind != KIND {
        return Err((None, format!("kind is {kind:?}, not {KIND}")));
    }
    Ok(Policy {
        group: everybody(&spec.user, spec.group),
        user: spec.user,
        readonly: spec.readonly,
        api_group: spec.api_group,
        resource: spec.resource,
        namespace: spec.namespace,
        path: spec.non_resource_path,
    })
}

fn from_old(line: OldLine) -> Policy {
    let OldLine { user, group, readonly, resource, namespace } = line;
    let or_all = |text: &str| if text.is_empty() { "*".to_owned() } else { text.to_owned() };
    let has_place = !resource.is_empty() || !namespace.is_empty();
    let group = if user.is_empty() && group.is_empty() { "*".to_owned() } else { group };
    Policy {
        group: everybody(&user, group),
        user,
        readonly,
        api_group: "*".to_owned(),
        resource: or_all(&resource),
        namespace: or_all(&namespace),
        path: if has_place { String::new() } else { "*".to_owned() },
    }
}

/// `*` stands for everybody with a valid credential.
fn everybody(user: &str, group: String) -> String {
    if user == "*" || group == "*" { GROUP_AUTHENTICATED.to_owned() } else { group }
}
