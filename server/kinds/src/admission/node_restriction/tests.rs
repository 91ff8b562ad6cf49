//! What nodes may write, in a server in memory.

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

    /// An operation on a sub-resource.
    async fn operate<T: Kind>(&self, name: &str, subresource: &str, body: Tree) -> String {
        let resource = self.server.resource::<T>();
        let mut conditions = Vec::new();
        let mut request = AdmissionRequest {
            operation: Verb::Create,
            resource,
            subresource: resource.def.subresource(subresource),
            namespace: NAMESPACE,
            name,
            name_in_path: name,
            user: &self.user,
            dry_run: false,
            object: None,
            old: None,
            body: Some(&body),
            objects: self.server.core.objects(),
            conditions: &mut conditions,
        };
        message(NodeRestriction.validate(&mut request).resolve().await)
    }

    async fn delete<T: Kind>(&self, namespace: &str, name: &str) -> String {
        let resource = self.server.resource::<T>();
        let target = Target::item(resource, namespace.to_owned(), name.to_owned());
        let request = DeleteRequest { target, options: DeletionOptions::default() };
        message(verb::delete::delete(&self.context(), &request).await.map(drop))
    }
}

/// What is said of a pod that is not there.
const GONE: &str = "404 pod gone";

fn message(result: Result<(), ApiError>) -> String {
    match result {
        Ok(()) => String::new(),
        Err(ApiError::NotFound { resource, name }) => format!("404 {} {name}", resource.qualified()),
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
        (&|pod| pod["spec"]["volumes"] = volume(json!({"secretName": "s"})), "pods that reference secrets"),
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
    assert_eq!(site.create::<Node>("", other).await, "node \"one\" is not allowed to modify node \"two\"");
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

/// A subresource, a change, and the message that refuses it.
type ClaimCase<'a> = (&'static str, &'a dyn Fn(&mut Tree), &'static str);

#[tokio::test]
async fn a_node_tells_the_size_of_claims_alone() {
    let site = Site::start().await;
    let claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}});
    site.server.create::<PersistentVolumeClaim>(NAMESPACE, claim).await.unwrap();
    let refused =
        "node \"one\" is not allowed to update fields other than status.quantity and status.conditions";
    let capacity = json!({"storage": "2Gi"});
    let condition = json!({"type": "FileSystemResizePending", "status": "True"});
    let cases: [ClaimCase<'_>; 8] = [
        ("status", &|claim| claim["status"]["capacity"] = capacity.clone(), ""),
        ("status", &|claim| claim["status"]["conditions"] = json!([condition]), ""),
        ("status", &|claim| claim["status"]["allocatedResources"] = capacity.clone(), ""),
        (
            "status",
            &|claim| claim["status"]["allocatedResourceStatuses"] = json!({"storage": "NodeResizePending"}),
            "",
        ),
        ("status", &|claim| claim["status"]["phase"] = "Lost".into(), refused),
        ("status", &|claim| claim["metadata"]["labels"] = json!({"a": "b"}), refused),
        ("status", &|claim| claim["metadata"]["finalizers"] = json!(["a.example/b"]), refused),
        ("", &|claim| claim["metadata"]["labels"] = json!({"a": "b"}), "may only update PVC status"),
    ];
    for (position, (subresource, change, expected)) in cases.into_iter().enumerate() {
        let said = site.update::<PersistentVolumeClaim>(subresource, (NAMESPACE, "c"), change).await;
        assert_eq!(said, expected, "case {position}");
    }
}

#[tokio::test]
async fn a_node_makes_tokens_that_are_bound_to_its_pods() {
    let site = Site::start().await;
    for (name, node) in [("own", "one"), ("other", "two")] {
        site.server.create::<Pod>(NAMESPACE, pod(name, node)).await.unwrap();
    }
    site.server.create::<ServiceAccount>(NAMESPACE, json!({"metadata": {"name": "a"}})).await.unwrap();
    let uid = |name: &str| {
        let pod = site.server.client.get(site.server.resource::<Pod>(), NAMESPACE, name).unwrap().tree;
        pod["metadata"]["uid"].clone()
    };
    let unbound = "node requested token not bound to a pod";
    for (reference, expected) in [
        (Tree::Null, unbound),
        (json!({"kind": "Node", "apiVersion": "v1", "name": "one", "uid": "x"}), unbound),
        (json!({"kind": "Pod", "apiVersion": "v1", "uid": uid("own")}), unbound),
        (
            json!({"kind": "Pod", "apiVersion": "v1", "name": "own"}),
            "node requested token with a pod binding without a uid",
        ),
        (json!({"kind": "Pod", "apiVersion": "v1", "name": "gone", "uid": "x"}), GONE),
        (
            json!({"kind": "Pod", "apiVersion": "v1", "name": "own", "uid": "x"}),
            "the UID in the bound object reference (x) does not match the UID in record. The object might \
             have been deleted and then recreated",
        ),
        (
            json!({"kind": "Pod", "apiVersion": "v1", "name": "other", "uid": uid("other")}),
            "node requested token bound to a pod scheduled on a different node",
        ),
        (json!({"kind": "Pod", "apiVersion": "v1", "name": "own", "uid": uid("own")}), ""),
    ] {
        let body = json!({"spec": {"boundObjectRef": reference}});
        assert_eq!(site.operate::<ServiceAccount>("a", "token", body).await, expected, "{reference}");
    }
}

#[tokio::test]
async fn a_node_evicts_its_pods_alone() {
    let site = Site::start().await;
    for (name, node) in [("own", "one"), ("other", "two")] {
        site.server.create::<Pod>(NAMESPACE, pod(name, node)).await.unwrap();
    }
    let refused = "node one can only evict pods with spec.nodeName set to itself";
    for (name, expected) in [("own", ""), ("other", refused), ("gone", GONE)] {
        assert_eq!(site.operate::<Pod>(name, "eviction", json!({})).await, expected, "{name}");
    }
}
