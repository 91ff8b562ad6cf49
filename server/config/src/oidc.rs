//! The issuer of tokens that flags describe.

use std::path::PathBuf;

use clap::Args;
use orch_auth::{
    jwt::algorithm::Algorithm,
    oidc::{flags::OidcConfig, url},
};

use crate::{named::named, start_error::StartError};

/// Flags about an OpenID Connect provider.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct OidcFlags {
    /// The address of an OpenID Connect provider whose tokens are accepted, beginning with https://.
    #[arg(long, value_name = "URL")]
    oidc_issuer_url: Option<String>,
    /// The client id that tokens of the provider are for.
    #[arg(long, value_name = "ID")]
    oidc_client_id: Option<String>,
    /// The claim that is the name of the user. sub, unless it is given.
    #[arg(long, value_name = "CLAIM")]
    oidc_username_claim: Option<String>,
    /// What stands before the names of users; - for nothing. The issuer's address and #, unless it is given
    /// or the claim is email.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    oidc_username_prefix: Option<String>,
    /// The claim with the groups of the user: a text or a list of texts.
    #[arg(long, value_name = "CLAIM")]
    oidc_groups_claim: Option<String>,
    /// What stands before the names of groups.
    #[arg(long, value_name = "TEXT")]
    oidc_groups_prefix: Option<String>,
    /// Certificates, in PEM, of the authorities that the provider is trusted by; those of the system, unless
    /// it is given.
    #[arg(long, value_name = "FILE")]
    oidc_ca_file: Option<PathBuf>,
    /// Algorithms that signatures of tokens may have. RS256, unless it is given.
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        value_parser = named(Algorithm::all(), Algorithm::name),
    )]
    oidc_signing_algs: Vec<Algorithm>,
    /// A claim that tokens must have, with its value. May be given several times.
    #[arg(long, value_name = "CLAIM=TEXT", value_delimiter = ',')]
    oidc_required_claim: Vec<String>,
}

const ISSUER: &str = "--oidc-issuer-url";
const CLIENT: &str = "--oidc-client-id";
const REQUIRED_CLAIM: &str = "--oidc-required-claim";

/// The prefix that stands for none.
const NO_PREFIX: &str = "-";

impl OidcFlags {
    /// The first flag that is given.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.oidc_issuer_url.is_some(), ISSUER),
            (self.oidc_client_id.is_some(), CLIENT),
            (self.oidc_username_claim.is_some(), "--oidc-username-claim"),
            (self.oidc_username_prefix.is_some(), "--oidc-username-prefix"),
            (self.oidc_groups_claim.is_some(), "--oidc-groups-claim"),
            (self.oidc_groups_prefix.is_some(), "--oidc-groups-prefix"),
            (self.oidc_ca_file.is_some(), "--oidc-ca-file"),
            (!self.oidc_signing_algs.is_empty(), "--oidc-signing-algs"),
            (!self.oidc_required_claim.is_empty(), REQUIRED_CLAIM),
        ];
        flags.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// Checks that the flags that belong together are there, and what they say.
    pub fn check(self) -> Result<Option<OidcConfig>, StartError> {
        let Some(given) = self.given() else { return Ok(None) };
        let needed = |flag: Option<String>, name| {
            let problem = format!("is needed by {given}");
            flag.filter(|value| !value.is_empty()).ok_or_else(|| StartError::configuration(name, problem))
        };
        let client_id = needed(self.oidc_client_id, CLIENT)?;
        let issuer_url = needed(self.oidc_issuer_url, ISSUER)?;
        url::check(&issuer_url)
            .map_err(|problem| StartError::configuration(ISSUER, format!("{issuer_url:?} {problem}")))?;
        let username_claim = self.oidc_username_claim.unwrap_or_else(|| "sub".to_owned());
        let username_prefix = match self.oidc_username_prefix.as_deref().unwrap_or_default() {
            NO_PREFIX => String::new(),
            "" if username_claim == "email" => String::new(),
            "" => format!("{issuer_url}#"),
            prefix => prefix.to_owned(),
        };
        let signing_algorithms = match self.oidc_signing_algs {
            none if none.is_empty() => vec![Algorithm::RS256],
            some => some,
        };
        Ok(Some(OidcConfig {
            issuer_url,
            client_id,
            username_claim,
            username_prefix,
            groups_claim: self.oidc_groups_claim.filter(|claim| !claim.is_empty()),
            groups_prefix: self.oidc_groups_prefix.unwrap_or_default(),
            ca_file: self.oidc_ca_file,
            signing_algorithms,
            required_claims: required_claims(&self.oidc_required_claim)?,
        }))
    }
}

fn required_claims(pairs: &[String]) -> Result<Vec<(String, String)>, StartError> {
    let wrong = |problem: String| StartError::configuration(REQUIRED_CLAIM, problem);
    let mut required: Vec<(String, String)> = Vec::new();
    for pair in pairs {
        let Some((claim, value)) = pair.split_once('=').filter(|(claim, _)| !claim.is_empty()) else {
            return Err(wrong(format!("{pair:?} is not of the form CLAIM=TEXT")));
        };
        if required.iter().any(|(known, _)| known == claim) {
            return Err(wrong(format!("the claim {claim:?} is given twice")));
        }
        required.push((claim.to_owned(), value.to_owned()));
    }
    Ok(required)
}
