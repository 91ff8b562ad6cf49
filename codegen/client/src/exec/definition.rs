//! What a kubeconfig file says of a plugin, checked, and what the plugin is told.

use kube::config::{ExecConfig, ExecInteractiveMode};
use orch_meta::VOCABULARIES;
use orch_runtime::vocabulary::Vocabulary;
use serde_json::{Value, json};

use crate::error::{Error, PluginFault};

/// The group of the documents that plugins read and write, without the suffix of the vocabulary.
const GROUP: &str = "client.authentication";
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// A plugin. Its `Debug` form has all of it, with the secrets that may be in `env`: it is never printed.
#[derive(Debug)]
pub struct Definition {
    /// The program: a path, or a name to look for in `PATH`.
    pub command: String,
    pub args: Vec<String>,
    /// Added to the environment of this process.
    pub env: Vec<(String, String)>,
    /// Of the documents: `client.authentication.<suffix>/v1`.
    pub api_version: String,
    /// The environment variable with what it is told.
    pub variable: &'static str,
    /// The name of the extension of a cluster that is passed on to it.
    pub extension: String,
    pub install_hint: String,
    pub interactive_mode: Mode,
    /// What it is told about the server.
    pub cluster: Option<Value>,
}

/// Whether a plugin may ask its user something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Never,
    IfAvailable,
    Always,
}

impl Definition {
    /// # Errors
    /// What is wrong with the entry.
    pub fn new(config: &ExecConfig) -> Result<Self, Error> {
        let command = config.command.clone().unwrap_or_default();
        let wrong = |why: String| Error::plugin(&command, PluginFault::Configuration(why));
        if command.is_empty() {
            return Err(wrong("it has no command".to_owned()));
        }
        let api_version = config.api_version.clone().unwrap_or_default();
        let (vocabulary, version) = vocabulary(&api_version).ok_or_else(|| {
            let known = VOCABULARIES.iter().flat_map(|vocabulary| {
                VERSIONS.iter().map(|version| format!("{GROUP}.{}/{version}", vocabulary.group_suffix))
            });
            let known = known.collect::<Vec<_>>().join(", ");
            wrong(format!("its apiVersion is {api_version:?}, and must be one of {known}"))
        })?;
        let interactive_mode = match &config.interactive_mode {
            Some(ExecInteractiveMode::Never) => Mode::Never,
            Some(ExecInteractiveMode::Always) => Mode::Always,
            None if version == "v1" => {
                return Err(wrong("it has no interactiveMode, which v1 requires".to_owned()));
            }
            Some(ExecInteractiveMode::IfAvailable) | None => Mode::IfAvailable,
        };
        let variables = config.env.iter().flatten().map(|entry| {
            let part = |name: &str| entry.get(name).cloned().unwrap_or_default();
            (part("name"), part("value"))
        });
        let env: Vec<(String, String)> = variables.collect();
        // The system takes no other names, and reading them back would be guessing.
        if env
            .iter()
            .any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0'))
        {
            return Err(wrong("an entry of env has no name, or one that cannot be used".to_owned()));
        }
        Ok(Definition {
            args: config.args.clone().unwrap_or_default(),
            env,
            variable: vocabulary.exec_info_variable,
            extension: format!("{GROUP}.{}/exec", vocabulary.group_suffix),
            install_hint: config.install_hint.clone().unwrap_or_default(),
            interactive_mode,
            cluster: None,
            command,
            api_version,
        })
    }

    /// Whether the plugin can ask somebody, on a standard input that is a terminal or not.
    ///
    /// # Errors
    /// Where it has to and cannot.
    pub fn is_interactive(&self, has_terminal: bool) -> Result<bool, Error> {
        match self.interactive_mode {
            Mode::Never => Ok(false),
            Mode::IfAvailable => Ok(has_terminal),
            Mode::Always if has_terminal => Ok(true),
            Mode::Always => Err(Error::plugin(&self.command, PluginFault::NoTerminal)),
        }
    }

    /// What the plugin is told: an `ExecCredential` without a status.
    pub fn info(&self, is_interactive: bool) -> String {
        let mut spec = json!({"interactive": is_interactive});
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        json!({"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}).to_string()
    }
}

/// Whose words an `apiVersion` is in, and its version.
fn vocabulary(api_version: &str) -> Option<(&'static Vocabulary, &str)> {
    let (group, version) = api_version.split_once('/')?;
    let suffix = group.strip_prefix(GROUP)?.strip_prefix('.')?;
    let vocabulary = VOCABULARIES.iter().find(|vocabulary| vocabulary.group_suffix == suffix)?;
    VERSIONS.contains(&version).then_some((*vocabulary, version))
}

#[cfg(test)]
mod tests;
