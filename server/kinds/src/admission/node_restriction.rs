//! `NodeRestriction`: a node writes its own objects, and those of its pods.
//!
//! It keeps its node but not the taints, the owners and the labels that decide where pods go; its lease and
//! its list of drivers; the status of its pods, and of claims what it knows about their size. It makes mirror
//! pods of what it runs by itself, evicts and deletes its pods, and makes tokens that are bound to one of
//! them. Other callers are not concerned.

use std::collections::BTreeMap;

use orch_api::{
    coordination::v1::Lease,
    core::v1::{Node, PersistentVolumeClaim, Pod, ServiceAccount},
    storage::v1::CSINode,
};
use orch_auth::{
    answer::Answer,
    node::{graph::Used, node_of},
};
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::{ApiError, ResourceName},
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
type Verdict = Result<(), Refusal>;

enum Refusal {
    Forbidden(String),
    /// An object that the write is about is not there.
    Missing(ApiError),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Refusal::Forbidden(why)
    }
}

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
        let refusal = |refusal| match refusal {
            Refusal::Forbidden(why) => ApiError::not_admitted(request.resource, request.name, &why),
            Refusal::Missing(error) => error,
        };
        Answer::Ready(verdict.map_err(refusal))
    }
}

fn judge(node: &str, request: &AdmissionRequest<'_>) -> Verdict {
    let def = request.resource.def;
    let rule: fn(&Write<'_>, &AdmissionRequest<'_>) -> Verdict = if is::<Pod>(def) {
        pod
    } else if is::<Node>(def) {
        node_itself
    } else if is::<PersistentVolumeClaim>(def) {
        claim
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
        return Err(format!("could not determine node from user {:?}", request.user.name).into());
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
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

/// A stored object of a kind that is served.
fn stored<T: Kind>(request: &AdmissionRequest<'_>, namespace: &str, name: &str) -> Result<Tree, Refusal> {
    let resource = request.objects.catalog().served(T::RESOURCE);
    let resource = resource.ok_or(Refusal::Missing(ApiError::UnknownResource))?;
    let found = request.objects.lookup(resource, namespace, name).map_err(Refusal::Missing)?;
    // In the singular, as the reference's caches tell it.
    let missing = || ApiError::NotFound {
        resource: ResourceName { group: resource.group.clone(), resource: resource.def.singular.to_owned() },
        name: name.to_owned(),
    };
    found.map(|current| current.tree).ok_or_else(|| Refusal::Missing(missing()))
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
            let found = stored::<Pod>(request, write.namespace, write.name)?;
            check(is_on_node(&found), || {
                format!("node {node} can only evict pods with spec.nodeName set to itself")
            })
        }
        ("", operation) => Err(format!(
            "unexpected operation {:?}, node {node:?} can only create and delete mirror pods",
            operation.as_str().to_uppercase()
        )
        .into()),
        (subresource, _) => Err(format!("unexpected pod subresource {subresource:?}").into()),
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
        )
        .into());
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
    let found = stored::<Node>(request, "", node)?;
    let (uid, given) = (text(&found, "/metadata/uid"), text(owner, "/uid"));
    check(uid == given, || format!("node {node} UID mismatch: expected {uid} got {given}"))?;
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

/// What a node tells about a claim whose volume it has made larger.
const SIZE_OF_CLAIM: &[&str] = &["capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"];

fn claim(write: &Write<'_>, _: &AdmissionRequest<'_>) -> Verdict {
    let Write { node, object, old, operation, .. } = write;
    check(write.subresource == "status", || "may only update PVC status".to_owned())?;
    let is_update = *operation == Verb::Update;
    check(is_update, || format!("unexpected operation {:?}", operation.as_str().to_uppercase()))?;
    check(without_size(object) == without_size(old), || {
        format!(
            "node {node:?} is not allowed to update fields other than status.quantity and status.conditions"
        )
    })
}

/// A claim without what a node may change in it, and without what every write changes.
fn without_size(claim: &Tree) -> Tree {
    let mut claim = claim.clone();
    for (part, fields) in [("metadata", &["managedFields", "resourceVersion"][..]), ("status", SIZE_OF_CLAIM)]
    {
        if let Some(part) = claim.get_mut(part).and_then(Tree::as_object_mut) {
            part.retain(|field, _| !fields.contains(&&**field));
        }
    }
    claim
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
    let pod = stored::<Pod>(request, write.namespace, name)?;
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
mod tests;
