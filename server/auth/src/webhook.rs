//! The mode Webhook: another server decides.
//!
//! It is sent a `SubjectAccessReview` and answers with its status. Answers are kept for a while: those that
//! allow longer than the others. Conditions of the configuration may say that it is not asked at all. What
//! happens when it cannot be asked is configured: no opinion, or a denial.

pub mod condition;
mod review;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use orch_outbound::client::{self, Client};
use orch_runtime::vocabulary::Vocabulary;

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    complaints::Complaints,
    error::AuthError,
    kept_answers::{self, KeptAnswers},
    user::UserInfo,
};
use condition::{Conditions, Verdict};
use review::Status;
pub use review::Version;

/// Requests whose names and texts are longer than this together are asked about each time.
const MAX_KEPT_TEXT: usize = 10_000;

/// What happens when the webhook cannot be asked, or a condition fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The next authorizer decides.
    NoOpinion,
    /// The request is denied.
    Deny,
}

/// How a webhook is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Names it in logs.
    pub name: String,
    /// The version of the review that it understands.
    pub version: Version,
    /// The `apiVersion` of that version.
    pub api_version: String,
    /// How long an answer is kept that allows.
    pub authorized_ttl: Duration,
    /// How long another answer is kept.
    pub unauthorized_ttl: Duration,
    /// What happens when it cannot be asked.
    pub failure: FailurePolicy,
    /// When it is asked.
    pub conditions: Conditions,
}

/// What flags say about the mode Webhook. What they cannot say is as in the reference: it has no opinion when
/// it fails, and is asked about every request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfig {
    /// A kubeconfig file that names the webhook.
    pub kubeconfig: PathBuf,
    /// The version of the review that it understands.
    pub version: Version,
    /// How long an answer is kept that allows.
    pub authorized_ttl: Duration,
    /// How long another answer is kept.
    pub unauthorized_ttl: Duration,
}

/// See the module.
pub struct Webhook {
    settings: Settings,
    client: Client,
    answers: KeptAnswers<Status>,
    complaints: Complaints,
}

impl Webhook {
    /// Asks the target of the client.
    pub fn new(settings: Settings, client: Client) -> Self {
        Webhook { settings, client, answers: KeptAnswers::default(), complaints: Complaints::default() }
    }

    /// The webhook of the flags.
    ///
    /// # Errors
    /// Where the kubeconfig file cannot be read, or is wrong.
    pub fn of_flags(config: &WebhookConfig, vocabulary: &Vocabulary) -> Result<Self, AuthError> {
        let client = Client::of_kubeconfig(&config.kubeconfig, client::Settings::default());
        let client = client.map_err(AuthError::Outbound)?;
        let settings = Settings {
            name: "default".to_owned(),
            version: config.version,
            api_version: config.version.api_version(vocabulary),
            authorized_ttl: config.authorized_ttl,
            unauthorized_ttl: config.unauthorized_ttl,
            failure: FailurePolicy::NoOpinion,
            conditions: Conditions::default(),
        };
        Ok(Webhook::new(settings, client))
    }

    /// Asks, and keeps the answer.
    async fn ask(&self, spec: serde_json::Value, is_kept: bool) -> Decision {
        let Settings { name, api_version, .. } = &self.settings;
        let key = is_kept.then(|| key(&spec));
        let body = review::request(api_version, &spec);
        let answered = self.client.post_json(body.into()).await;
        let status = match answered {
            Ok(answer) => review::status(api_version, &answer),
            Err(error) => Err(error.to_string()),
        };
        let status = match status {
            Ok(status) => status,
            Err(problem) => {
                if let Some(left_out) = self.complaints.due(&problem, Instant::now()) {
                    tracing::warn!(
                        webhook = name,
                        problem,
                        left_out,
                        "an authorization webhook gave no answer"
                    );
                }
                return self.failed(problem);
            }
        };
        if let Some(key) = key {
            let ttl =
                if status.allowed { self.settings.authorized_ttl } else { self.settings.unauthorized_ttl };
            self.answers.keep(key, status.clone(), Instant::now(), ttl);
        }
        status.decision()
    }

    fn failed(&self, problem: String) -> Decision {
        match self.settings.failure {
            FailurePolicy::Deny => Decision::Deny { reason: String::new().into() },
            FailurePolicy::NoOpinion => Decision::Failed { reason: String::new().into(), problem },
        }
    }

    fn kept(&self, spec: &serde_json::Value) -> Option<Status> {
        self.answers.get(&key(spec), Instant::now())
    }
}

fn key(spec: &serde_json::Value) -> kept_answers::Key {
    kept_answers::key(spec.to_string().as_bytes())
}

impl Authorizer for Webhook {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        match self.settings.conditions.judge(attributes) {
            Verdict::Asked => {}
            Verdict::Skipped => return Answer::Ready(Decision::NoOpinion { reason: String::new().into() }),
            Verdict::Failed(problem) => {
                if let Some(left_out) = self.complaints.due(&problem, Instant::now()) {
                    let webhook = &self.settings.name;
                    tracing::warn!(webhook, problem, left_out, "a match condition failed");
                }
                return Answer::Ready(self.failed(problem));
            }
        }
        let spec = review::spec(attributes, self.settings.version);
        let is_kept = review::text_length(attributes) <= MAX_KEPT_TEXT;
        if is_kept && let Some(status) = self.kept(&spec) {
            return Answer::Ready(status.decision());
        }
        Answer::Later(Box::pin(self.ask(spec, is_kept)))
    }

    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        let problem = "webhook authorizer does not support user rule resolution".to_owned();
        Answer::Ready(Rules { problems: vec![problem], ..Rules::default() })
    }
}

#[cfg(test)]
mod tests;
