//! Which objects the pods of each node use.
//!
//! A pod uses secrets, config maps, claims and its service account; a claim is bound to a volume, and a
//! volume names secrets. For each node the uses are counted, so that a pod that goes takes away its own
//! alone.

use std::collections::{BTreeSet, HashMap, HashSet};

/// The name of an object; the namespace is empty for cluster-scoped kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name in it.
    pub name: String,
}

/// The kinds of namespaced objects that pods use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Used {
    /// A secret.
    Secret,
    /// A config map.
    ConfigMap,
    /// A persistent volume claim.
    Claim,
    /// A service account.
    Account,
}

/// A pod that is bound to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// The node.
    pub node: String,
    /// What it uses in its namespace. One that a node made by itself (a mirror pod) uses nothing.
    pub uses: BTreeSet<(Used, String)>,
}

/// A persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// The claim that it is bound to, if it is.
    pub claim: Option<ObjectName>,
    /// The secrets that a node needs to mount it.
    pub secrets: Vec<ObjectName>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The new state of a pod; `None` where it is gone or not bound to a node.
    Pod(ObjectName, Option<Pod>),
    /// The new state of a volume; `None` where it is gone.
    Volume(String, Option<Volume>),
    /// The node of a volume attachment; `None` where it is gone.
    Attachment(String, Option<String>),
}

/// See the module.
#[derive(Default)]
pub struct Graph {
    pods: HashMap<ObjectName, Pod>,
    volumes: HashMap<String, Volume>,
    /// By secret, the volumes that name it.
    volumes_of_secret: HashMap<ObjectName, HashSet<String>>,
    attachments: HashMap<String, String>,
    nodes: HashMap<String, Uses>,
}

/// What the pods of one node use, and how many of them.
type Uses = HashMap<(Used, ObjectName), usize>;

impl Graph {
    /// Takes over what happened.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Pod(name, pod) => self.set_pod(name, pod),
            Change::Volume(name, volume) => self.set_volume(name, volume),
            Change::Attachment(name, node) => {
                match node {
                    Some(node) => self.attachments.insert(name, node),
                    None => self.attachments.remove(&name),
                };
            }
        }
    }

    /// Whether a pod of the node uses the object, or a volume of such a pod the secret.
    pub fn uses(&self, node: &str, kind: Used, object: &ObjectName) -> bool {
        let Some(uses) = self.nodes.get(node) else { return false };
        uses.contains_key(&(kind, object.clone()))
            || (kind == Used::Secret && {
                let mut volumes = self.volumes_of_secret.get(object).into_iter().flatten();
                volumes.any(|volume| self.uses_volume(node, volume))
            })
    }

    /// Whether a pod of the node uses the claim that the volume is bound to.
    pub fn uses_volume(&self, node: &str, volume: &str) -> bool {
        let claim = self.volumes.get(volume).and_then(|volume| volume.claim.as_ref());
        claim.is_some_and(|claim| self.uses(node, Used::Claim, claim))
    }

    /// Whether the pod is bound to the node.
    pub fn is_bound(&self, node: &str, pod: &ObjectName) -> bool {
        self.pods.get(pod).is_some_and(|pod| pod.node == node)
    }

    /// Whether the attachment is for the node.
    pub fn is_attached(&self, node: &str, attachment: &str) -> bool {
        self.attachments.get(attachment).is_some_and(|attached| attached == node)
    }

    fn set_pod(&mut self, name: ObjectName, pod: Option<Pod>) {
        if let Some(old) = self.pods.remove(&name)
            && let Some(uses) = self.nodes.get_mut(&old.node)
        {
            for used in old.used(&name.namespace) {
                if let Some(count) = uses.get_mut(&used) {
                    *count -= 1;
                    if *count == 0 {
                        uses.remove(&used);
                    }
                }
            }
            if uses.is_empty() {
                self.nodes.remove(&old.node);
            }
        }
        let Some(pod) = pod else { return };
        if !pod.uses.is_empty() {
            let uses = self.nodes.entry(pod.node.clone()).or_default();
            for used in pod.used(&name.namespace) {
                *uses.entry(used).or_default() += 1;
            }
        }
        self.pods.insert(name, pod);
    }

    fn set_volume(&mut self, name: String, volume: Option<Volume>) {
        if let Some(old) = self.volumes.remove(&name) {
            for secret in &old.secrets {
                if let Some(volumes) = self.volumes_of_secret.get_mut(secret) {
                    volumes.remove(&name);
                    if volumes.is_empty() {
                        self.volumes_of_secret.remove(secret);
                    }
                }
            }
        }
        let Some(volume) = volume else { return };
        for secret in &volume.secrets {
            self.volumes_of_secret.entry(secret.clone()).or_default().insert(name.clone());
        }
        self.volumes.insert(name, volume);
    }
}

impl ObjectName {
    /// An object of a namespace.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl Pod {
    fn used<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = (Used, ObjectName)> + 'a {
        self.uses.iter().map(move |(kind, name)| (*kind, ObjectName::new(namespace, name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: ObjectName, node: &str, uses: &[(Used, &str)]) -> Change {
        let uses = uses.iter().map(|(kind, name)| (*kind, (*name).to_owned())).collect();
        Change::Pod(name, Some(Pod { node: node.to_owned(), uses }))
    }

    fn volume(name: &str, claim: &str, secret: &str) -> Change {
        let claim = Some(ObjectName::new("n", claim));
        let secrets = vec![ObjectName::new("drivers", secret)];
        Change::Volume(name.to_owned(), Some(Volume { claim, secrets }))
    }

    #[test]
    fn what_pods_of_a_node_use_follows_the_pods() {
        let mut graph = Graph::default();
        let name = |name: &str| ObjectName::new("n", name);
        let (secret, map) = ((Used::Secret, "s"), (Used::ConfigMap, "m"));
        graph.apply(pod(name("a"), "one", &[secret, map]));
        graph.apply(pod(name("b"), "one", &[secret]));
        assert!(
            graph.uses("one", Used::Secret, &name("s")) && graph.uses("one", Used::ConfigMap, &name("m"))
        );
        assert!(!graph.uses("two", Used::Secret, &name("s")));
        assert!(!graph.uses("one", Used::ConfigMap, &name("s")));
        assert!(!graph.uses("one", Used::Secret, &ObjectName::new("m", "s")));
        graph.apply(Change::Pod(name("a"), None));
        assert!(graph.uses("one", Used::Secret, &name("s")), "b uses it too");
        assert!(!graph.uses("one", Used::ConfigMap, &name("m")));
        graph.apply(pod(name("b"), "two", &[secret]));
        assert!(!graph.uses("one", Used::Secret, &name("s")) && graph.uses("two", Used::Secret, &name("s")));
        graph.apply(Change::Pod(name("b"), None));
        assert!(graph.pods.is_empty() && graph.nodes.is_empty());
    }

    #[test]
    fn a_pod_is_bound_to_one_node_whatever_it_uses() {
        let mut graph = Graph::default();
        let name = ObjectName::new("n", "a");
        graph.apply(pod(name.clone(), "one", &[]));
        assert!(graph.is_bound("one", &name) && !graph.is_bound("two", &name));
        assert!(!graph.is_bound("one", &ObjectName::new("m", "a")));
        graph.apply(pod(name.clone(), "two", &[(Used::Secret, "s")]));
        assert!(!graph.is_bound("one", &name) && graph.is_bound("two", &name));
        graph.apply(Change::Pod(name.clone(), None));
        assert!(!graph.is_bound("two", &name) && graph.pods.is_empty() && graph.nodes.is_empty());
    }

    #[test]
    fn a_claim_leads_to_its_volume_and_the_secrets_of_that() {
        let mut graph = Graph::default();
        let secret = ObjectName::new("drivers", "s");
        graph.apply(volume("v", "c", "s"));
        graph.apply(volume("other", "d", "s"));
        assert!(!graph.uses_volume("one", "v") && !graph.uses("one", Used::Secret, &secret));
        graph.apply(pod(ObjectName::new("n", "a"), "one", &[(Used::Claim, "c")]));
        assert!(graph.uses_volume("one", "v") && graph.uses("one", Used::Secret, &secret));
        assert!(!graph.uses_volume("one", "other") && !graph.uses_volume("two", "v"));
        graph.apply(volume("v", "d", "s"));
        assert!(!graph.uses_volume("one", "v") && !graph.uses("one", Used::Secret, &secret));
        graph.apply(volume("v", "c", "t"));
        assert!(!graph.uses("one", Used::Secret, &secret));
        for name in ["v", "other"] {
            graph.apply(Change::Volume(name.to_owned(), None));
        }
        assert!(graph.volumes.is_empty() && graph.volumes_of_secret.is_empty());
    }

    #[test]
    fn an_attachment_is_for_one_node() {
        let mut graph = Graph::default();
        graph.apply(Change::Attachment("a".to_owned(), Some("one".to_owned())));
        assert!(graph.is_attached("one", "a") && !graph.is_attached("two", "a"));
        graph.apply(Change::Attachment("a".to_owned(), None));
        assert!(!graph.is_attached("one", "a"));
    }
}
