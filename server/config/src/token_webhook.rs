//! The webhook that judges tokens.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use orch_auth::{authenticator::webhook_token::TokenWebhookConfig, webhook::Version};

use super::{duration::positive, named::named};
use crate::start_error::StartError;

const FILE: &str = "--authentication-token-webhook-config-file";

/// How long answers are kept.
const TTL: Duration = Duration::from_mins(2);

/// Flags about a webhook that judges tokens.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct TokenWebhookFlags {
    /// A server that says whose a bearer token is, as a kubeconfig file.
    #[arg(long, value_name = "FILE")]
    authentication_token_webhook_config_file: Option<PathBuf>,
    /// The version of the token reviews that it is sent. v1beta1, unless it is given.
    #[arg(long, value_name = "VERSION", value_parser = named(Version::ALL, Version::name))]
    authentication_token_webhook_version: Option<Version>,
    /// How long an answer of it is kept. 2m, unless it is given.
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    authentication_token_webhook_cache_ttl: Option<Duration>,
}

impl TokenWebhookFlags {
    /// Checks that there is a file where there is anything else.
    pub fn check(self) -> Result<Option<TokenWebhookConfig>, StartError> {
        let (version, ttl) =
            (self.authentication_token_webhook_version, self.authentication_token_webhook_cache_ttl);
        let Some(kubeconfig) = self.authentication_token_webhook_config_file else {
            for (is_given, flag) in [
                (version.is_some(), "--authentication-token-webhook-version"),
                (ttl.is_some(), "--authentication-token-webhook-cache-ttl"),
            ] {
                if is_given {
                    return Err(StartError::configuration(FILE, format!("is needed by {flag}")));
                }
            }
            return Ok(None);
        };
        let (version, ttl) = (version.unwrap_or(Version::V1Beta1), ttl.unwrap_or(TTL));
        Ok(Some(TokenWebhookConfig { kubeconfig, version, ttl }))
    }
}
