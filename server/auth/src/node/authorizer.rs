//! Decides about requests of nodes.
//!
//! A node reads secrets, config maps, claims, volumes and attachments one by one, and only those that its
//! pods need. It makes tokens for the service accounts of its pods, and keeps its own lease and its own list
//! of drivers. Where authorizers see selectors, it reads no node but itself, and no pods but those that are
//! bound to it. For everything else it has the rules of the cluster role `system:node` as every server starts
//! with it, whatever is stored. The graph behind this is kept up to date only while nodes ask.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    graph::{Change, Graph, ObjectName, Used},
    node_of,
};
use crate::{
    answer::Answer,
    authorizer::{
        Attributes, Authorizer, Decision, ResourceTarget, Target,
        rules::Rules,
        selector::{Operator, Requirement},
    },
    rbac::{
        policy::PolicyRule,
        rule::{Question, Rule},
    },
    user::UserInfo,
};

/// The field of a pod that names its node.
const NODE_OF_POD: &str = "spec.nodeName";

/// The resources for which the graph is looked at.
const OF_GRAPH: &[&str] = &[
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "persistentvolumes",
    "serviceaccounts",
    "pods",
    "volumeattachments",
];

/// Where pods, volumes and attachments come from.
pub trait GraphSource: Send + Sync {
    /// Whether something may have happened that [`news`](GraphSource::news) has not returned.
    fn has_news(&self) -> bool;

    /// Whether it takes long to read what happened.
    fn is_far_behind(&self) -> bool {
        false
    }

    /// What happened since the last call; at the first call all that there is.
    fn news(&self) -> GraphNews;
}

/// What happened to pods, volumes and attachments.
#[derive(Debug)]
pub enum GraphNews {
    /// All that there is; everything else is gone.
    Everything(Vec<Change>),
    /// What happened, in order.
    Changes(Vec<Change>),
}

/// Names that the operator's choice of words decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeNames {
    /// The namespace of the leases of nodes.
    pub lease_namespace: String,
    /// The API group of leases.
    pub lease_group: String,
    /// The API group of drivers and attachments.
    pub storage_group: String,
}

/// See the module.
pub struct NodeAuthorizer {
    followed: Arc<Followed>,
    /// Taken by who brings the graph up to date where that takes long. The first time that reads all pods.
    turn: Arc<Semaphore>,
    rules: Vec<Rule>,
    names: NodeNames,
    sees_selectors: bool,
}

/// The graph and where it comes from.
struct Followed {
    source: Box<dyn GraphSource>,
    graph: RwLock<Graph>,
}

/// Whether a request is allowed, or why not.
type Verdict = Result<(), String>;

impl NodeAuthorizer {
    /// `rules` are those of the cluster role `system:node`.
    pub fn new(source: Box<dyn GraphSource>, rules: Vec<PolicyRule>, names: NodeNames) -> Self {
        let rules = rules.into_iter().map(Rule::new).collect();
        let followed = Arc::new(Followed { source, graph: RwLock::default() });
        NodeAuthorizer { followed, turn: Arc::new(Semaphore::new(1)), rules, names, sees_selectors: false }
    }

    /// The same; where it sees the selectors of requests, nodes and pods are read as the module says.
    #[must_use]
    pub fn seeing_selectors(self, sees_selectors: bool) -> Self {
        NodeAuthorizer { sees_selectors, ..self }
    }

    fn verdict(&self, node: &str, attributes: &Attributes<'_>) -> Verdict {
        if node.is_empty() {
            return Err(format!("unknown node for user {:?}", attributes.user.name));
        }
        let verb = attributes.verb;
        if let Target::Resource(target) = &attributes.target {
            let NodeNames { lease_group, storage_group, .. } = &self.names;
            match (target.group, target.resource) {
                ("", "secrets") => return self.read(node, verb, Used::Secret, target),
                ("", "configmaps") => return self.read(node, verb, Used::ConfigMap, target),
                ("", "persistentvolumeclaims") if target.subresource == "status" => {
                    return self.write_claim_status(node, verb, target);
                }
                ("", "persistentvolumeclaims") => {
                    one_by_one(verb, target)?;
                    return self.uses(node, Used::Claim, target);
                }
                ("", "persistentvolumes") => {
                    one_by_one(verb, target)?;
                    return related(node, target, self.graph().uses_volume(node, target.name));
                }
                ("", "serviceaccounts") => return self.make_token(node, verb, target),
                ("", "nodes") if self.reads_objects(verb, target) => return own_node(node, verb, target),
                ("", "pods") if self.reads_objects(verb, target) => return self.own_pods(node, verb, target),
                (group, "volumeattachments") if group == storage_group => {
                    one_by_one(verb, target)?;
                    return related(node, target, self.graph().is_attached(node, target.name));
                }
                (group, "csinodes") if group == storage_group => return own_drivers(node, verb, target),
                (group, "leases") if group == lease_group => return self.own_lease(node, verb, target),
                _ => {}
            }
        }
        let question = Question::new(attributes);
        if self.rules.iter().any(|rule| rule.allows(&question)) { Ok(()) } else { Err(String::new()) }
    }

    fn read(&self, node: &str, verb: &str, kind: Used, target: &ResourceTarget<'_>) -> Verdict {
        let verb_is_right = matches!(verb, "get" | "list" | "watch");
        check(verb_is_right, "can only read resources of this type")?;
        check(target.subresource.is_empty(), "cannot read subresource")?;
        check(!target.namespace.is_empty(), "can only read namespaced object of this type")?;
        self.uses(node, kind, target)
    }

    fn write_claim_status(&self, node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
        let verb_is_right = matches!(verb, "get" | "update" | "patch");
        check(verb_is_right, "can only get/update/patch this type")?;
        self.uses(node, Used::Claim, target)
    }

    fn make_token(&self, node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
        let is_individual = verb == "create" && !target.name.is_empty();
        check(is_individual, "can only create tokens for individual service accounts")?;
        let is_token = target.subresource == "token";
        check(is_token, "can only create token subresource of service account")?;
        self.uses(node, Used::Account, target)
    }

    fn own_lease(&self, node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
        let verb_is_right = matches!(verb, "get" | "create" | "update" | "patch" | "delete");
        check(verb_is_right, "can only get, create, update, patch, or delete a node lease")?;
        let namespace = &self.names.lease_namespace;
        if target.namespace != namespace {
            return Err(format!("can only access leases in the {namespace:?} system namespace"));
        }
        let is_own = verb == "create" || target.name == node;
        check(is_own, "can only access node lease with the same name as the requesting node")
    }

    /// Whether it is a read of objects, of which the selectors are known.
    fn reads_objects(&self, verb: &str, target: &ResourceTarget<'_>) -> bool {
        self.sees_selectors && target.subresource.is_empty() && matches!(verb, "get" | "list" | "watch")
    }

    fn own_pods(&self, node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
        if verb != "get" {
            let is_node = |it: &Requirement| {
                it.key == NODE_OF_POD && it.operator == Operator::In && it.values == [node]
            };
            if target.fields.iter().any(is_node) {
                return Ok(());
            }
            let is_named = !target.name.is_empty();
            check(is_named, "can only list/watch pods with spec.nodeName field selector")?;
        }
        let pod = ObjectName::new(target.namespace, target.name);
        related(node, target, self.graph().is_bound(node, &pod))
    }

    fn uses(&self, node: &str, kind: Used, target: &ResourceTarget<'_>) -> Verdict {
        let object = ObjectName::new(target.namespace, target.name);
        related(node, target, self.graph().uses(node, kind, &object))
    }

    fn graph(&self) -> RwLockReadGuard<'_, Graph> {
        self.followed.graph()
    }

    /// Whether the graph is looked at, and it takes long to bring it up to date.
    fn waits_for_graph(&self, attributes: &Attributes<'_>) -> bool {
        let Target::Resource(target) = attributes.target else { return false };
        let is_late = || self.turn.available_permits() == 0 || self.followed.source.is_far_behind();
        OF_GRAPH.contains(&target.resource) && is_late()
    }

    /// Brings the graph up to date on a thread of its own: requests of nodes wait for it, all others go on.
    async fn catch_up(&self) {
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else { return };
        if !self.followed.source.is_far_behind() {
            return;
        }
        let followed = Arc::clone(&self.followed);
        let catch_up = move || {
            // Also where the request that waits for it has ended.
            let _turn = turn;
            drop(followed.graph());
        };
        if let Err(error) = spawn_blocking(catch_up).await {
            tracing::error!(%error, "what the pods of nodes use cannot be read; trying again");
        }
    }

    fn decide(&self, node: &str, attributes: &Attributes<'_>) -> Decision {
        match self.verdict(node, attributes) {
            Ok(()) => Decision::Allow { reason: "".into() },
            Err(reason) => Decision::NoOpinion { reason: reason.into() },
        }
    }
}

impl Followed {
    /// The graph with all changes so far. They are applied under its lock: a decision that finds none left
    /// waits for that lock.
    fn graph(&self) -> RwLockReadGuard<'_, Graph> {
        if self.source.has_news() {
            let mut graph = self.graph.write().unwrap_or_else(PoisonError::into_inner);
            if self.source.has_news() {
                let changes = match self.source.news() {
                    GraphNews::Changes(changes) => changes,
                    GraphNews::Everything(all) => {
                        *graph = Graph::default();
                        all
                    }
                };
                for change in changes {
                    graph.apply(change);
                }
            }
        }
        self.graph.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Authorizer for NodeAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        let Some(node) = node_of(attributes.user) else {
            return Answer::Ready(Decision::NoOpinion { reason: "".into() });
        };
        if !self.waits_for_graph(attributes) {
            return Answer::Ready(self.decide(node, attributes));
        }
        Answer::Later(Box::pin(async move {
            self.catch_up().await;
            self.decide(node, attributes)
        }))
    }

    /// Other users have no rules here. What a node may do changes with its pods and is not listed.
    fn rules<'a>(&'a self, user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        let problem = "node authorizer does not support user rule resolution".to_owned();
        let problems = if node_of(user).is_some() { vec![problem] } else { Vec::new() };
        Answer::Ready(Rules { problems, ..Rules::default() })
    }
}

fn check(holds: bool, otherwise: &str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn one_by_one(verb: &str, target: &ResourceTarget<'_>) -> Verdict {
    check(verb == "get", "can only get individual resources of this type")?;
    check(target.subresource.is_empty(), "cannot get subresource")
}

fn related(node: &str, target: &ResourceTarget<'_>, is_related: bool) -> Verdict {
    check(!target.name.is_empty(), "No Object name found")?;
    let unrelated = || format!("no relationship found between node '{node}' and this object");
    if is_related { Ok(()) } else { Err(unrelated()) }
}

fn own_node(node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
    let name = target.name;
    match verb {
        _ if name == node => Ok(()),
        "get" => Err(format!("node '{node}' cannot read '{name}', only its own Node object")),
        _ => Err(format!("node '{node}' cannot read all nodes, only its own Node object")),
    }
}

fn own_drivers(node: &str, verb: &str, target: &ResourceTarget<'_>) -> Verdict {
    let verb_is_right = matches!(verb, "get" | "create" | "update" | "patch" | "delete");
    check(verb_is_right, "can only get, create, update, patch, or delete a CSINode")?;
    check(target.subresource.is_empty(), "cannot authorize CSINode subresources")?;
    let is_own = verb == "create" || target.name == node;
    check(is_own, "can only access CSINode with the same name as the requesting node")
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        sync::{Mutex, mpsc},
        time::Duration,
    };

    use super::*;
    use crate::{
        node::{GROUP_NODES, graph::Pod},
        user::GROUP_AUTHENTICATED,
    };

    struct Told(Mutex<Vec<GraphNews>>);

    impl GraphSource for Told {
        fn has_news(&self) -> bool {
            !self.0.lock().unwrap().is_empty()
        }

        fn news(&self) -> GraphNews {
            self.0.lock().unwrap().remove(0)
        }
    }

    fn authorizer() -> NodeAuthorizer {
        authorizer_of(|told| Box::new(told))
    }

    fn authorizer_of(source: impl FnOnce(Told) -> Box<dyn GraphSource>) -> NodeAuthorizer {
        let uses = [(Used::Secret, "s"), (Used::Claim, "c"), (Used::Account, "a"), (Used::ConfigMap, "m")];
        let uses: BTreeSet<_> = uses.map(|(kind, name)| (kind, name.to_owned())).into();
        let pod = Pod { node: "one".to_owned(), uses };
        let all = vec![
            Change::Pod(ObjectName::new("n", "p"), Some(pod)),
            Change::Pod(ObjectName::new("n", "bare"), Some(Pod { node: "one".to_owned(), ..Pod::default() })),
            Change::Pod(ObjectName::new("n", "far"), Some(Pod { node: "two".to_owned(), ..Pod::default() })),
            Change::Attachment("at".to_owned(), Some("one".to_owned())),
        ];
        let list = |text: &str| vec![text.to_owned()];
        let rule = PolicyRule {
            verbs: ["get", "list", "watch", "create"].map(str::to_owned).into(),
            groups: list(""),
            resources: ["pods", "nodes"].map(str::to_owned).into(),
            ..PolicyRule::default()
        };
        let names = NodeNames {
            lease_namespace: "leases".to_owned(),
            lease_group: "coordination".to_owned(),
            storage_group: "storage".to_owned(),
        };
        let told = Told(Mutex::new(vec![GraphNews::Everything(all)]));
        NodeAuthorizer::new(source(told), vec![rule], names)
    }

    /// The verb; group, resource and sub-resource; namespace and name.
    async fn ask(user: &UserInfo, verb: &str, resource: [&str; 3], [namespace, name]: [&str; 2]) -> String {
        let [group, resource, subresource] = resource;
        let target = ResourceTarget {
            group,
            version: "v1",
            resource,
            subresource,
            namespace,
            name,
            ..ResourceTarget::default()
        };
        let attributes = Attributes { user, verb, target: Target::Resource(target) };
        let decision = authorizer().authorize(&attributes).resolve().await;
        if decision.is_allowed() { "allowed".to_owned() } else { decision.reason().to_owned() }
    }

    #[tokio::test]
    async fn a_node_gets_what_its_pods_use() {
        let node = UserInfo::new("system:node:one", [GROUP_NODES, GROUP_AUTHENTICATED]);
        let unrelated = "no relationship found between node 'one' and this object";
        let (secrets, claims) = (["", "secrets", ""], ["", "persistentvolumeclaims", ""]);
        let (status, tokens) = (["", "persistentvolumeclaims", "status"], ["", "serviceaccounts", "token"]);
        let (leases, drivers) = (["coordination", "leases", ""], ["storage", "csinodes", ""]);
        for (verb, resource, object, expected) in [
            ("get", secrets, ["n", "s"], "allowed"),
            ("watch", secrets, ["n", "s"], "allowed"),
            ("get", secrets, ["n", "t"], unrelated),
            ("list", secrets, ["n", ""], "No Object name found"),
            ("list", secrets, ["", "s"], "can only read namespaced object of this type"),
            ("create", secrets, ["n", "s"], "can only read resources of this type"),
            ("get", ["", "configmaps", ""], ["n", "m"], "allowed"),
            ("get", claims, ["n", "c"], "allowed"),
            ("list", claims, ["n", "c"], "can only get individual resources of this type"),
            ("patch", status, ["n", "c"], "allowed"),
            ("delete", status, ["n", "c"], "can only get/update/patch this type"),
            ("get", ["", "persistentvolumes", ""], ["", "v"], unrelated),
            ("get", ["", "persistentvolumes", "status"], ["", "v"], "cannot get subresource"),
            ("get", ["storage", "volumeattachments", ""], ["", "at"], "allowed"),
            ("get", ["storage", "volumeattachments", ""], ["", "other"], unrelated),
            ("create", tokens, ["n", "a"], "allowed"),
            ("create", tokens, ["n", "b"], unrelated),
            ("create", tokens, ["n", ""], "can only create tokens for individual service accounts"),
            ("get", leases, ["leases", "one"], "allowed"),
            ("create", leases, ["leases", ""], "allowed"),
            ("get", leases, ["n", "one"], "can only access leases in the \"leases\" system namespace"),
            (
                "update",
                leases,
                ["leases", "two"],
                "can only access node lease with the same name as the requesting node",
            ),
            ("list", leases, ["leases", ""], "can only get, create, update, patch, or delete a node lease"),
            ("patch", drivers, ["", "one"], "allowed"),
            (
                "get",
                drivers,
                ["", "two"],
                "can only access CSINode with the same name as the requesting node",
            ),
            ("list", ["", "pods", ""], ["n", ""], "allowed"),
            ("list", ["", "services", ""], ["n", ""], ""),
        ] {
            assert_eq!(ask(&node, verb, resource, object).await, expected, "{verb} {resource:?} {object:?}");
        }
    }

    /// A field selector is a requirement for one field.
    async fn read(sees_selectors: bool, verb: &str, resource: &str, name: &str, field: &str) -> String {
        let user = UserInfo::new("system:node:one", [GROUP_NODES, GROUP_AUTHENTICATED]);
        let operator = if field.contains("!=") { Operator::NotIn } else { Operator::In };
        let fields = field.split_once(['!', '=']).map(|(key, value)| Requirement {
            key: key.to_owned(),
            operator,
            values: vec![value.trim_start_matches('=').to_owned()],
        });
        let fields = Vec::from_iter(fields);
        let namespace = if resource == "pods" { "n" } else { "" };
        let target = ResourceTarget {
            version: "v1",
            resource,
            namespace,
            name,
            fields: &fields,
            ..Default::default()
        };
        let attributes = Attributes { user: &user, verb, target: Target::Resource(target) };
        let authorizer = authorizer().seeing_selectors(sees_selectors);
        let decision = authorizer.authorize(&attributes).resolve().await;
        if decision.is_allowed() { "allowed".to_owned() } else { decision.reason().to_owned() }
    }

    /// Without selectors the rules of the role allow all of these.
    #[tokio::test]
    async fn a_node_reads_itself_and_its_pods_where_selectors_are_seen() {
        let unrelated = "no relationship found between node 'one' and this object";
        let unselected = "can only list/watch pods with spec.nodeName field selector";
        let all_nodes = "node 'one' cannot read all nodes, only its own Node object";
        for (verb, resource, name, field, expected) in [
            ("list", "pods", "", "spec.nodeName=one", "allowed"),
            ("watch", "pods", "", "spec.nodeName==one", "allowed"),
            ("list", "pods", "", "spec.nodeName=two", unselected),
            ("list", "pods", "", "spec.nodeName!=one", unselected),
            ("watch", "pods", "", "status.phase=one", unselected),
            ("list", "pods", "", "", unselected),
            ("list", "pods", "bare", "metadata.name=bare", "allowed"),
            ("watch", "pods", "far", "metadata.name=far", unrelated),
            ("get", "pods", "p", "", "allowed"),
            ("get", "pods", "bare", "", "allowed"),
            ("get", "pods", "far", "", unrelated),
            ("get", "pods", "missing", "", unrelated),
            ("create", "pods", "far", "", "allowed"),
            ("get", "nodes", "one", "", "allowed"),
            ("watch", "nodes", "one", "metadata.name=one", "allowed"),
            ("get", "nodes", "two", "", "node 'one' cannot read 'two', only its own Node object"),
            ("list", "nodes", "", "", all_nodes),
            ("watch", "nodes", "two", "metadata.name=two", all_nodes),
            ("create", "nodes", "", "", "allowed"),
        ] {
            let row = format!("{verb} {resource} {name:?} {field:?}");
            assert_eq!(read(true, verb, resource, name, field).await, expected, "{row}");
            assert_eq!(read(false, verb, resource, name, field).await, "allowed", "{row}");
        }
    }

    #[tokio::test]
    async fn only_nodes_are_nodes() {
        for (name, groups, expected) in [
            (
                "system:node:two",
                vec![GROUP_NODES],
                "no relationship found between node 'two' and this object",
            ),
            ("system:node:", vec![GROUP_NODES], "unknown node for user \"system:node:\""),
            ("system:node:one", vec![], ""),
            ("one", vec![GROUP_NODES], ""),
        ] {
            let user = UserInfo::new(name, groups);
            assert_eq!(ask(&user, "get", ["", "secrets", ""], ["n", "s"]).await, expected, "{name}");
        }
    }

    /// A source whose first news come when the test lets them.
    struct Slow(Mutex<mpsc::Receiver<()>>, Told);

    impl GraphSource for Slow {
        fn is_far_behind(&self) -> bool {
            self.has_news()
        }

        fn has_news(&self) -> bool {
            self.1.has_news()
        }

        fn news(&self) -> GraphNews {
            self.0.lock().unwrap().recv_timeout(Duration::from_secs(10)).expect("others go on");
            self.1.news()
        }
    }

    #[tokio::test]
    async fn others_go_on_while_many_pods_are_read() {
        let (sender, receiver) = mpsc::channel();
        let authorizer = authorizer_of(|told| Box::new(Slow(Mutex::new(receiver), told)));
        let user = UserInfo::new("system:node:one", [GROUP_NODES]);
        let target = |resource, name| {
            let target = ResourceTarget { resource, namespace: "n", name, ..ResourceTarget::default() };
            Attributes { user: &user, verb: "get", target: Target::Resource(target) }
        };
        let (secret, map, own) = (target("secrets", "s"), target("configmaps", "m"), target("nodes", "one"));
        let ask = async |attributes| authorizer.authorize(attributes).resolve().await.is_allowed();
        let asked = async { tokio::join!(ask(&secret), ask(&map)) };
        let others = async {
            assert!(matches!(authorizer.authorize(&own), Answer::Ready(_)));
            sender.send(()).unwrap();
        };
        assert_eq!(tokio::join!(asked, others).0, (true, true));
        assert!(matches!(authorizer.authorize(&secret), Answer::Ready(_)));
    }

    #[tokio::test]
    async fn rules_of_nodes_are_not_listed() {
        let node = UserInfo::new("system:node:one", [GROUP_NODES]);
        let authorizer = authorizer();
        assert_eq!(authorizer.rules(&node, "n").resolve().await.problems.len(), 1);
        let bob = UserInfo::new("bob", [""; 0]);
        assert_eq!(authorizer.rules(&bob, "n").resolve().await, Rules::default());
    }
}
