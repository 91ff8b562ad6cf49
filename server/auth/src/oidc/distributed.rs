//! Groups that are not in a token, but at an address that it names: distributed claims (OpenID Connect Core,
//! section 5.6.2).
//!
//! The token is verified before, so it is the issuer who names the address and not a client. What is there is
//! a token of the same issuer for the same audiences, fetched over TLS with the issuer's authorities. It is
//! bounded in size and time like the issuer's other documents. Requests with the same token share a fetch.

use orch_outbound::target::Credential;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{claims, provider::Provider, url};
use crate::{
    error::AuthError,
    jwt::Jwt,
    kept_answers::{self, Key},
    shared_questions::SharedQuestions,
};

/// By claim, the name of its source.
const NAMES: &str = "_claim_names";
/// By name, the sources.
const SOURCES: &str = "_claim_sources";

/// Fetches the claims of the tokens of one issuer.
#[derive(Default)]
pub struct Distributed {
    questions: SharedQuestions<Result<Fetched, String>>,
}

/// A value, and when its token ends, in seconds since 1970.
pub(super) type Fetched = (Value, f64);

/// Where a claim is. There is no `Debug`: it has a credential.
#[derive(Deserialize)]
struct Source {
    #[serde(default)]
    endpoint: String,
    #[serde(default)]
    access_token: String,
}

impl Distributed {
    /// A claim that a token does not have and says to be elsewhere. `None` for one that is nowhere.
    ///
    /// # Errors
    /// Where it cannot be had.
    pub(super) async fn fetch(
        &self,
        provider: &Provider,
        audiences: &[String],
        token: &Jwt<'_>,
        claim: &str,
        now: u64,
    ) -> Result<Option<Fetched>, AuthError> {
        let issuer = || provider.place().issuer.clone();
        let source = source(&token.claims, claim)
            .map_err(|problem| AuthError::IssuedToken { issuer: issuer(), problem })?;
        let Some(source) = source else { return Ok(None) };
        let fetched = self.questions.ask(question(token), ask(provider, audiences, &source, claim, now));
        let unjudged = |problem| AuthError::Unjudged { problem: format!("the claim {claim:?}: {problem}") };
        fetched.await.map(Some).map_err(unjudged)
    }
}

fn question(token: &Jwt<'_>) -> Key {
    kept_answers::key(token.signed())
}

/// Where a claim is that the token does not have.
fn source(claims: &Map<String, Value>, claim: &str) -> Result<Option<Source>, String> {
    let name = claims.get(NAMES).and_then(|names| names.get(claim));
    let Some(name) = name.filter(|_| !claims.contains_key(claim)) else { return Ok(None) };
    let source = name.as_str().and_then(|name| claims.get(SOURCES)?.get(name));
    let source = source.ok_or_else(|| format!("the source of the claim {claim:?} is missing"))?;
    let source =
        Source::deserialize(source).map_err(|_| format!("the source of the claim {claim:?} is no source"))?;
    match source.endpoint.as_str() {
        // An aggregated claim, whose value is in the token.
        "" => Err(format!("the source of the claim {claim:?} has no endpoint")),
        endpoint if endpoint.starts_with("https://") => Ok(Some(source)),
        endpoint => Err(format!("the endpoint of the claim {claim:?}, {endpoint:?}, {}", url::NO_HTTPS)),
    }
}

/// The value at a source.
async fn ask(
    provider: &Provider,
    audiences: &[String],
    source: &Source,
    claim: &str,
    now: u64,
) -> Result<Fetched, String> {
    let credential = match source.access_token.as_str() {
        "" => Credential::None,
        token => Credential::token(token).map_err(|_| "its access token cannot be sent".to_owned())?,
    };
    let answer = provider.place().get(&source.endpoint, credential).await?;
    let token = Jwt::read(answer.trim_ascii()).ok_or("what is there is no signed token")?;
    if token.text("iss") != Some(&provider.place().issuer) {
        return Err("what is there is the token of another issuer".to_owned());
    }
    let end = claims::check(&token.claims, audiences, now)?;
    if !provider.verify(&token).await? {
        return Err("no key of the issuer has made the signature of what is there".to_owned());
    }
    let value = token.claims.get(claim).ok_or("it is not in the token that is there")?;
    Ok((value.clone(), end))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::source;

    #[test]
    fn sources_are_found() {
        let at = |endpoint: &str| json!({"endpoint": endpoint, "access_token": "t"});
        let named = json!({"roles": "a"});
        for (claims, expected) in [
            (json!({}), Ok(None)),
            (json!({"_claim_names": {"other": "a"}}), Ok(None)),
            (json!({"roles": [], "_claim_names": named}), Ok(None)),
            (
                json!({"_claim_names": named, "_claim_sources": {"a": at("https://h/roles")}}),
                Ok(Some("https://h/roles t")),
            ),
            (
                json!({"_claim_names": named, "_claim_sources": {"a": {"endpoint": "https://h"}}}),
                Ok(Some("https://h ")),
            ),
            (json!({"_claim_names": named}), Err("the source of the claim \"roles\" is missing")),
            (
                json!({"_claim_names": {"roles": 1}, "_claim_sources": {"a": at("https://h")}}),
                Err("the source of the claim \"roles\" is missing"),
            ),
            (
                json!({"_claim_names": named, "_claim_sources": {"a": 1}}),
                Err("the source of the claim \"roles\" is no source"),
            ),
            (
                json!({"_claim_names": named, "_claim_sources": {"a": {"JWT": "a.b.c"}}}),
                Err("the source of the claim \"roles\" has no endpoint"),
            ),
            (
                json!({"_claim_names": named, "_claim_sources": {"a": at("http://h")}}),
                Err("the endpoint of the claim \"roles\", \"http://h\", must begin with https://"),
            ),
        ] {
            let Value::Object(fields) = &claims else { panic!("{claims} is an object") };
            let found = source(fields, "roles")
                .map(|found| found.map(|source| format!("{} {}", source.endpoint, source.access_token)));
            let expected = expected.map(|found| found.map(str::to_owned)).map_err(str::to_owned);
            assert_eq!(found, expected, "{claims}");
        }
    }
}
