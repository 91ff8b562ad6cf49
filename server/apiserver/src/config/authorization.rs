//! What callers may do.

use std::path::PathBuf;

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
        default_values = DEFAULT.map(Mode::name),
        value_parser = mode(),
    )]
    authorization_mode: Vec<Mode>,
    /// The policies of the mode ABAC: one JSON object in each line.
    #[arg(long, value_name = "FILE")]
    authorization_policy_file: Option<PathBuf>,
}

/// The modes of a server that is told nothing about them.
const DEFAULT: [Mode; 2] = [Mode::Node, Mode::Rbac];

impl AuthorizationFlags {
    /// Checks that no mode is named twice, and that the mode ABAC has its file.
    pub fn check(self) -> Result<AuthorizationConfig, StartError> {
        let modes = self.authorization_mode;
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
        Ok(AuthorizationConfig { modes, policy_file })
    }
}

fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).map(|name| {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        mode.expect("only names of modes are accepted")
    })
}
