//! Roles and bindings, for authorization.

use std::{collections::BTreeMap, sync::Arc};

use orch_api::rbac::v1::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use orch_auth::rbac::{
    authorizer::{PolicyNews, PolicySource, Rbac},
    policy::{self, AggregationOperator, AggregationRequirement, Binding, Change, PolicyName, Selector},
};
use orch_meta::meta::v1::LabelSelector;
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::object::Kind;
use orch_storage::{EventKind, Following, Key, News, Object, Snapshot};
use serde::{Deserialize, de::DeserializeOwned};

/// Decides by the roles and bindings that are stored, from now on.
pub fn rbac(objects: &Objects) -> Rbac {
    let vocabulary = objects.catalog().vocabulary;
    let (policies, all) = Policies::begin(objects);
    Rbac::new(&orch_api::kinds::rbac::group(vocabulary), all, Box::new(policies))
}

/// Reads an object of one kind; `None` for one that is gone or cannot be read.
type Reader = fn(&Key, &ServedResource, Option<&Object>) -> Change;

/// The four kinds of roles and bindings, as far as they are served.
struct Policies {
    kinds: Vec<(Arc<ServedResource>, Reader)>,
    following: Following,
}

impl Policies {
    fn begin(objects: &Objects) -> (Self, Vec<Change>) {
        let readers: [(_, Reader); 4] = [
            (Role::RESOURCE, role),
            (ClusterRole::RESOURCE, role),
            (RoleBinding::RESOURCE, binding),
            (ClusterRoleBinding::RESOURCE, binding),
        ];
        let served = |(def, reader)| Some((Arc::clone(objects.catalog().served(def)?), reader));
        let kinds: Vec<(Arc<ServedResource>, Reader)> = readers.into_iter().filter_map(served).collect();
        let names = kinds.iter().map(|(resource, _)| resource.storage_name.clone()).collect();
        let (following, snapshots) = Following::begin(objects.storage(), names);
        let policies = Policies { kinds, following };
        let all = policies.all(&snapshots);
        (policies, all)
    }

    fn all(&self, snapshots: &[Snapshot]) -> Vec<Change> {
        let of_kind = |((resource, read), snapshot): (&(Arc<ServedResource>, Reader), &Snapshot)| {
            snapshot.iter().map(|object| read(object.key(), resource, Some(object))).collect::<Vec<_>>()
        };
        self.kinds.iter().zip(snapshots).flat_map(of_kind).collect()
    }
}

impl PolicySource for Policies {
    fn has_news(&self) -> bool {
        self.following.has_news()
    }

    fn news(&self) -> PolicyNews {
        let events = match self.following.news() {
            News::Everything(snapshots) => return PolicyNews::Everything(self.all(&snapshots)),
            News::Events(events) => events,
        };
        let changes = events.iter().filter_map(|event| {
            let key = event.key();
            let (resource, read) = self.kinds.iter().find(|(kind, _)| kind.storage_name == key.resource)?;
            let object = (event.kind() == EventKind::Put).then(|| &**event.object());
            Some(read(key, resource, object))
        });
        PolicyNews::Changes(changes.collect())
    }
}

fn name_of(key: &Key) -> PolicyName {
    PolicyName::namespaced(&*key.namespace, &*key.name)
}

/// The part of both kinds of roles that is judged.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JudgedRole {
    metadata: JudgedMetadata,
    rules: Option<Vec<PolicyRule>>,
    aggregation_rule: Option<AggregationRule>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JudgedMetadata {
    labels: Option<BTreeMap<String, String>>,
}

/// The same of both kinds of bindings.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JudgedBinding {
    role_ref: RoleRef,
    subjects: Option<Vec<Subject>>,
}

/// What is judged, read without a tree of the whole: whoever asks next waits for it, and a short patch may
/// have changed a large object. `None` for one that is damaged. It grants nothing.
fn judged<T: DeserializeOwned>(resource: &ServedResource, object: &Object) -> Option<T> {
    let bytes = stored::bytes_of(resource, object).ok()?;
    let read = serde_json::from_slice(bytes);
    if let Err(error) = &read {
        tracing::warn!(key = %object.key(), %error, "it cannot be read and grants nothing");
    }
    read.ok()
}

fn role(key: &Key, resource: &ServedResource, object: Option<&Object>) -> Change {
    let selectors = |rule: AggregationRule| rule.cluster_role_selectors.iter().map(selector).collect();
    let policy = |role: JudgedRole| policy::Role {
        rules: rules(role.rules),
        labels: role.metadata.labels.unwrap_or_default(),
        aggregation: role.aggregation_rule.map(selectors),
    };
    Change::Role(name_of(key), object.and_then(|object| judged(resource, object)).map(policy))
}

fn binding(key: &Key, resource: &ServedResource, object: Option<&Object>) -> Change {
    let namespace = &*key.namespace;
    let policy = |binding: JudgedBinding| {
        let subjects = binding.subjects.unwrap_or_default().into_iter();
        let subjects = subjects.filter_map(|it| subject(it, namespace)).collect();
        Binding { role: role_name(&binding.role_ref, namespace), subjects }
    };
    Change::Binding(name_of(key), object.and_then(|object| judged(resource, object)).map(policy))
}

/// The role that a binding in this namespace refers to.
pub(crate) fn role_name(role: &RoleRef, namespace: &str) -> PolicyName {
    match role.kind.as_str() {
        "Role" => PolicyName::namespaced(namespace, &role.name),
        _ => PolicyName::of_cluster(&role.name),
    }
}

/// A service account without a namespace is one of the binding's own.
fn subject(subject: Subject, namespace: &str) -> Option<policy::Subject> {
    use orch_api::kinds::rbac::{SUBJECT_GROUP, SUBJECT_SERVICE_ACCOUNT, SUBJECT_USER};

    let Subject { kind, name, namespace: own, .. } = subject;
    match kind.as_str() {
        SUBJECT_USER => Some(policy::Subject::User(name)),
        SUBJECT_GROUP => Some(policy::Subject::Group(name)),
        SUBJECT_SERVICE_ACCOUNT => {
            let namespace = if own.is_empty() { namespace.to_owned() } else { own };
            (!namespace.is_empty()).then_some(policy::Subject::ServiceAccount { namespace, name })
        }
        _ => None,
    }
}

/// Rules as authorization judges them.
pub(crate) fn rules(rules: Option<Vec<PolicyRule>>) -> Vec<policy::PolicyRule> {
    let rule = |rule: PolicyRule| policy::PolicyRule {
        verbs: rule.verbs,
        groups: rule.api_groups,
        resources: rule.resources,
        names: rule.resource_names,
        paths: rule.non_resource_urls,
    };
    rules.unwrap_or_default().into_iter().map(rule).collect()
}

fn selector(selector: &LabelSelector) -> Selector {
    let labels = selector.match_labels.iter().map(|(key, value)| AggregationRequirement {
        key: key.clone(),
        operator: AggregationOperator::In(vec![value.clone()]),
    });
    let expressions = selector.match_expressions.iter().map(|it| AggregationRequirement {
        key: it.key.clone(),
        operator: match it.operator.as_str() {
            "In" => AggregationOperator::In(it.values.clone()),
            "NotIn" => AggregationOperator::NotIn(it.values.clone()),
            "Exists" => AggregationOperator::Exists,
            _ => AggregationOperator::DoesNotExist,
        },
    });
    Selector(labels.chain(expressions).collect())
}

#[cfg(test)]
mod tests {
    use orch_auth::{
        authorizer::{Attributes, Authorizer as _, ResourceTarget, Target},
        user::UserInfo,
    };
    use orch_registry::options::DeletionOptions;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    const GROUP: &str = "rbac.authorization.k8s.io";

    async fn reason(rbac: &Rbac, user: &str, verb: &str, resource: &str, namespace: &str) -> String {
        let user = UserInfo::new(user, ["devs"]);
        let target = ResourceTarget { resource, namespace, ..ResourceTarget::default() };
        let attributes = Attributes { user: &user, verb, target: Target::Resource(target) };
        let decision = rbac.authorize(&attributes).resolve().await;
        format!("{} {}", if decision.is_allowed() { "yes" } else { "no" }, decision.reason())
    }

    fn reader(resource: &str) -> Value {
        json!([{"apiGroups": [""], "resources": [resource], "verbs": ["get"]}])
    }

    #[tokio::test]
    async fn roles_and_bindings_are_in_force_when_they_are_stored() {
        let server = TestServer::start().await;
        let named = |name: &str| json!({"name": name});
        let role_ref = |kind: &str, name: &str| json!({"apiGroup": GROUP, "kind": kind, "name": name});
        server
            .create::<Role>(NAMESPACE, json!({"metadata": named("r"), "rules": reader("pods")}))
            .await
            .unwrap();
        let rbac = rbac(server.core.objects());
        assert_eq!(reason(&rbac, "bob", "get", "pods", NAMESPACE).await, "no ");

        let subjects =
            json!([{"kind": "ServiceAccount", "name": "robot"}, {"kind": "Group", "name": "devs"}]);
        let binding = json!({"metadata": named("b"), "roleRef": role_ref("Role", "r"), "subjects": subjects});
        server.create::<RoleBinding>(NAMESPACE, binding).await.unwrap();
        let granted =
            format!(r#"yes RBAC: allowed by RoleBinding "b/{NAMESPACE}" of Role "r" to Group "devs""#);
        assert_eq!(reason(&rbac, "bob", "get", "pods", NAMESPACE).await, granted);
        let robot = format!("system:serviceaccount:{NAMESPACE}:robot");
        assert!(reason(&rbac, &robot, "get", "pods", NAMESPACE).await.contains("ServiceAccount"));

        let selectors = json!([{"matchLabels": {"part": "yes"}}, {"matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["a"]}, {"key": "part", "operator": "Exists"}]}]);
        let whole = json!({"metadata": named("whole"), "rules": null,
            "aggregationRule": {"clusterRoleSelectors": selectors}});
        server.create::<ClusterRole>("", whole).await.unwrap();
        let everywhere = json!({"metadata": named("all"), "roleRef": role_ref("ClusterRole", "whole"),
            "subjects": [{"kind": "User", "name": "eve"}]});
        server.create::<ClusterRoleBinding>("", everywhere).await.unwrap();
        assert_eq!(reason(&rbac, "eve", "get", "nodes", "").await, "no ");
        let part = json!({"metadata": {"name": "part", "labels": {"part": "yes"}}, "rules": reader("nodes")});
        server.create::<ClusterRole>("", part).await.unwrap();
        let granted = r#"yes RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "whole" to User "eve""#;
        assert_eq!(reason(&rbac, "eve", "get", "nodes", "").await, granted);

        let roles = server.resource::<ClusterRole>();
        server.client.delete(roles, "", "whole", DeletionOptions::default()).await.unwrap();
        let missing = format!(r#"no RBAC: clusterrole.{GROUP} "whole" not found"#);
        assert_eq!(reason(&rbac, "eve", "get", "nodes", "").await, missing);
    }

    /// Of large objects only what is judged is read: the rest could not be.
    #[tokio::test]
    async fn what_is_not_judged_is_not_read() {
        let server = TestServer::start().await;
        let rbac = rbac(server.core.objects());
        let metadata = json!({"annotations": {"x": ["no text"]}, "managedFields": "no list"});
        let role_ref = json!({"apiGroup": GROUP, "kind": "Role", "name": "r"});
        let subjects = json!([{"kind": "User", "name": "bob"}, {"kind": "Robot", "name": "eve"}]);
        let binding = json!({"metadata": metadata, "roleRef": role_ref, "subjects": subjects});
        let role = json!({"metadata": metadata, "rules": reader("pods")});
        server.store::<Role>(NAMESPACE, "r", &role).await;
        server.store::<RoleBinding>(NAMESPACE, "b", &binding).await;
        let granted =
            format!(r#"yes RBAC: allowed by RoleBinding "b/{NAMESPACE}" of Role "r" to User "bob""#);
        assert_eq!(reason(&rbac, "bob", "get", "pods", NAMESPACE).await, granted);
        assert_eq!(reason(&rbac, "eve", "get", "pods", NAMESPACE).await, "no ");
    }
}
