//! `NodeRestriction`: a node writes its own objects, and those of its pods.
//!
//! It keeps its node but not the taints, the owners and the labels that decide where pods go; its lease and
//! its list of drivers; the status of its pods. It makes mirror pods of what it runs by itself, evicts and
//! deletes its pods, and makes tokens that are bound to one of them. Other callers are not concerned.

use std::collections::BTreeMap;

use orch_api::{
    coordination::v1::Lease,
    core::v1::{Node, Pod, ServiceAccount},
    storage::v1::CSINode,
};
use orch_auth::{
    answer::Answer,
    node::{graph::Used, node_of},
};
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::ApiError,
};
use orch_runtime::{
    Tree,
    object::{ApiObject, Kind},
    resource_def::Verb,
    vocabulary::Vocabulary,
};
use serde_json::json;

use super::is;
use crate::sources::node_graph::uses_of_pod;

pub(crate) struct NodeRestriction;

/// Whether a write may be made, or why not.
type Verdict = Result<(), String>;

/// A write of a node.
struct Write<'a> {
    node: &'a str,
    operation: Verb,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
    object: Tree,
    old: Tree,
    body: &'a Tree,
    vocabulary: &'static Vocabulary,
}

impl AdmissionPlugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    fn validate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let Some(node) = node_of(request.user) else { return Answer::Ready(Ok(())) };
        let verdict = judge(node, request);
        let refusal = |why: String| ApiError::not_admitted(request.resource, request.name, &why);
        Answer::Ready(verdict.map_err(refusal))
    }
}

fn judge(node: &str, request: &AdmissionRequest<'_>) -> Verdict {
    let def = request.resource.def;
    let rule: fn(&Write<'_>, &AdmissionRequest<'_>) -> Verdict = if is::<Pod>(def) {
        pod
    } else if is::<Node>(def) {
        node_itself
    } else if is::<ServiceAccount>(def) {
        token
    } else if is::<Lease>(def) {
        lease
    } else if is::<CSINode>(def) {
        drivers
    } else {
        return Ok(());
    };
    if node.is_empty() {
        return Err(format!("could not determine node from user {:?}", request.user.name));
    }
    let tree =
        |object: Option<&dyn ApiObject>| object.and_then(|object| object.to_tree().ok()).unwrap_or_default();
    let write = Write {
        node,
        operation: request.operation,
        subresource: request.subresource.map_or("", |subresource| subresource.name),
        namespace: request.namespace,
        name: request.name,
        object: tree(request.object.as_deref()),
        old: tree(request.old),
        body: request.body.unwrap_or(&Tree::Null),
        vocabulary: request.resource.vocabulary,
    };
    rule(&write, request)
}

fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn stored<T: Kind>(request: &AdmissionRequest<'_>, namespace: &str, name: &str) -> Option<Tree> {
    let resource = request.objects.catalog().served(T::RESOURCE)?;
    request.objects.lookup(resource, namespace, name).ok()?.map(|current| current.tree)
}

fn text<'t>(tree: &'t Tree, pointer: &str) -> &'t str {
    tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default()
}

fn pod(write: &Write<'_>, request: &AdmissionRequest<'_>) -> Verdict {
    let Write { node, object, old, .. } = write;
    let is_on_node = |pod: &Tree| text(pod, "/spec/nodeName") == *node;
    match (write.subresource, write.operation) {
        ("", Verb::Create) => mirror_pod(write, request),
        ("", Verb::Delete) => check(is_on_node(old), || {
            format!("node {node:?} can only delete pods with spec.nodeName set to itself")
        }),
        ("status", Verb::Update) => {
            check(is_on_node(old), || {
                format!("node {node:?} can only update pod status for pods with spec.nodeName set to itself")
            })?;
            let labels = |pod: &Tree| pod.pointer("/metadata/labels").cloned().unwrap_or(json!({}));
            check(labels(object) == labels(old), || {
                format!("node {node:?} cannot update labels through pod status")
            })
        }
        ("eviction", Verb::Create) => {
            let found = stored::<Pod>(request, write.namespace, write.name);
            check(found.is_some_and(|pod| is_on_node(&pod)), || {
                format!("node {node} can only evict pods with spec.nodeName set to itself")
            })
        }
        ("", operation) => Err(format!(
            "unexpected operation {:?}, node {node:?} can only create and delete mirror pods",
            operation.as_str().to_uppercase()
        )),
        (subresource, _) => Err(format!("unexpected pod subresource {subresource:?}")),
    }
}

/// A pod by which a node shows what it runs by itself. It must not give the node anything.
fn mirror_pod(write: &Write<'_>, request: &AdmissionRequest<'_>) -> Verdict {
    let Write { node, object, vocabulary, .. } = write;
    let annotation = vocabulary.label("config.mirror");
    let is_mirror = object["metadata"]["annotations"].get(&annotation).is_some();
    check(is_mirror, || {
        format!("pod does not have {annotation:?} annotation, node {node:?} can only create mirror pods")
    })?;
    check(text(object, "/spec/nodeName") == *node, || {
        format!("node {node:?} can only create pods with spec.nodeName set to itself")
    })?;
    let none = Vec::new();
    let owners = object.pointer("/metadata/ownerReferences").and_then(Tree::as_array).unwrap_or(&none);
    let [owner] = owners.as_slice() else {
        return Err(format!(
            "node {node:?} can only create pods with a single owner reference set to itself"
        ));
    };
    let is_own = text(owner, "/apiVersion") == "v1" && text(owner, "/kind") == "Node";
    check(is_own && text(owner, "/name") == *node, || {
        format!("node {node:?} can only create pods with an owner reference set to itself")
    })?;
    check(owner["controller"] == true, || {
        format!("node {node:?} can only create pods with a controller owner reference set to itself")
    })?;
    check(owner["blockOwnerDeletion"] != true, || {
        format!("node {node:?} must not set blockOwnerDeletion on an owner reference")
    })?;
    let (uid, given) = (
        stored::<Node>(request, "", node).map(|found| text(&found, "/metadata/uid").to_owned()),
        text(owner, "/uid"),
    );
    check(uid.as_deref() == Some(given), || {
        format!("node {node} UID mismatch: expected {} got {given}", uid.unwrap_or_default())
    })?;
    let uses = uses_of_pod(write.name, &object["spec"]);
    for (kind, what) in [
        (Used::Account, "a service account"),
        (Used::Secret, "secrets"),
        (Used::ConfigMap, "configmaps"),
        (Used::Claim, "persistentvolumeclaims"),
    ] {
        let is_used = uses.iter().any(|(used, _)| *used == kind);
        check(!is_used, || format!("node {node:?} can not create pods that reference {what}"))?;
    }
    Ok(())
}

fn node_itself(write: &Write<'_>, _: &AdmissionRequest<'_>) -> Verdict {
    let Write { node, name, object, old, operation, vocabulary, .. } = write;
    if *operation == Verb::Create {
        let forbidden = forbidden_labels(object, &Tree::Null, vocabulary);
        check(forbidden.is_empty(), || {
            format!("is not allowed to set the following labels: {}", forbidden.join(", "))
        })?;
    }
    check(name == node, || format!("node {node:?} is not allowed to modify node {name:?}"))?;
    if *operation == Verb::Update {
        let is_same = |pointer: &str| object.pointer(pointer) == old.pointer(pointer);
        check(is_same("/spec/taints"), || format!("node {node:?} is not allowed to modify taints"))?;
        check(is_same("/metadata/ownerReferences"), || {
            format!("node {node:?} is not allowed to modify ownerReferences")
        })?;
        let forbidden = forbidden_labels(object, old, vocabulary);
        check(forbidden.is_empty(), || format!("is not allowed to modify labels: {}", forbidden.join(", ")))?;
    }
    Ok(())
}

/// Labels in these groups are a node's own, with all below them.
const OWN_GROUPS: &[&str] = &["kubelet", "node"];
/// The group of labels that are never a node's own.
const RESTRICTED: &str = "node-restriction";
/// Labels outside these groups that a node sets: what it is and where.
const OWN_LABELS: &[&str] = &[
    "hostname",
    "os",
    "arch",
    "beta/os",
    "beta/arch",
    "beta/instance-type",
    "topology/zone",
    "topology/region",
    "failure-domain.beta/zone",
    "failure-domain.beta/region",
];

/// The labels that differ and that a node does not set: those of the restricted group, and those of the
/// product that are not known to be a node's own.
fn forbidden_labels(object: &Tree, old: &Tree, vocabulary: &Vocabulary) -> Vec<String> {
    let labels = |tree: &Tree| -> BTreeMap<String, Tree> {
        let labels = tree.pointer("/metadata/labels").and_then(Tree::as_object);
        labels.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let (new, old) = (labels(object), labels(old));
    let keys = new.keys().chain(old.keys()).filter(|key| new.get(*key) != old.get(*key));
    let mut forbidden: Vec<String> = keys.filter(|key| !may_set(key, vocabulary)).cloned().collect();
    forbidden.sort();
    forbidden.dedup();
    forbidden
}

fn may_set(key: &str, vocabulary: &Vocabulary) -> bool {
    let (group, name) = key.split_once('/').unwrap_or(("", key));
    // What stands before a domain of the product: `node` in `node.<domain>`, nothing in `<domain>`.
    let stem = [vocabulary.label_domain, vocabulary.group_suffix].into_iter().find_map(|domain| {
        let stem = group.strip_suffix(domain)?;
        if stem.is_empty() { Some("") } else { stem.strip_suffix('.') }
    });
    let Some(stem) = stem else { return true };
    let is_in = |group: &str| stem == group || stem.ends_with(&format!(".{group}"));
    if is_in(RESTRICTED) {
        return false;
    }
    let short = if stem.is_empty() { name.to_owned() } else { format!("{stem}/{name}") };
    OWN_GROUPS.iter().any(|group| is_in(group)) || OWN_LABELS.contains(&short.as_str())
}

fn token(write: &Write<'_>, request: &AdmissionRequest<'_>) -> Verdict {
    if write.subresource != "token" || write.operation != Verb::Create {
        return Ok(());
    }
    let reference = write.body.pointer("/spec/boundObjectRef").unwrap_or(&Tree::Null);
    let (name, uid) = (text(reference, "/name"), text(reference, "/uid"));
    let is_pod = text(reference, "/apiVersion") == "v1" && text(reference, "/kind") == "Pod";
    check(is_pod && !name.is_empty(), || "node requested token not bound to a pod".to_owned())?;
    check(!uid.is_empty(), || "node requested token with a pod binding without a uid".to_owned())?;
    let Some(pod) = stored::<Pod>(request, write.namespace, name) else {
        return Err(format!("pod {name:?} not found"));
    };
    check(text(&pod, "/metadata/uid") == uid, || {
        format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object \
                 might have been deleted and then recreated"
        )
    })?;
    check(text(&pod, "/spec/nodeName") == write.node, || {
        "node requested token bound to a pod scheduled on a different node".to_owned()
    })
}

fn lease(write: &Write<'_>, _: &AdmissionRequest<'_>) -> Verdict {
    let namespace = write.vocabulary.namespace_node_lease;
    check(write.namespace == namespace, || {
        format!("can only access leases in the {namespace:?} system namespace")
    })?;
    check(write.name == write.node, || {
        "can only access node lease with the same name as the requesting node".to_owned()
    })
}

fn drivers(write: &Write<'_>, _: &AdmissionRequest<'_>) -> Verdict {
    check(write.name == write.node, || {
        "can only access CSINode with the same name as the requesting node".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use orch_auth::{node::GROUP_NODES, user::UserInfo};
    use orch_registry::{
        context::{Caller, RequestContext},
        options::{DeletionOptions, WriteOptions},
        request::{DeleteRequest, Target},
        verb,
        write::{
            propose::{Proposal, Sent},
            write,
        },
    };

    use super::*;
    use crate::testing::{Everything, NAMESPACE, TestServer};

    /// A change of a pod, and a part of the refusal.
    type Case<'a> = (&'a dyn Fn(&mut Tree), &'a str);

    struct Site {
        server: TestServer,
        user: UserInfo,
    }

    impl Site {
        async fn start() -> Self {
            let server = TestServer::start().await;
            let user = UserInfo::new("system:node:one", [GROUP_NODES]);
            server.create::<Node>("", json!({"metadata": {"name": "one"}})).await.unwrap();
            Site { server, user }
        }

        fn context(&self) -> RequestContext<'_> {
            let caller = Caller { user: &self.user, access: &Everything };
            RequestContext::new(&self.server.core, caller, "test")
        }

        /// The message of the refusal; empty where the write is made.
        async fn write(&self, target: Target<'_>, mut proposal: Proposal) -> String {
            let options = WriteOptions::internal("test");
            message(write(&self.context(), &target, &mut proposal, &options).await.map(drop))
        }

        async fn create<T: Kind>(&self, namespace: &str, object: Tree) -> String {
            let target = Target::collection(self.server.resource::<T>(), namespace);
            self.write(target, Proposal::New(Sent::tree(object))).await
        }

        async fn update<T: Kind>(
            &self,
            subresource: &str,
            (namespace, name): (&str, &str),
            change: impl FnOnce(&mut Tree),
        ) -> String {
            let resource = self.server.resource::<T>();
            let mut tree = self.server.client.get(resource, namespace, name).unwrap().tree;
            change(&mut tree);
            let mut target = Target::item(resource, namespace.to_owned(), name.to_owned());
            target.subresource = resource.def.subresource(subresource);
            self.write(target, Proposal::Replacement(Sent::tree(tree))).await
        }

        async fn delete<T: Kind>(&self, namespace: &str, name: &str) -> String {
            let resource = self.server.resource::<T>();
            let target = Target::item(resource, namespace.to_owned(), name.to_owned());
            let request = DeleteRequest { target, options: DeletionOptions::default() };
            message(verb::delete::delete(&self.context(), &request).await.map(drop))
        }
    }

    fn message(result: Result<(), ApiError>) -> String {
        match result {
            Ok(()) => String::new(),
            Err(ApiError::Forbidden(forbidden)) => {
                forbidden.message.split_once(" is forbidden: ").unwrap().1.to_owned()
            }
            Err(error) => format!("{error:?}"),
        }
    }

    fn pod(name: &str, node: &str) -> Tree {
        let containers = json!([{"name": "c", "image": "i"}]);
        json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}})
    }

    #[tokio::test]
    async fn a_node_makes_mirror_pods_of_its_own() {
        let site = Site::start().await;
        let node = site.server.client.get(site.server.resource::<Node>(), "", "one").unwrap().tree;
        let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "one", "controller": true,
            "uid": node["metadata"]["uid"]});
        let mirror = |change: &dyn Fn(&mut Tree)| {
            let mut pod = pod("m", "one");
            pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
            pod["metadata"]["ownerReferences"] = json!([owner]);
            change(&mut pod);
            pod
        };
        let volume = |source: Tree| json!([{"name": "v", "secret": source}]);
        let cases: [Case<'_>; 8] = [
            (&|pod| pod["metadata"]["annotations"] = json!({}), "node \"one\" can only create mirror pods"),
            (&|pod| pod["spec"]["nodeName"] = "two".into(), "pods with spec.nodeName set to itself"),
            (&|pod| pod["metadata"]["ownerReferences"] = json!([]), "a single owner reference set to itself"),
            (
                &|pod| pod["metadata"]["ownerReferences"][0]["name"] = "two".into(),
                "an owner reference set to itself",
            ),
            (
                &|pod| pod["metadata"]["ownerReferences"][0]["controller"] = false.into(),
                "a controller owner reference",
            ),
            (&|pod| pod["metadata"]["ownerReferences"][0]["uid"] = "x".into(), "UID mismatch"),
            (
                &|pod| pod["spec"]["volumes"] = volume(json!({"secretName": "s"})),
                "pods that reference secrets",
            ),
            (&|_| (), ""),
        ];
        for (change, expected) in cases {
            let said = site.create::<Pod>(NAMESPACE, mirror(change)).await;
            assert!(if expected.is_empty() { said.is_empty() } else { said.contains(expected) }, "{said}");
        }
    }

    #[tokio::test]
    async fn a_node_keeps_the_status_of_its_pods_alone() {
        let site = Site::start().await;
        for (name, node) in [("own", "one"), ("other", "two")] {
            site.server.create::<Pod>(NAMESPACE, pod(name, node)).await.unwrap();
        }
        let phase = |pod: &mut Tree| pod["status"]["phase"] = "Running".into();
        assert_eq!(site.update::<Pod>("status", (NAMESPACE, "own"), phase).await, "");
        assert_eq!(
            site.update::<Pod>("status", (NAMESPACE, "other"), phase).await,
            "node \"one\" can only update pod status for pods with spec.nodeName set to itself"
        );
        let label = |pod: &mut Tree| pod["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(
            site.update::<Pod>("", (NAMESPACE, "own"), label).await,
            "unexpected operation \"UPDATE\", node \"one\" can only create and delete mirror pods"
        );
        assert_eq!(site.delete::<Pod>(NAMESPACE, "own").await, "");
        assert_eq!(
            site.delete::<Pod>(NAMESPACE, "other").await,
            "node \"one\" can only delete pods with spec.nodeName set to itself"
        );
    }

    #[tokio::test]
    async fn a_node_keeps_itself_but_not_what_places_pods() {
        let site = Site::start().await;
        let own = ("", "one");
        let set = |key: &'static str| move |node: &mut Tree| node["metadata"]["labels"][key] = "x".into();
        for (key, allowed) in [
            ("team", true),
            ("kubernetes.io/hostname", true),
            ("node.kubernetes.io/instance-type", true),
            ("topology.kubernetes.io/zone", true),
            ("node-restriction.kubernetes.io/secure", false),
            ("kubernetes.io/role", false),
            ("x.k8s.io/y", false),
        ] {
            let said = site.update::<Node>("", own, set(key)).await;
            let refused = format!("is not allowed to modify labels: {key}");
            assert_eq!(said, if allowed { "" } else { &refused });
        }
        let taint = |node: &mut Tree| node["spec"]["taints"] = json!([{"key": "a", "effect": "NoSchedule"}]);
        assert_eq!(site.update::<Node>("", own, taint).await, "node \"one\" is not allowed to modify taints");
        let other = json!({"metadata": {"name": "two"}});
        assert_eq!(
            site.create::<Node>("", other).await,
            "node \"one\" is not allowed to modify node \"two\""
        );
    }

    #[tokio::test]
    async fn a_node_keeps_its_own_lease_and_drivers() {
        let site = Site::start().await;
        let named = |name: &str| json!({"metadata": {"name": name}, "spec": {}});
        let elsewhere = site.create::<Lease>(NAMESPACE, named("one")).await;
        assert_eq!(elsewhere, "can only access leases in the \"kube-node-lease\" system namespace");
        let drivers = json!({"metadata": {"name": "two"}, "spec": {"drivers": []}});
        assert_eq!(
            site.create::<CSINode>("", drivers).await,
            "can only access CSINode with the same name as the requesting node"
        );
        let own = json!({"metadata": {"name": "one"}, "spec": {"drivers": []}});
        assert_eq!(site.create::<CSINode>("", own).await, "");
    }
}
