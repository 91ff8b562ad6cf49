//! Accounts whose pods may use only the secrets that the account lists. An annotation, which is deprecated,
//! asks for that.

use std::collections::BTreeSet;

use orch_api::core::v1::{EnvFromSource, EnvVar, PodSpec, ServiceAccount};
use orch_runtime::vocabulary::Vocabulary;

use crate::service_account::ENFORCE_MOUNTABLE;

/// The spellings of "yes" that the reference reads.
const YES: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];

/// What an account lets its pods use.
pub(super) struct Rules<'a> {
    account: &'a str,
    secrets: BTreeSet<&'a str>,
    pull_secrets: BTreeSet<&'a str>,
}

impl<'a> Rules<'a> {
    /// `None` for an account that does not ask for it.
    pub(super) fn of(account: &'a ServiceAccount, vocabulary: &Vocabulary) -> Option<Self> {
        let says = account.metadata.annotations.get(&vocabulary.label(ENFORCE_MOUNTABLE))?;
        YES.contains(&says.as_str()).then(|| Rules {
            account: &account.metadata.name,
            secrets: account.secrets.iter().map(|secret| secret.name.as_str()).collect(),
            pull_secrets: account.image_pull_secrets.iter().map(|secret| secret.name.as_str()).collect(),
        })
    }

    fn refusal(&self, what: &str) -> String {
        format!(
            "{what} is not allowed because service account {} does not reference that secret",
            self.account
        )
    }

    /// The first secret in a container's environment that is not listed.
    fn in_environment(&self, container: &str, env: &[EnvVar], env_from: &[EnvFromSource]) -> Option<String> {
        let is_listed = |name: &str| self.secrets.contains(name);
        for variable in env {
            let secret = variable.value_from.as_ref().and_then(|source| source.secret_key_ref.as_ref());
            if let Some(secret) = secret.filter(|secret| !is_listed(&secret.name)) {
                let (variable, name) = (&variable.name, &secret.name);
                return Some(self.refusal(&format!(
                    "{container} with envVar {variable} referencing secret.secretName={name:?}"
                )));
            }
        }
        let mut named = env_from.iter().filter_map(|source| source.secret_ref.as_ref());
        let secret = named.find(|secret| !is_listed(&secret.name))?;
        Some(
            self.refusal(&format!(
                "{container} with envFrom referencing secret.secretName={:?}",
                secret.name
            )),
        )
    }
}

/// What a new pod uses and its account does not list.
pub(super) fn broken_by_new(spec: &PodSpec, rules: &Rules<'_>) -> Option<String> {
    let mut volumes = spec.volumes.iter().filter_map(|volume| volume.secret.as_ref());
    if let Some(secret) = volumes.find(|secret| !rules.secrets.contains(secret.secret_name.as_str())) {
        return Some(rules.refusal(&format!("volume with secret.secretName={:?}", secret.secret_name)));
    }
    for (kind, containers) in [("init container", &spec.init_containers), ("container", &spec.containers)] {
        for container in containers {
            let called = format!("{kind} {}", container.name);
            let broken = rules.in_environment(&called, &container.env, &container.env_from);
            if broken.is_some() {
                return broken;
            }
        }
    }
    let mut pulled = spec.image_pull_secrets.iter().enumerate();
    let (index, secret) = pulled.find(|(_, secret)| !rules.pull_secrets.contains(secret.name.as_str()))?;
    Some(format!(
        "imagePullSecrets[{index}].name={:?} is not allowed because service account {} does not reference \
         that imagePullSecret",
        secret.name, rules.account
    ))
}

/// What the ephemeral containers of a pod use and its account does not list.
pub(super) fn broken_by_added(spec: &PodSpec, rules: &Rules<'_>) -> Option<String> {
    spec.ephemeral_containers.iter().find_map(|container| {
        let called = format!("ephemeral container {}", container.name);
        rules.in_environment(&called, &container.env, &container.env_from)
    })
}
