//! Pods, volumes and their attachments, for the authorization of nodes.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use orch_api::{
    coordination::v1::Lease,
    core::v1::{PersistentVolume, Pod},
    rbac::v1::ClusterRole,
    storage::v1::{CSINode, VolumeAttachment},
};
use orch_auth::node::{
    authorizer::{GraphNews, GraphSource, NodeAuthorizer, NodeNames},
    graph::{self, Change, ObjectName, Used, Volume},
};
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::{Tree, object::Kind};
use orch_storage::{EventKind, Following, Key, News, Object, Snapshot};

use super::policies::rules;

/// Decides about requests of nodes by what is stored; `role` is the cluster role of nodes, and
/// `sees_selectors` says whether it gets the selectors of requests.
pub fn node_authorizer(objects: &Objects, role: ClusterRole, sees_selectors: bool) -> NodeAuthorizer {
    let vocabulary = objects.catalog().vocabulary;
    let names = NodeNames {
        lease_namespace: vocabulary.namespace_node_lease.to_owned(),
        lease_group: vocabulary.group(Lease::RESOURCE.group).into_owned(),
        storage_group: vocabulary.group(CSINode::RESOURCE.group).into_owned(),
    };
    let source = Box::new(NodeObjects::new(objects));
    NodeAuthorizer::new(source, rules(role.rules), names).seeing_selectors(sees_selectors)
}

/// Reads an object of one kind; the tree is absent where it is gone or cannot be read.
type Reader = fn(&Key, &ServedResource, Option<&Tree>) -> Change;

/// The kinds of the graph, as far as they are served. They are followed from the first question on: a server
/// without nodes does not read its pods for this.
struct NodeObjects {
    objects: Objects,
    kinds: Vec<(Arc<ServedResource>, Reader)>,
    following: OnceLock<Following>,
}

/// How many events of a kind a request reads by itself: that takes a few milliseconds.
const READ_AT_ONCE: usize = 256;

impl NodeObjects {
    fn new(objects: &Objects) -> Self {
        let readers: [(_, Reader); 3] = [
            (Pod::RESOURCE, pod),
            (PersistentVolume::RESOURCE, volume),
            (VolumeAttachment::RESOURCE, attachment),
        ];
        let served = |(def, reader)| Some((Arc::clone(objects.catalog().served(def)?), reader));
        let kinds = readers.into_iter().filter_map(served).collect();
        NodeObjects { objects: objects.clone(), kinds, following: OnceLock::new() }
    }

    fn all(&self, snapshots: &[Snapshot]) -> Vec<Change> {
        let of_kind = |((resource, reader), snapshot): (&(Arc<ServedResource>, Reader), &Snapshot)| {
            snapshot
                .iter()
                .map(|object| read(*reader, resource, Some(object), object.key()))
                .collect::<Vec<_>>()
        };
        self.kinds.iter().zip(snapshots).flat_map(of_kind).collect()
    }
}

impl GraphSource for NodeObjects {
    fn has_news(&self) -> bool {
        self.following.get().is_none_or(Following::has_news)
    }

    fn is_far_behind(&self) -> bool {
        self.following.get().is_none_or(|following| following.is_behind(READ_AT_ONCE))
    }

    fn news(&self) -> GraphNews {
        let mut all = None;
        let following = self.following.get_or_init(|| {
            let names = self.kinds.iter().map(|(resource, _)| resource.storage_name.clone()).collect();
            let (following, snapshots) = Following::begin(self.objects.storage(), names);
            all = Some(snapshots);
            following
        });
        let events = match all.map_or_else(|| following.news(), News::Everything) {
            News::Everything(snapshots) => return GraphNews::Everything(self.all(&snapshots)),
            News::Events(events) => events,
        };
        let changes = events.iter().filter_map(|event| {
            let key = event.key();
            let (resource, reader) = self.kinds.iter().find(|(kind, _)| kind.storage_name == key.resource)?;
            let object = (event.kind() == EventKind::Put).then(|| &**event.object());
            Some(read(*reader, resource, object, key))
        });
        GraphNews::Changes(changes.collect())
    }
}

fn read(reader: Reader, resource: &ServedResource, object: Option<&Object>, key: &Key) -> Change {
    let tree = object.and_then(|object| stored::tree_of(resource, object).ok());
    reader(key, resource, tree.as_ref())
}

fn pod(key: &Key, resource: &ServedResource, tree: Option<&Tree>) -> Change {
    let name = ObjectName::new(&*key.namespace, &*key.name);
    let mirror = resource.vocabulary.label("config.mirror");
    let bound = tree.and_then(|tree| Some((tree, text(tree.pointer("/spec/nodeName"))?)));
    let pod = bound.map(|(tree, node)| {
        // A node makes mirror pods of what it runs by itself. They must not give it anything.
        let is_mirror = tree["metadata"]["annotations"].get(&mirror).is_some();
        let uses = if is_mirror { BTreeSet::new() } else { uses_of_pod(&key.name, &tree["spec"]) };
        graph::Pod { node: node.to_owned(), uses }
    });
    Change::Pod(name, pod)
}

/// Where containers and volumes name what they use: the path, and the kind.
const IN_CONTAINERS: &[(&str, &str, Used)] = &[
    ("env", "/valueFrom/secretKeyRef/name", Used::Secret),
    ("env", "/valueFrom/configMapKeyRef/name", Used::ConfigMap),
    ("envFrom", "/secretRef/name", Used::Secret),
    ("envFrom", "/configMapRef/name", Used::ConfigMap),
];
const IN_VOLUMES: &[(&str, Used)] = &[
    ("/secret/secretName", Used::Secret),
    ("/azureFile/secretName", Used::Secret),
    ("/cephfs/secretRef/name", Used::Secret),
    ("/cinder/secretRef/name", Used::Secret),
    ("/flexVolume/secretRef/name", Used::Secret),
    ("/rbd/secretRef/name", Used::Secret),
    ("/scaleIO/secretRef/name", Used::Secret),
    ("/iscsi/secretRef/name", Used::Secret),
    ("/storageos/secretRef/name", Used::Secret),
    ("/csi/nodePublishSecretRef/name", Used::Secret),
    ("/configMap/name", Used::ConfigMap),
    ("/persistentVolumeClaim/claimName", Used::Claim),
];
const IN_PROJECTED: &[(&str, Used)] = &[("/secret/name", Used::Secret), ("/configMap/name", Used::ConfigMap)];

/// What a pod of this name and specification uses.
pub(crate) fn uses_of_pod(pod: &str, spec: &Tree) -> BTreeSet<(Used, String)> {
    let mut uses = BTreeSet::new();
    let mut add = |kind: Used, name: Option<&Tree>| {
        if let Some(name) = text(name) {
            uses.insert((kind, name.to_owned()));
        }
    };
    add(Used::Account, spec.get("serviceAccountName"));
    for secret in list(spec.get("imagePullSecrets")) {
        add(Used::Secret, secret.get("name"));
    }
    for containers in ["initContainers", "containers", "ephemeralContainers"] {
        for container in list(spec.get(containers)) {
            for (field, path, kind) in IN_CONTAINERS {
                for entry in list(container.get(field)) {
                    add(*kind, entry.pointer(path));
                }
            }
        }
    }
    for volume in list(spec.get("volumes")) {
        for (path, kind) in IN_VOLUMES {
            add(*kind, volume.pointer(path));
        }
        for source in list(volume.pointer("/projected/sources")) {
            for (path, kind) in IN_PROJECTED {
                add(*kind, source.pointer(path));
            }
        }
        if volume.get("ephemeral").is_some() {
            // The claim of such a volume is named after the pod and the volume.
            let claim = format!("{pod}-{}", text(volume.get("name")).unwrap_or_default());
            add(Used::Claim, Some(&claim.into()));
        }
    }
    uses
}

/// Where the source of a volume names secrets that a node needs. Those of the parts that provision, resize
/// and attach volumes do not concern a node.
const SECRETS_OF_VOLUMES: &[&str] = &[
    "/cephfs/secretRef",
    "/cinder/secretRef",
    "/flexVolume/secretRef",
    "/rbd/secretRef",
    "/scaleIO/secretRef",
    "/iscsi/secretRef",
    "/storageos/secretRef",
    "/csi/nodePublishSecretRef",
    "/csi/nodeStageSecretRef",
    "/csi/nodeExpandSecretRef",
];

fn volume(key: &Key, _: &ServedResource, tree: Option<&Tree>) -> Change {
    let volume = tree.map(|tree| {
        let spec = &tree["spec"];
        let claim = spec.get("claimRef").and_then(|claim| reference(claim, "namespace", "name", ""));
        let of_claim = claim.as_ref().map_or("", |claim| claim.namespace.as_str());
        let named = SECRETS_OF_VOLUMES.iter().filter_map(|path| spec.pointer(path));
        let secrets = named.filter_map(|secret| reference(secret, "namespace", "name", of_claim));
        let azure = spec.get("azureFile");
        let azure = azure.and_then(|file| reference(file, "secretNamespace", "secretName", of_claim));
        Volume { secrets: secrets.chain(azure).collect(), claim }
    });
    Change::Volume(key.name.to_string(), volume)
}

fn attachment(key: &Key, _: &ServedResource, tree: Option<&Tree>) -> Change {
    let node = tree.and_then(|tree| text(tree.pointer("/spec/nodeName")));
    Change::Attachment(key.name.to_string(), node.map(str::to_owned))
}

/// The object that two fields name; without a namespace it is in that of the claim.
fn reference(tree: &Tree, namespace: &str, name: &str, default: &str) -> Option<ObjectName> {
    let namespace = text(tree.get(namespace)).unwrap_or(default);
    text(tree.get(name)).map(|name| ObjectName::new(namespace, name))
}

fn list(tree: Option<&Tree>) -> impl Iterator<Item = &Tree> {
    tree.and_then(Tree::as_array).into_iter().flatten()
}

/// A text that is not empty.
fn text(tree: Option<&Tree>) -> Option<&str> {
    tree.and_then(Tree::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use orch_auth::{
        authorizer::{Attributes, Authorizer as _, ResourceTarget, Target},
        node::GROUP_NODES,
        user::UserInfo,
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    async fn may_get(nodes: &NodeAuthorizer, node: &str, resource: &str, name: &str) -> bool {
        let user = UserInfo::new(format!("system:node:{node}"), [GROUP_NODES]);
        let namespace = if resource == "persistentvolumes" { "" } else { NAMESPACE };
        let target = ResourceTarget { resource, namespace, name, ..ResourceTarget::default() };
        let attributes = Attributes { user: &user, verb: "get", target: Target::Resource(target) };
        nodes.authorize(&attributes).resolve().await.is_allowed()
    }

    #[tokio::test]
    async fn a_node_gets_what_its_stored_pods_use() {
        let server = TestServer::start().await;
        let nodes = node_authorizer(server.core.objects(), ClusterRole::default(), false);
        let volumes = json!([
            {"name": "a", "secret": {"secretName": "mounted"}},
            {"name": "b", "projected": {"sources": [{"configMap": {"name": "projected"}}]}},
            {"name": "c", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
        ]);
        let env = json!([{"name": "E", "valueFrom": {"secretKeyRef": {"name": "in-env", "key": "k"}}}]);
        let spec = json!({
            "nodeName": "one", "imagePullSecrets": [{"name": "pull"}], "volumes": volumes,
            "containers": [
                {"name": "c", "image": "i", "env": env, "envFrom": [{"configMapRef": {"name": "map"}}]},
            ],
        });
        let used = [
            ("secrets", "mounted"),
            ("secrets", "in-env"),
            ("secrets", "pull"),
            ("configmaps", "projected"),
            ("configmaps", "map"),
            ("persistentvolumeclaims", "claim"),
            ("persistentvolumeclaims", "p-d"),
        ];
        for (resource, name) in used {
            assert!(!may_get(&nodes, "one", resource, name).await, "{resource} {name}");
        }
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        server.create::<Pod>(NAMESPACE, pod).await.unwrap();
        for (resource, name) in used {
            assert!(may_get(&nodes, "one", resource, name).await, "{resource} {name}");
            assert!(!may_get(&nodes, "two", resource, name).await, "{resource} {name}");
        }
        assert!(!may_get(&nodes, "one", "secrets", "map").await);

        assert!(!may_get(&nodes, "one", "persistentvolumes", "v").await);
        let volume = json!({"metadata": {"name": "v"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": NAMESPACE, "name": "claim"},
            "csi": {"driver": "d", "volumeHandle": "h",
                "nodeStageSecretRef": {"namespace": NAMESPACE, "name": "stage"},
                "controllerPublishSecretRef": {"namespace": NAMESPACE, "name": "attach"}},
        }});
        server.create::<PersistentVolume>("", volume).await.unwrap();
        assert!(may_get(&nodes, "one", "persistentvolumes", "v").await);
        assert!(may_get(&nodes, "one", "secrets", "stage").await);
        assert!(!may_get(&nodes, "one", "secrets", "attach").await);
        assert!(!may_get(&nodes, "two", "persistentvolumes", "v").await);
    }

    #[tokio::test]
    async fn a_mirror_pod_gives_a_node_nothing() {
        let server = TestServer::start().await;
        let nodes = node_authorizer(server.core.objects(), ClusterRole::default(), false);
        let spec = json!({
            "nodeName": "one", "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}],
        });
        let annotations = json!({"kubernetes.io/config.mirror": "x"});
        let pod = json!({"metadata": {"name": "p", "annotations": annotations}, "spec": spec});
        server.create::<Pod>(NAMESPACE, pod).await.unwrap();
        assert!(!may_get(&nodes, "one", "secrets", "s").await);
    }
}
