//! What callers may do.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use orch_auth::{
    authorization::{AuthorizationConfig, Mode},
    authorization_file::{AUTHORIZED_TTL, UNAUTHORIZED_TTL},
    webhook::{Version, WebhookConfig},
};

use super::{duration::positive, named::named};
use crate::start_error::StartError;

/// Flags about authorization.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct AuthorizationFlags {
    /// Who decides about requests, in this order; the first that allows or denies is final. The group
    /// system:masters may do everything under all modes. Node,RBAC, unless it is given.
    #[arg(
        long,
        value_name = "MODE[,MODE...]",
        value_delimiter = ',',
        value_parser = named(Mode::ALL, Mode::name),
    )]
    authorization_mode: Vec<Mode>,
    /// The policies of the mode ABAC: one JSON object in each line.
    #[arg(long, value_name = "FILE")]
    authorization_policy_file: Option<PathBuf>,
    /// A file that lists who decides, with webhooks and their conditions, instead of the other flags.
    #[arg(long, value_name = "FILE")]
    authorization_config: Option<PathBuf>,
    /// The server that decides in the mode Webhook, as a kubeconfig file.
    #[arg(long, value_name = "FILE")]
    authorization_webhook_config_file: Option<PathBuf>,
    /// The version of the access reviews that the webhook is sent. v1beta1, unless it is given.
    #[arg(long, value_name = "VERSION", value_parser = named(Version::ALL, Version::name))]
    authorization_webhook_version: Option<Version>,
    /// How long an answer of the webhook is kept that allows. 5m, unless it is given.
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    authorization_webhook_cache_authorized_ttl: Option<Duration>,
    /// How long another answer of the webhook is kept. 30s, unless it is given.
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    authorization_webhook_cache_unauthorized_ttl: Option<Duration>,
}

/// The modes of a server that is told nothing about them.
const DEFAULT: [Mode; 2] = [Mode::Node, Mode::Rbac];

impl AuthorizationFlags {
    /// Checks that no mode is named twice, that the modes ABAC and Webhook have their files, and that a file
    /// of authorizers stands alone.
    pub fn check(self) -> Result<AuthorizationConfig, StartError> {
        if let Some(file) = self.authorization_config.clone() {
            return self.check_file(file);
        }
        let webhook = self.webhook()?;
        let mut modes = self.authorization_mode;
        if modes.is_empty() {
            modes = DEFAULT.to_vec();
        }
        for (position, mode) in modes.iter().enumerate() {
            if modes[..position].contains(mode) {
                let problem = format!("{} is given twice", mode.name());
                return Err(StartError::configuration("--authorization-mode", problem));
            }
        }
        let policy_file = self.authorization_policy_file;
        let problem = match (&policy_file, modes.contains(&Mode::Abac)) {
            (None, true) => Some("is needed by --authorization-mode=ABAC"),
            (Some(_), false) => Some("is for --authorization-mode=ABAC alone"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(StartError::configuration("--authorization-policy-file", problem));
        }
        Ok(AuthorizationConfig { modes, policy_file, webhook, file: None })
    }

    /// A file says everything: no other flag may.
    fn check_file(self, file: PathBuf) -> Result<AuthorizationConfig, StartError> {
        for (is_given, flag) in [
            (!self.authorization_mode.is_empty(), "--authorization-mode"),
            (self.authorization_policy_file.is_some(), "--authorization-policy-file"),
            (self.authorization_webhook_config_file.is_some(), "--authorization-webhook-config-file"),
            (self.authorization_webhook_version.is_some(), "--authorization-webhook-version"),
            (
                self.authorization_webhook_cache_authorized_ttl.is_some(),
                "--authorization-webhook-cache-authorized-ttl",
            ),
            (
                self.authorization_webhook_cache_unauthorized_ttl.is_some(),
                "--authorization-webhook-cache-unauthorized-ttl",
            ),
        ] {
            if is_given {
                return Err(StartError::configuration(flag, "cannot be given with --authorization-config"));
            }
        }
        Ok(AuthorizationConfig { modes: Vec::new(), policy_file: None, webhook: None, file: Some(file) })
    }

    /// The webhook of the mode Webhook, where that mode is asked.
    fn webhook(&self) -> Result<Option<WebhookConfig>, StartError> {
        let is_asked = self.authorization_mode.contains(&Mode::Webhook);
        let flag = "--authorization-webhook-config-file";
        match (&self.authorization_webhook_config_file, is_asked) {
            (None, false) => Ok(None),
            (None, true) => Err(StartError::configuration(flag, "is needed by --authorization-mode=Webhook")),
            (Some(_), false) => {
                Err(StartError::configuration(flag, "is for --authorization-mode=Webhook alone"))
            }
            (Some(file), true) => Ok(Some(WebhookConfig {
                kubeconfig: file.clone(),
                version: self.authorization_webhook_version.unwrap_or(Version::V1Beta1),
                authorized_ttl: self.authorization_webhook_cache_authorized_ttl.unwrap_or(AUTHORIZED_TTL),
                unauthorized_ttl: self
                    .authorization_webhook_cache_unauthorized_ttl
                    .unwrap_or(UNAUTHORIZED_TTL),
            })),
        }
    }
}
