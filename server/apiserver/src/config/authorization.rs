//! What callers may do.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use orch_auth::authorization::{AuthorizationConfig, Mode};

use crate::start_error::StartError;

/// Flags about authorization.
#[derive(Debug, Args)]
pub struct AuthorizationFlags {
    /// Who decides about requests, in this order; the first that allows or denies is final. The group
    /// system:masters may do everything under all modes.
    #[arg(
        long,
        value_name = "MODE[,MODE...]",
        value_delimiter = ',',
        default_value = Mode::AlwaysAllow.name(),
        value_parser = mode(),
    )]
    authorization_mode: Vec<Mode>,
}

impl AuthorizationFlags {
    /// Checks that no mode is named twice.
    pub fn check(self) -> Result<AuthorizationConfig, StartError> {
        let modes = self.authorization_mode;
        for (position, mode) in modes.iter().enumerate() {
            if modes[..position].contains(mode) {
                let problem = format!("{} is given twice", mode.name());
                return Err(StartError::configuration("--authorization-mode", problem));
            }
        }
        Ok(AuthorizationConfig { modes })
    }
}

fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).map(|name| {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        mode.expect("only names of modes are accepted")
    })
}
