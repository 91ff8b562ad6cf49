//! How callers prove who they are.

use std::path::PathBuf;

use clap::{
    ArgAction, Args,
    builder::{BoolishValueParser, TypedValueParser},
};
use orch_auth::authentication::AuthenticationConfig;

/// Flags about authentication.
#[derive(Debug, Args)]
pub struct AuthenticationFlags {
    /// Certificates, in PEM, of the authorities whose client certificates are accepted, besides the server's
    /// own: the common name is the user, each organisation a group.
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Static bearer tokens, one line each: token,user,uid,"group1,group2" (groups may be left out).
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Whether requests without credentials are made by the user system:anonymous instead of being refused.
    #[arg(
        long,
        value_name = "BOOL",
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true",
        value_parser = boolean(),
        hide_possible_values = true,
    )]
    anonymous_auth: bool,
    /// What the server calls itself in the tokens that it makes for service accounts, mostly a URL.
    #[arg(long, value_name = "NAME")]
    service_account_issuer: Option<String>,
    /// Audiences of tokens that this server accepts. The issuer, unless it is given.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    api_audiences: Vec<String>,
}

impl AuthenticationFlags {
    /// All combinations of these flags are valid.
    pub fn check(self) -> AuthenticationConfig {
        AuthenticationConfig {
            client_ca_files: self.client_ca_file.into_iter().collect(),
            token_file: self.token_auth_file,
            anonymous: self.anonymous_auth,
            service_account_issuer: self.service_account_issuer,
            api_audiences: self.api_audiences,
        }
    }
}

/// Parses `true`, `false` and their usual spellings.
fn boolean() -> impl TypedValueParser<Value = bool> {
    BoolishValueParser::new()
}
