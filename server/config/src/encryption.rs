//! Which resources are kept sealed in the database.

use std::path::PathBuf;

use clap::Args;

use super::boolean::BOOL;
use crate::start_error::StartError;

/// Flags about encryption at rest.
#[derive(Debug, Args)]
pub struct EncryptionFlags {
    /// A file that says which resources are kept sealed in the database, and with which keys: what is written
    /// takes the first key, what is read any.
    #[arg(long, value_name = "FILE")]
    encryption_provider_config: Option<PathBuf>,
    /// Whether that file is read again when it changes, while the server runs.
    #[arg(long, value_name = BOOL, default_value = "false")]
    encryption_provider_config_automatic_reload: bool,
}

/// The file of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncryptionConfig {
    /// Where it is; without one, all is kept as it is.
    pub file: Option<PathBuf>,
    /// Whether it is read again when it changes.
    pub is_followed: bool,
}

impl EncryptionFlags {
    /// Only a file that there is can be read again.
    pub fn check(self) -> Result<EncryptionConfig, StartError> {
        let is_followed = self.encryption_provider_config_automatic_reload;
        if is_followed && self.encryption_provider_config.is_none() {
            let flag = "--encryption-provider-config-automatic-reload";
            return Err(StartError::configuration(flag, "needs --encryption-provider-config"));
        }
        Ok(EncryptionConfig { file: self.encryption_provider_config, is_followed })
    }
}
