//! The authorizers of the configuration, over the stored objects.

mod following;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use orch_auth::{
    abac::Abac,
    authorization::{Authorization, AuthorizationConfig, Mode},
    authorization_file::{self, Configured, ConfiguredKind},
    authorizer::{
        Authorizer,
        always_allow::AlwaysAllow,
        always_deny::AlwaysDeny,
        counted::{Decider, Decisions},
        replaceable::Replaceable,
    },
    error::AuthError,
    rbac::authorizer::Rbac,
    webhook::Webhook,
};
use orch_config::start_error::StartError;
use orch_controllers::product::bootstrap_policy;
use orch_http::response::status::text_for_operator;
use orch_kinds::sources::node_graph;
use orch_registry::objects::Objects;
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::followed_files::FollowedFiles;

pub use following::follow;

/// What is read from files before anything listens.
pub struct Files {
    /// The policies of the mode ABAC.
    abac: Option<Arc<Abac>>,
    /// The authorizers of the file, or of the flags, in order.
    configured: Vec<Configured>,
    /// The file, and those that it names; none where flags say it.
    followed: FollowedFiles,
}

impl Files {
    /// Reads them.
    pub fn read(config: &AuthorizationConfig, vocabulary: &Vocabulary) -> Result<Self, StartError> {
        let read = |path| Abac::read(path, vocabulary);
        let abac = config.policy_file.as_deref().map(read).transpose();
        let abac = abac.map_err(|error| StartError::caused("--authorization-policy-file", &error))?;
        let (configured, followed) = match &config.file {
            Some(path) => read_file(path, vec![path.clone()], vocabulary)
                .map_err(|error| StartError::caused("--authorization-config", &error))?,
            None => (of_flags(config, vocabulary)?, FollowedFiles::new(Vec::new())),
        };
        Ok(Files { abac: abac.map(Arc::new), configured, followed })
    }
}

/// Reads the file of the configuration, and those that it names; which these are is `known` from before.
fn read_file(
    path: &Path,
    known: Vec<PathBuf>,
    vocabulary: &Vocabulary,
) -> Result<(Vec<Configured>, FollowedFiles), AuthError> {
    FollowedFiles::read(known, || {
        let configured = authorization_file::read(path, vocabulary)?;
        let named = configured.iter().flat_map(|of| of.files.iter().cloned());
        let files = std::iter::once(path.to_owned()).chain(named).collect();
        Ok((configured, files))
    })
}

/// One authorizer for each mode of the flags.
fn of_flags(config: &AuthorizationConfig, vocabulary: &Vocabulary) -> Result<Vec<Configured>, StartError> {
    let configured = |mode: &Mode| {
        let kind = match (mode, &config.webhook) {
            (Mode::Webhook, Some(webhook)) => {
                let webhook = Webhook::of_flags(webhook, vocabulary)
                    .map_err(|error| StartError::caused("--authorization-webhook-config-file", &error))?;
                ConfiguredKind::Webhook(Box::new(webhook))
            }
            _ => ConfiguredKind::Mode(*mode),
        };
        Ok(Configured { name: mode.name().to_lowercase(), kind, files: Vec::new() })
    };
    config.modes.iter().map(configured).collect()
}

/// The authorizers that the server has itself, which a change of the configuration does not make anew.
pub struct Parts {
    rbac: Arc<Rbac>,
    node: Option<Arc<dyn Authorizer>>,
    abac: Option<Arc<Abac>>,
    decisions: Arc<Decisions>,
}

/// The authorizers of the configuration together. `current` is replaced when the file changes.
pub struct Modes {
    /// What judges.
    pub current: Arc<Replaceable<Authorization>>,
    parts: Parts,
    followed: FollowedFiles,
}

impl Modes {
    /// Makes the authorizers. That for nodes follows the store, and is made only where it may be asked.
    /// `shows_selectors` says whether they get the selectors of requests.
    pub fn new(
        config: &AuthorizationConfig,
        files: Files,
        objects: &Objects,
        rbac: &Arc<Rbac>,
        shows_selectors: bool,
    ) -> Result<Self, StartError> {
        let node: Option<Arc<dyn Authorizer>> = if config.file.is_some() || config.modes.contains(&Mode::Node)
        {
            let role = bootstrap_policy::node_role(objects.catalog().vocabulary);
            let role = role.map_err(|error| StartError::Runtime(text_for_operator(&error)))?;
            Some(Arc::new(node_graph::node_authorizer(objects, role, shows_selectors)))
        } else {
            None
        };
        let parts = Parts { rbac: Arc::clone(rbac), node, abac: files.abac, decisions: Arc::default() };
        let current = Arc::new(Replaceable::new(parts.chain(files.configured)));
        Ok(Modes { current, parts, followed: files.followed })
    }

    /// How often each authorizer decides.
    pub fn decisions(&self) -> Arc<Decisions> {
        Arc::clone(&self.parts.decisions)
    }
}

impl Parts {
    /// All configured authorizers, in order.
    fn chain(&self, configured: Vec<Configured>) -> Authorization {
        let counted = |Configured { name, kind, .. }| {
            let kind_name = match &kind {
                ConfiguredKind::Webhook(_) => Mode::Webhook.name(),
                ConfiguredKind::Mode(mode) => mode.name(),
            };
            self.decisions.of(Decider { kind: kind_name, name }, self.authorizer(kind))
        };
        Authorization::from_authorizers(configured.into_iter().map(counted))
    }

    fn authorizer(&self, kind: ConfiguredKind) -> Box<dyn Authorizer> {
        let mode = match kind {
            ConfiguredKind::Webhook(webhook) => return webhook,
            ConfiguredKind::Mode(mode) => mode,
        };
        match mode {
            Mode::AlwaysAllow => Box::new(AlwaysAllow),
            // Flags that name the mode Webhook without its file are refused.
            Mode::AlwaysDeny | Mode::Webhook => Box::new(AlwaysDeny),
            Mode::Rbac => Box::new(Arc::clone(&self.rbac)),
            Mode::Abac => {
                let abac = self.abac.as_ref().expect("this mode without its file is refused with the flags");
                Box::new(Arc::clone(abac))
            }
            Mode::Node => {
                let node = self.node.as_ref().expect("it is made wherever it may be configured");
                Box::new(Arc::clone(node))
            }
        }
    }
}
