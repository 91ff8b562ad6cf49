//! The one issuer that the flags `--oidc-*` describe.

use std::path::PathBuf;

use orch_runtime::vocabulary::Vocabulary;

use super::{
    distributed::Distributed,
    issuer::Issuer,
    mapping::{Mapping, Source},
    provider::{Place, Provider},
    rules::ClaimRule,
};
use crate::{error::AuthError, jwt::algorithm::Algorithm, user::credential_id_key};

/// What the flags say, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcConfig {
    /// The address of the issuer.
    pub issuer_url: String,
    /// The audience of its tokens.
    pub client_id: String,
    /// The claim that is the name of the user.
    pub username_claim: String,
    /// What stands before it.
    pub username_prefix: String,
    /// The claim with the groups; without it, users have none.
    pub groups_claim: Option<String>,
    /// What stands before each group.
    pub groups_prefix: String,
    /// PEM file of the authorities of the issuer's certificate; those of the system, if there is none.
    pub ca_file: Option<PathBuf>,
    /// The algorithms that signatures may have.
    pub signing_algorithms: Vec<Algorithm>,
    /// Claims, and the texts that they must be.
    pub required_claims: Vec<(String, String)>,
}

impl OidcConfig {
    /// The issuer.
    ///
    /// # Errors
    /// Where the file of authorities cannot be read or used.
    pub fn issuer(&self, vocabulary: &Vocabulary) -> Result<Issuer, AuthError> {
        let read = |path: &PathBuf| {
            orch_settings::read(path).map_err(|source| AuthError::Read { path: path.clone(), source })
        };
        let authorities = self.ca_file.as_ref().map(read).transpose()?;
        let place = Place { issuer: self.issuer_url.clone(), discovery_url: None, authorities };
        let claim = |claim: &String, prefix: &String| {
            let (claim, prefix) = (claim.clone(), prefix.clone());
            Source::Claim { claim, prefix }
        };
        let rules = self
            .required_claims
            .iter()
            .map(|(claim, required)| ClaimRule::Value { claim: claim.clone(), required: required.clone() });
        Ok(Issuer {
            provider: Provider::new(place).map_err(AuthError::Outbound)?,
            audiences: vec![self.client_id.clone()],
            algorithms: self.signing_algorithms.clone(),
            claim_rules: rules.collect(),
            mapping: Mapping {
                username: claim(&self.username_claim, &self.username_prefix),
                groups: self.groups_claim.as_ref().map(|groups| claim(groups, &self.groups_prefix)),
                uid: None,
                extra: Vec::new(),
            },
            user_rules: Vec::new(),
            credential_id_key: credential_id_key(vocabulary),
            distributed: Distributed::default(),
        })
    }
}
