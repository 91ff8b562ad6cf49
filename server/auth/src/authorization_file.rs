//! The file of `--authorization-config`: which authorizers are asked, in which order, and how webhooks are.
//!
//! ```yaml
//! apiVersion: apiserver.config.orch.io/v1
//! kind: AuthorizationConfiguration
//! authorizers:
//!   - type: Webhook
//!     name: policy
//!     webhook:
//!       timeout: 3s
//!       subjectAccessReviewVersion: v1
//!       matchConditionSubjectAccessReviewVersion: v1
//!       failurePolicy: Deny
//!       connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/policy.kubeconfig}
//!       matchConditions:
//!         - expression: has(request.resourceAttributes)
//!   - {type: Node, name: node}
//!   - {type: RBAC, name: rbac}
//! ```

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use orch_outbound::client::{self, Client};
use orch_runtime::{constraint, scalar, vocabulary::Vocabulary};
use orch_settings::{Fault, Spanned, fault};
use serde::Deserialize;

use crate::{
    authorization::Mode,
    config_file::{self, with_cause},
    error::AuthError,
    webhook::{
        FailurePolicy, Settings, Version, Webhook,
        condition::{Conditions, MAX_CONDITIONS},
    },
};

/// How long an answer that allows is kept, where neither file nor flag says.
pub const AUTHORIZED_TTL: Duration = Duration::from_mins(5);
/// How long another answer is kept.
pub const UNAUTHORIZED_TTL: Duration = Duration::from_secs(30);

/// The longest timeout of a webhook.
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// An authorizer of the file.
pub struct Configured {
    /// Its name in the file.
    pub name: String,
    /// What it is.
    pub kind: ConfiguredKind,
    /// Files that were read for it.
    pub files: Vec<PathBuf>,
}

/// What an authorizer of the file is.
pub enum ConfiguredKind {
    /// One of the server itself.
    Mode(Mode),
    /// Another server.
    Webhook(Box<Webhook>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Spanned<String>,
    kind: Spanned<String>,
    #[serde(default)]
    authorizers: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "type")]
    kind: Spanned<String>,
    name: Spanned<String>,
    webhook: Option<Spanned<WebhookEntry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WebhookEntry {
    #[serde(rename = "authorizedTTL")]
    authorized_ttl: Option<Spanned<String>>,
    #[serde(rename = "unauthorizedTTL")]
    unauthorized_ttl: Option<Spanned<String>>,
    timeout: Spanned<String>,
    subject_access_review_version: Spanned<String>,
    match_condition_subject_access_review_version: Spanned<String>,
    failure_policy: Spanned<String>,
    connection_info: Spanned<ConnectionInfo>,
    #[serde(default)]
    match_conditions: Vec<MatchCondition>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConnectionInfo {
    #[serde(rename = "type")]
    kind: Spanned<String>,
    kube_config_file: Option<Spanned<PathBuf>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchCondition {
    expression: Spanned<String>,
}

/// Reads a file.
///
/// # Errors
/// Where it cannot be read, or is not right.
pub fn read(path: &Path, vocabulary: &Vocabulary) -> Result<Vec<Configured>, AuthError> {
    config_file::read(path, |text| parse(text, vocabulary))
}

/// The authorizers of a text.
fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Vec<Configured>, Fault> {
    let file: File = orch_settings::parse(text)?;
    let version = format!("apiserver.config.{}/v1", vocabulary.group_suffix);
    orch_settings::check_kind(&file.api_version, &[version], &file.kind, "AuthorizationConfiguration")?;
    if file.authorizers.is_empty() {
        return Err(((1, 1), "authorizers must not be empty".to_owned()));
    }
    let mut configured: Vec<Configured> = Vec::new();
    for entry in &file.authorizers {
        let next = entry_of(entry, &configured, vocabulary)?;
        configured.push(next);
    }
    Ok(configured)
}

fn entry_of(
    entry: &Spanned<Entry>,
    before: &[Configured],
    vocabulary: &Vocabulary,
) -> Result<Configured, Fault> {
    let Entry { kind, name, webhook } = &entry.value;
    if let Some(problem) = constraint::dns_subdomain(&name.value).into_iter().next() {
        return Err(fault(name, format!("name {problem}")));
    }
    if before.iter().any(|other| other.name == name.value) {
        return Err(fault(name, format!("there are two authorizers called {:?}", name.value)));
    }
    let kind = match (kind.value.as_str(), webhook) {
        ("Webhook", Some(webhook)) => {
            ConfiguredKind::Webhook(Box::new(webhook_of(&name.value, &webhook.value, vocabulary)?))
        }
        ("Webhook", None) => return Err(fault(entry, "webhook is missing")),
        ("Node" | "RBAC", Some(webhook)) => {
            return Err(fault(webhook, "webhook is for the type Webhook alone"));
        }
        ("Node", None) => ConfiguredKind::Mode(Mode::Node),
        ("RBAC", None) => ConfiguredKind::Mode(Mode::Rbac),
        _ => return Err(fault(kind, "type must be one of \"Webhook\", \"Node\", \"RBAC\"")),
    };
    let is_same = |other: &Configured| match (&other.kind, &kind) {
        (ConfiguredKind::Mode(one), ConfiguredKind::Mode(other)) => one == other,
        _ => false,
    };
    if before.iter().any(is_same) {
        let problem = format!("there are two authorizers of the type {:?}", entry.value.kind.value);
        return Err(fault(&entry.value.kind, problem));
    }
    let connection = webhook.as_ref().map(|webhook| &webhook.value.connection_info.value);
    let files = connection.and_then(|connection| connection.kube_config_file.as_ref());
    Ok(Configured {
        name: name.value.clone(),
        kind,
        files: files.map(|file| file.value.clone()).into_iter().collect(),
    })
}

fn webhook_of(name: &str, entry: &WebhookEntry, vocabulary: &Vocabulary) -> Result<Webhook, Fault> {
    let ttl = |field: &Option<Spanned<String>>, name, default| {
        field.as_ref().map_or(Ok(default), |field| duration(field, name, Duration::MAX))
    };
    let authorized_ttl = ttl(&entry.authorized_ttl, "authorizedTTL", AUTHORIZED_TTL)?;
    let unauthorized_ttl = ttl(&entry.unauthorized_ttl, "unauthorizedTTL", UNAUTHORIZED_TTL)?;
    let timeout = duration(&entry.timeout, "timeout", MAX_TIMEOUT)?;
    let version = Version::ALL.into_iter().find(|of| of.name() == entry.subject_access_review_version.value);
    let version = version.ok_or_else(|| {
        let problem = "subjectAccessReviewVersion must be \"v1\" or \"v1beta1\"";
        fault(&entry.subject_access_review_version, problem)
    })?;
    if entry.match_condition_subject_access_review_version.value != "v1" {
        let problem = "matchConditionSubjectAccessReviewVersion must be \"v1\"";
        return Err(fault(&entry.match_condition_subject_access_review_version, problem));
    }
    let failure = match entry.failure_policy.value.as_str() {
        "NoOpinion" => FailurePolicy::NoOpinion,
        "Deny" => FailurePolicy::Deny,
        _ => return Err(fault(&entry.failure_policy, "failurePolicy must be \"NoOpinion\" or \"Deny\"")),
    };
    let settings = Settings {
        name: name.to_owned(),
        version,
        api_version: version.api_version(vocabulary),
        authorized_ttl,
        unauthorized_ttl,
        failure,
        conditions: conditions(&entry.match_conditions)?,
    };
    let client = client::Settings { timeout, ..client::Settings::default() };
    Ok(Webhook::new(settings, client_of(&entry.connection_info, client)?))
}

fn conditions(entries: &[MatchCondition]) -> Result<Conditions, Fault> {
    if let Some(entry) = entries.get(MAX_CONDITIONS) {
        return Err(fault(
            &entry.expression,
            format!("there are more than {MAX_CONDITIONS} matchConditions"),
        ));
    }
    for (position, entry) in entries.iter().enumerate() {
        let text = &entry.expression;
        if text.value.trim().is_empty() {
            return Err(fault(text, "expression must not be empty"));
        }
        if entries[..position].iter().any(|other| other.expression.value == text.value) {
            return Err(fault(text, "the same expression stands here twice"));
        }
    }
    let texts = entries.iter().map(|entry| entry.expression.value.as_str());
    Conditions::compile(texts).map_err(|(position, error)| {
        // The place in the expression is told too: how a text is quoted decides where it is in the file.
        fault(&entries[position].expression, format!("expression:{error}"))
    })
}

fn client_of(connection: &Spanned<ConnectionInfo>, settings: client::Settings) -> Result<Client, Fault> {
    let ConnectionInfo { kind, kube_config_file: file } = &connection.value;
    match kind.value.as_str() {
        "KubeConfigFile" => {}
        "InClusterConfig" => {
            let problem = "InClusterConfig would make the server ask itself: use KubeConfigFile";
            return Err(fault(kind, problem));
        }
        _ => return Err(fault(kind, "type must be \"KubeConfigFile\"")),
    }
    let file = file.as_ref().ok_or_else(|| fault(connection, "kubeConfigFile is missing"))?;
    if !file.value.is_absolute() {
        return Err(fault(file, "kubeConfigFile must be an absolute path"));
    }
    if !file.value.is_file() {
        return Err(fault(file, "kubeConfigFile must be a regular file"));
    }
    Client::of_kubeconfig(&file.value, settings).map_err(|error| fault(file, with_cause(&error)))
}

/// More than nothing, and not more than the longest.
fn duration(field: &Spanned<String>, name: &str, longest: Duration) -> Result<Duration, Fault> {
    let parsed: Result<scalar::Duration, _> = field.value.parse();
    let parsed = parsed.map_err(|error| fault(field, format!("{name}: {error}")))?;
    match parsed.to_std() {
        Some(duration) if duration > longest => {
            Err(fault(field, format!("{name} must not be longer than {}s", longest.as_secs())))
        }
        Some(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(fault(field, format!("{name} must be greater than zero"))),
    }
}

#[cfg(test)]
mod tests;
