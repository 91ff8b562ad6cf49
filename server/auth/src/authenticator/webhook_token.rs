//! Tokens that another server judges: it is sent a `TokenReview` and answers whose token it is.
//!
//! Answers are kept for a while, also that a token is not known. Failures are not: of the call, and of
//! what the webhook itself could not find out. They are a 401 for the client, and their reason is logged.
//! Requests with the same token that come at the same time share one question.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use orch_outbound::client::{self, Client};
use orch_runtime::vocabulary::Vocabulary;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::{
    answer::Answer,
    authenticator::{
        Authenticated, Authenticator, Credentials,
        bearer::{MAX_TOKEN, Token},
    },
    complaints::Complaints,
    error::AuthError,
    kept_answers::{self, KeptAnswers, Key},
    lookups::{LookupCounts, Lookups},
    shared_questions::SharedQuestions,
    user::UserInfo,
    webhook::Version,
};

/// What the flags say about the webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenWebhookConfig {
    /// A kubeconfig file that names it.
    pub kubeconfig: PathBuf,
    /// The version of the review that it understands.
    pub version: Version,
    /// How long an answer is kept.
    pub ttl: Duration,
}

/// Asks a webhook about tokens.
pub struct WebhookTokenAuthenticator {
    client: Client,
    api_version: String,
    ttl: Duration,
    /// Those of this server.
    audiences: Vec<String>,
    answers: KeptAnswers<Option<Authenticated>>,
    /// What is being asked now, or why there is no answer.
    questions: SharedQuestions<Result<Option<Authenticated>, String>>,
    lookups: Lookups,
    complaints: Complaints,
}

#[derive(Deserialize)]
struct Review {
    kind: String,
    #[serde(rename = "apiVersion")]
    api_version: String,
    #[serde(default, deserialize_with = "or_default")]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    authenticated: bool,
    #[serde(deserialize_with = "or_default")]
    user: User,
    #[serde(deserialize_with = "or_default")]
    audiences: Vec<String>,
    error: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct User {
    username: String,
    uid: String,
    #[serde(deserialize_with = "or_default")]
    groups: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    extra: BTreeMap<String, Vec<String>>,
}

/// A field that is null is as one that is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

impl WebhookTokenAuthenticator {
    /// The webhook of the flags. Tokens are for one of `audiences`, unless somebody else is named.
    ///
    /// # Errors
    /// Where the kubeconfig file cannot be read, or is wrong.
    pub fn new(
        config: &TokenWebhookConfig,
        audiences: Vec<String>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, AuthError> {
        let client = Client::of_kubeconfig(&config.kubeconfig, client::Settings::default());
        Ok(Self {
            client: client.map_err(AuthError::Outbound)?,
            api_version: format!("authentication.{}/{}", vocabulary.group_suffix, config.version.name()),
            ttl: config.ttl,
            audiences,
            answers: KeptAnswers::default(),
            questions: SharedQuestions::default(),
            lookups: Lookups::default(),
            complaints: Complaints::default(),
        })
    }

    /// The answer of the webhook, or why there is none.
    async fn ask(
        &self,
        token: &str,
        audiences: &[String],
        key: Key,
    ) -> Result<Option<Authenticated>, String> {
        let review = json!({
            "apiVersion": self.api_version,
            "kind": "TokenReview",
            "metadata": {"creationTimestamp": null},
            "spec": {"token": token, "audiences": audiences},
            "status": {"user": {}},
        });
        let failed = |problem: String| {
            if let Some(left_out) = self.complaints.due(&problem, Instant::now()) {
                tracing::warn!(problem, left_out, "a token webhook gave no answer");
            }
            problem
        };
        let answer = self.client.post_json(review.to_string().into()).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let status = self.status(&answer).map_err(failed)?;
        let caller = self.caller(status, audiences)?;
        self.answers.keep(key, caller.clone(), Instant::now(), self.ttl);
        Ok(caller)
    }

    fn status(&self, answer: &[u8]) -> Result<Status, String> {
        match serde_json::from_slice::<Review>(answer) {
            Ok(review) if review.kind == "TokenReview" && review.api_version == self.api_version => {
                Ok(review.status)
            }
            Ok(_) => Err("the answer is of another kind or version".to_owned()),
            // The message of the parser could quote the answer.
            Err(error) => {
                Err(format!("the answer is no review: line {}, column {}", error.line(), error.column()))
            }
        }
    }

    /// Whose token it is, and for which of the audiences. A webhook that names none answers for this server.
    fn caller(&self, status: Status, wanted: &[String]) -> Result<Option<Authenticated>, String> {
        let named = if status.audiences.is_empty() { &self.audiences } else { &status.audiences };
        let audiences: Vec<String> = wanted.iter().filter(|wanted| named.contains(wanted)).cloned().collect();
        if audiences.is_empty() {
            return Ok(None);
        }
        let User { username: name, uid, groups, extra } = status.user;
        match (status.authenticated, status.error.is_empty()) {
            (true, _) if name.is_empty() => Err("the token webhook names nobody".to_owned()),
            (true, _) => {
                let user = UserInfo { name, uid, groups, extra };
                Ok(Some(Authenticated::new(user, "token-webhook").with_audiences(audiences)))
            }
            (false, true) => Ok(None),
            (false, false) => Err(status.error),
        }
    }
}

impl Authenticator for WebhookTokenAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        let token = credentials.token().map(Token::secret).filter(|token| token.len() <= MAX_TOKEN);
        let Some(token) = token.and_then(|token| str::from_utf8(token).ok()) else {
            return Answer::Ready(Ok(None));
        };
        let audiences = match credentials.audiences() {
            [] => self.audiences.as_slice(),
            named => named,
        };
        // Audiences are texts of any kind: each is quoted, so that no two questions look the same.
        let key = kept_answers::key(format!("{token} {audiences:?}").as_bytes());
        let began = Instant::now();
        match self.answers.get(&key, began) {
            Some(caller) => {
                self.lookups.hit(began);
                Answer::Ready(Ok(caller))
            }
            None => Answer::Later(Box::pin(async move {
                let _missed = self.lookups.missed(began);
                let ask = async { self.lookups.judge().end(self.ask(token, audiences, key).await) };
                let answer = self.questions.ask(key, ask).await;
                answer.map_err(|problem| AuthError::Unjudged { problem })
            })),
        }
    }

    fn lookups(&self) -> Option<LookupCounts> {
        Some(self.lookups.counts())
    }
}

#[cfg(test)]
mod tests;
