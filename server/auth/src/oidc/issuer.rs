//! An issuer whose tokens are accepted.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    claims,
    distributed::Distributed,
    mapping::Mapping,
    provider::Provider,
    rules::{self, ClaimRule, Claims, Rule},
};
use crate::{
    error::AuthError,
    jwt::{Jwt, algorithm::Algorithm},
    user::UserInfo,
};

/// An issuer, and what the operator demands of its tokens.
pub struct Issuer {
    /// Its name and its keys.
    pub provider: Provider,
    /// A token is for one of these.
    pub audiences: Vec<String>,
    /// The algorithms that signatures may have.
    pub algorithms: Vec<Algorithm>,
    /// Demands on claims.
    pub claim_rules: Vec<ClaimRule>,
    /// What makes the user.
    pub mapping: Mapping,
    /// Demands on the user.
    pub user_rules: Vec<Rule>,
    /// The extra attribute of users that names the token.
    pub credential_id_key: String,
    /// Fetches groups that are not in a token.
    pub distributed: Distributed,
}

impl Issuer {
    /// The name in tokens.
    pub fn name(&self) -> &str {
        &self.provider.place().issuer
    }

    /// The user of a token of this issuer, and when the token ends. Times are in seconds since 1970.
    ///
    /// # Errors
    /// Where the token is not right; the text has no part of it.
    pub(crate) async fn user(&self, token: &Jwt<'_>, now: u64) -> Result<(UserInfo, f64), AuthError> {
        let invalid = |problem: String| AuthError::IssuedToken { issuer: self.name().to_owned(), problem };
        match token.algorithm() {
            Some(algorithm) if self.algorithms.contains(&algorithm) => {}
            _ => return Err(invalid("its signature has an algorithm that is not accepted".to_owned())),
        }
        // What costs nothing first: a token that is not for this server makes no issuer send its keys.
        let end = claims::check(&token.claims, &self.audiences, now).map_err(invalid)?;
        match self.provider.verify(token).await {
            Ok(true) => {}
            Ok(false) => return Err(invalid("no key of the issuer has made the signature".to_owned())),
            Err(problem) => return Err(AuthError::Unjudged { problem: problem.to_owned() }),
        }
        let fetched = match self.mapping.groups_claim() {
            Some(claim) => {
                let fetched = self.distributed.fetch(&self.provider, &self.audiences, token, claim, now);
                fetched.await?.map(|(value, end)| (claim, value, end))
            }
            None => None,
        };
        let Some((claim, value, value_end)) = fetched else {
            return Ok((self.mapped(token, &token.claims).map_err(invalid)?, end));
        };
        let mut claims = token.claims.clone();
        claims.insert(claim.to_owned(), value);
        Ok((self.mapped(token, &claims).map_err(invalid)?, end.min(value_end)))
    }

    /// The user of a token with these claims.
    fn mapped(&self, token: &Jwt<'_>, claims: &Map<String, Value>) -> Result<UserInfo, String> {
        let mut claims = Claims::new(claims);
        rules::check_claims(&self.claim_rules, &mut claims)?;
        let mut user = self.mapping.user(&mut claims)?;
        if let Some(id) = token.text("jti").filter(|id| !id.is_empty()) {
            user.extra.insert(self.credential_id_key.clone(), vec![format!("JTI={id}")]);
        }
        rules::check_user(&self.user_rules, &user)?;
        Ok(user)
    }
}

/// Issuers by their names.
pub type Issuers = BTreeMap<String, Issuer>;

#[cfg(test)]
mod tests;
