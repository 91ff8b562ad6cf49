//! The file of `--authentication-config`: issuers of tokens, and requests that need no credentials.
//!
//! ```yaml
//! apiVersion: apiserver.config.orch.io/v1beta1
//! kind: AuthenticationConfiguration
//! jwt:
//!   - issuer:
//!       url: https://issuer.example.com
//!       discoveryURL: https://discovery.example.com/.well-known/openid-configuration
//!       certificateAuthority: |
//!         -----BEGIN CERTIFICATE-----
//!         ...
//!       audiences: [one, other]
//!       audienceMatchPolicy: MatchAny
//!     claimValidationRules:
//!       - {claim: hd, requiredValue: example.com}
//!       - {expression: claims.exp - claims.nbf <= 86400, message: lives too long}
//!     claimMappings:
//!       username: {claim: sub, prefix: "oidc:"}
//!       groups: {expression: claims.roles.split(",")}
//!       uid: {claim: oid}
//!       extra:
//!         - {key: example.com/tenant, valueExpression: claims.tenant}
//!     userValidationRules:
//!       - {expression: "!user.username.startsWith('system:')", message: a reserved name}
//! anonymous:
//!   enabled: true
//!   conditions:
//!     - path: /livez
//! ```

mod claims;

use std::path::Path;

use orch_outbound::error::OutboundError;
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::{Fault, Spanned, fault};
use serde::Deserialize;

use crate::{
    anonymous::Anonymous,
    config_file,
    error::AuthError,
    jwt::algorithm::Algorithm,
    oidc::{
        distributed::Distributed,
        issuer::{Issuer, Issuers},
        provider::{Place, Provider},
        url,
    },
    user::credential_id_key,
};
use claims::{ClaimRuleEntry, MappingEntry, UserRuleEntry};

/// The versions of the file; they say the same.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The most issuers.
const MAX_ISSUERS: usize = 64;

/// What a file says.
pub struct AuthenticationFile {
    /// Whose tokens are accepted.
    pub issuers: Issuers,
    /// Who needs no credentials, if the file says so.
    pub anonymous: Option<Anonymous>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Spanned<String>,
    kind: Spanned<String>,
    #[serde(default)]
    jwt: Vec<Spanned<Entry>>,
    anonymous: Option<AnonymousEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    issuer: Spanned<IssuerEntry>,
    #[serde(default)]
    claim_validation_rules: Vec<Spanned<ClaimRuleEntry>>,
    claim_mappings: MappingEntry,
    #[serde(default)]
    user_validation_rules: Vec<Spanned<UserRuleEntry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IssuerEntry {
    url: Spanned<String>,
    #[serde(rename = "discoveryURL")]
    discovery_url: Option<Spanned<String>>,
    certificate_authority: Option<Spanned<String>>,
    audiences: Vec<Spanned<String>>,
    audience_match_policy: Option<Spanned<String>>,
    /// Of the reference; there is only one way to issuers here.
    egress_selector_type: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnonymousEntry {
    enabled: Spanned<bool>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    path: Spanned<String>,
}

/// Reads a file. `own` are the names under which the server issues tokens itself. Keys of issuers that were
/// configured `before` in the same place are kept.
///
/// # Errors
/// Where it cannot be read, or is not right.
pub fn read(
    path: &Path,
    own: &[String],
    before: &Issuers,
    vocabulary: &Vocabulary,
) -> Result<AuthenticationFile, AuthError> {
    config_file::read(path, |text| parse(text, own, before, vocabulary))
}

fn parse(
    text: &str,
    own: &[String],
    before: &Issuers,
    vocabulary: &Vocabulary,
) -> Result<AuthenticationFile, Fault> {
    let file: File = orch_settings::parse(text)?;
    let versions = VERSIONS.map(|version| format!("apiserver.config.{}/{version}", vocabulary.group_suffix));
    orch_settings::check_kind(&file.api_version, &versions, &file.kind, "AuthenticationConfiguration")?;
    if let Some(entry) = file.jwt.get(MAX_ISSUERS) {
        return Err(fault(entry, format!("there are more than {MAX_ISSUERS} issuers")));
    }
    let mut issuers = Issuers::new();
    for entry in &file.jwt {
        let issuer = issuer_of(&entry.value, own, before, vocabulary)?;
        check_other_places(&entry.value.issuer.value, &issuer, &issuers)?;
        issuers.insert(issuer.name().to_owned(), issuer);
    }
    let anonymous = file.anonymous.as_ref().map(anonymous).transpose()?;
    Ok(AuthenticationFile { issuers, anonymous })
}

/// No two issuers have one name, or one discovery document.
fn check_other_places(entry: &IssuerEntry, issuer: &Issuer, before: &Issuers) -> Result<(), Fault> {
    if before.contains_key(issuer.name()) {
        return Err(fault(&entry.url, format!("there are two issuers with the url {:?}", entry.url.value)));
    }
    if let Some(url) = &entry.discovery_url
        && before.values().any(|other| other.provider.place().discovery_url.as_ref() == Some(&url.value))
    {
        return Err(fault(url, format!("there are two issuers with the discoveryURL {:?}", url.value)));
    }
    Ok(())
}

fn issuer_of(
    entry: &Entry,
    own: &[String],
    before: &Issuers,
    vocabulary: &Vocabulary,
) -> Result<Issuer, Fault> {
    let place = place(&entry.issuer.value, own)?;
    let provider = match before.get(&place.issuer) {
        Some(same) if *same.provider.place() == place => same.provider.clone(),
        _ => provider(&entry.issuer.value, place)?,
    };
    let claim_rules = claims::claim_rules(&entry.claim_validation_rules)?;
    let mapping = claims::mapping(&entry.claim_mappings, &claim_rules, vocabulary)?;
    Ok(Issuer {
        provider,
        audiences: audiences(&entry.issuer)?,
        algorithms: Algorithm::all().collect(),
        claim_rules,
        mapping,
        user_rules: claims::user_rules(&entry.user_validation_rules)?,
        credential_id_key: credential_id_key(vocabulary),
        distributed: Distributed::default(),
    })
}

fn place(entry: &IssuerEntry, own: &[String]) -> Result<Place, Fault> {
    if let Some(kind) = &entry.egress_selector_type {
        let problem = "egressSelectorType cannot be set: this server calls issuers directly";
        return Err(fault(kind, problem));
    }
    let name = &entry.url;
    url::check(&name.value).map_err(|problem| fault(name, format!("url {problem}")))?;
    if own.contains(&name.value) {
        return Err(fault(name, "url must not be that of the server's own service account tokens"));
    }
    let discovery = filled(entry.discovery_url.as_ref());
    if let Some(discovery) = discovery {
        url::check(&discovery.value)
            .map_err(|problem| fault(discovery, format!("discoveryURL {problem}")))?;
        if discovery.value.trim_end_matches('/') == name.value.trim_end_matches('/') {
            return Err(fault(discovery, "discoveryURL must not be the url"));
        }
    }
    let authorities = filled(entry.certificate_authority.as_ref());
    Ok(Place {
        issuer: name.value.clone(),
        discovery_url: discovery.map(|url| url.value.clone()),
        authorities: authorities.map(|pem| pem.value.clone().into_bytes()),
    })
}

fn provider(entry: &IssuerEntry, place: Place) -> Result<Provider, Fault> {
    Provider::new(place).map_err(|error: OutboundError| {
        let problem = config_file::with_cause(&error);
        match &entry.certificate_authority {
            Some(pem) => fault(pem, format!("certificateAuthority: {problem}")),
            None => fault(&entry.url, format!("url: {problem}")),
        }
    })
}

fn audiences(issuer: &Spanned<IssuerEntry>) -> Result<Vec<String>, Fault> {
    let IssuerEntry { audiences, audience_match_policy: policy, .. } = &issuer.value;
    if audiences.is_empty() {
        return Err(fault(issuer, "audiences must not be empty"));
    }
    for (position, audience) in audiences.iter().enumerate() {
        if audience.value.is_empty() {
            return Err(fault(audience, "an audience must not be empty"));
        }
        if audiences[..position].iter().any(|other| other.value == audience.value) {
            return Err(fault(audience, format!("there are two audiences {:?}", audience.value)));
        }
    }
    match filled(policy.as_ref()) {
        Some(policy) if policy.value != "MatchAny" => {
            return Err(fault(policy, "audienceMatchPolicy must be \"MatchAny\""));
        }
        None if audiences.len() > 1 => {
            return Err(fault(issuer, "audienceMatchPolicy must be \"MatchAny\" for several audiences"));
        }
        _ => {}
    }
    Ok(audiences.iter().map(|audience| audience.value.clone()).collect())
}

fn anonymous(entry: &AnonymousEntry) -> Result<Anonymous, Fault> {
    let mut paths = Vec::new();
    for Condition { path } in &entry.conditions {
        if !entry.enabled.value {
            return Err(fault(&entry.enabled, "enabled must be true where there are conditions"));
        }
        if !path.value.starts_with('/') {
            return Err(fault(path, "path must begin with /"));
        }
        paths.push(path.value.clone());
    }
    Ok(match entry.enabled.value {
        false => Anonymous::Nowhere,
        true if paths.is_empty() => Anonymous::Everywhere,
        true => Anonymous::At(paths),
    })
}

/// A field that is there and not empty: an empty one says as much as none.
fn filled(field: Option<&Spanned<String>>) -> Option<&Spanned<String>> {
    field.filter(|field| !field.value.is_empty())
}

#[cfg(test)]
mod tests;
