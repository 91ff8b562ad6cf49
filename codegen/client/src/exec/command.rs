//! One run of a plugin.

use std::{io, process::Stdio};

use tokio::{io::AsyncReadExt, process::Command};

use super::{answer, definition::Definition};
use crate::{
    credential::Credential,
    error::{Error, PluginFault},
};

/// The most that a plugin may print, in bytes: a chain of certificates takes some ten thousand.
const MAX_OUTPUT: usize = 1024 * 1024;

/// Runs the plugin and reads its answer. What it writes to standard error goes to that of this process, for
/// the user to see; it is in no error, because it may hold anything.
///
/// # Errors
/// Where it gives no credential.
pub async fn run(definition: &Definition, has_terminal: bool) -> Result<Credential, Error> {
    let fail = |fault| Error::plugin(&definition.command, fault);
    let is_interactive = definition.is_interactive(has_terminal)?;
    let mut child = Command::new(&definition.command)
        .args(&definition.args)
        .envs(definition.env.iter().map(|(name, value)| (name, value)))
        .env(definition.variable, definition.info(is_interactive))
        .stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            fail(if error.kind() == io::ErrorKind::NotFound {
                PluginFault::NotFound { hint: definition.install_hint.clone() }
            } else {
                PluginFault::NotRun(error.to_string())
            })
        })?;
    let not_run = |error: io::Error| fail(PluginFault::NotRun(error.to_string()));
    let mut output = Vec::new();
    let stdout = child.stdout.take().expect("its output is a pipe");
    stdout.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut output).await.map_err(not_run)?;
    if output.len() > MAX_OUTPUT {
        return Err(fail(PluginFault::TooLong(MAX_OUTPUT)));
    }
    let status = child.wait().await.map_err(not_run)?;
    if !status.success() {
        return Err(fail(PluginFault::Failed(status.to_string())));
    }
    answer::read(&output, &definition.api_version).map_err(fail)
}

#[cfg(test)]
mod tests;
