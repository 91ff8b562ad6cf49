//! The authorizers of the configured modes, over the stored objects.

use std::sync::Arc;

use orch_auth::{
    abac::Abac,
    authorization::{AuthorizationConfig, Mode},
    authorizer::{Authorizer, always_allow::AlwaysAllow, always_deny::AlwaysDeny},
    rbac::authorizer::Rbac,
};
use orch_controllers::product::bootstrap_policy;
use orch_kinds::sources::node_graph;
use orch_registry::objects::Objects;
use orch_runtime::vocabulary::Vocabulary;

use crate::{response::status::text_for_operator, start_error::StartError};

/// The files that authorizers are made from.
pub struct Files {
    /// The policies of the mode ABAC.
    abac: Option<Arc<Abac>>,
}

impl Files {
    /// Reads them. To be called before anything listens.
    pub fn read(config: &AuthorizationConfig, vocabulary: &Vocabulary) -> Result<Self, StartError> {
        let read = |path| Abac::read(path, vocabulary);
        let abac = config.policy_file.as_deref().map(read).transpose();
        let abac = abac.map_err(|error| StartError::caused("--authorization-policy-file", &error))?;
        Ok(Files { abac: abac.map(Arc::new) })
    }
}

/// One authorizer for each mode, in the order of the modes.
pub fn of_modes(
    config: &AuthorizationConfig,
    files: &Files,
    objects: &Objects,
    rbac: &Arc<Rbac>,
) -> Result<Vec<Box<dyn Authorizer>>, StartError> {
    let authorizer = |mode: &Mode| -> Result<Box<dyn Authorizer>, StartError> {
        Ok(match mode {
            Mode::AlwaysAllow => Box::new(AlwaysAllow),
            Mode::AlwaysDeny => Box::new(AlwaysDeny),
            Mode::Rbac => Box::new(Arc::clone(rbac)),
            Mode::Abac => {
                let abac = files.abac.as_ref().expect("this mode without its file is refused with the flags");
                Box::new(Arc::clone(abac))
            }
            Mode::Node => {
                let role = bootstrap_policy::node_role(objects.catalog().vocabulary);
                let role = role.map_err(|error| StartError::Runtime(text_for_operator(&error)))?;
                Box::new(node_graph::node_authorizer(objects, role))
            }
        })
    };
    config.modes.iter().map(authorizer).collect()
}
