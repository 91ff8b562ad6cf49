//! Compares the index with an evaluator that is written straight from the specification, over random roles,
//! bindings, aggregations, subjects and requests. After each change the index is also compared with one that
//! is built anew.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    index::Index,
    policy::{
        AggregationOperator, AggregationRequirement, Binding, Change, PolicyName, PolicyRule, Role, Selector,
        Subject,
    },
};
use crate::{
    authorizer::{Attributes, Decision, ResourceTarget, Target},
    user::UserInfo,
};

const GROUP: &str = "rbac.example.io";

/// How often the state changes, and how many decisions are compared after each change: a million in all.
const CHANGES: usize = 1_000;
const DECISIONS: usize = 1_000;

const NAMESPACES: &[&str] = &["n", "m"];
const NAMES: &[&str] = &["a", "b", "c", "d", "e"];
const VERBS: &[&str] = &["get", "list", "create", "bind", "use"];
const GROUPS: &[&str] = &["", "apps"];
const RESOURCES: &[&str] = &["pods", "nodes", "jobs"];
const SUBRESOURCES: &[&str] = &["scale", "log"];
const PATHS: &[&str] = &["/api", "/api/v1", "/version"];
const USERS: &[&str] = &["bob", "eve", "system:serviceaccount:n:robot"];
const TEAMS: &[&str] = &["devs", "ops"];

/// The state as plain maps.
#[derive(Default)]
struct Model {
    roles: BTreeMap<PolicyName, Role>,
    bindings: BTreeMap<PolicyName, Binding>,
}

#[test]
fn the_index_decides_as_the_specification_says() {
    let seed = std::env::var("ORCH_TEST_SEED").map_or_else(|_| rand::random(), |text| text.parse().unwrap());
    println!("ORCH_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let (mut model, mut index) = (Model::default(), Index::new(GROUP));
    let mut allowed = 0;
    for _ in 0..CHANGES {
        let change = change(&mut random);
        model.apply(change.clone());
        index.apply(change);
        assert_eq!(index.listing(), model.anew().listing());
        let (caller, namespace) = (user(&mut random), pick(&mut random, NAMESPACES));
        let rules: BTreeSet<_> = index.rules_of(&caller, namespace).iter().cloned().collect();
        assert_eq!(rules, model.rules_of(&caller, namespace), "{caller:?} {namespace}");
        for _ in 0..DECISIONS {
            let (user, request) = (user(&mut random), Request::random(&mut random));
            let decision = index.decide(&request.attributes(&user));
            let expected = model.decide(&user, &request);
            allowed += usize::from(decision.is_allowed());
            if let Decision::Allow { reason } = &decision {
                assert_eq!(Some(&**reason), expected.reason.as_deref(), "{user:?} {request:?}");
            } else {
                assert_eq!(expected.reason, None, "{user:?} {request:?}");
                assert_eq!(decision.reason(), expected.missing, "{user:?} {request:?}");
            }
        }
    }
    // A model that never allows, or always, compares nothing.
    let decisions = CHANGES * DECISIONS;
    assert!(allowed > decisions / 50 && allowed < decisions / 2, "{allowed} of {decisions} are allowed");
}

/// What the specification says about a request.
struct Expected {
    /// The reason of the first binding that allows it.
    reason: Option<String>,
    /// What is told where nothing allows it.
    missing: String,
}

impl Model {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Role(name, Some(role)) => drop(self.roles.insert(name, role)),
            Change::Role(name, None) => drop(self.roles.remove(&name)),
            Change::Binding(name, Some(binding)) => drop(self.bindings.insert(name, binding)),
            Change::Binding(name, None) => drop(self.bindings.remove(&name)),
        }
    }

    fn anew(&self) -> Index {
        let mut index = Index::new(GROUP);
        for (name, binding) in &self.bindings {
            index.set_binding(name, Some(binding.clone()));
        }
        for (name, role) in &self.roles {
            index.set_role(name, Some(role.clone()));
        }
        index
    }

    fn decide(&self, user: &UserInfo, request: &Request) -> Expected {
        let mut missing = BTreeSet::new();
        // Cluster role bindings come first; then the user's own ones, those of each group, and each by name.
        let mut reasons = BTreeMap::new();
        for (name, binding) in &self.bindings {
            let is_local = !name.namespace.is_empty();
            if is_local && name.namespace != request.namespace {
                continue;
            }
            for subject in &binding.subjects {
                let Some(place) = place(user, subject) else { continue };
                let kind = if binding.role.namespace.is_empty() { "ClusterRole" } else { "Role" };
                if !self.roles.contains_key(&binding.role) {
                    let kind = kind.to_lowercase();
                    missing.insert(format!("{kind}.{GROUP} \"{}\" not found", binding.role.name));
                    continue;
                }
                if !self.rules(&binding.role, &mut BTreeSet::new()).iter().any(|rule| allows(rule, request)) {
                    continue;
                }
                let by = if is_local {
                    format!("RoleBinding \"{}/{}\"", name.name, name.namespace)
                } else {
                    format!("ClusterRoleBinding \"{}\"", name.name)
                };
                let (role, to) = (&binding.role.name, shown(subject));
                let reason = format!("RBAC: allowed by {by} of {kind} \"{role}\" to {to}");
                reasons.entry((is_local, place, &name.name)).or_insert(reason);
            }
        }
        let missing: Vec<String> = missing.into_iter().collect();
        let missing = match missing.as_slice() {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            many => format!("RBAC: [{}]", many.join(", ")),
        };
        Expected { reason: reasons.into_values().next(), missing }
    }

    fn rules_of(&self, user: &UserInfo, namespace: &str) -> BTreeSet<PolicyRule> {
        let bindings = self.bindings.iter().filter(|(name, binding)| {
            (name.namespace.is_empty() || name.namespace == namespace)
                && binding.subjects.iter().any(|subject| place(user, subject).is_some())
        });
        bindings.flat_map(|(_, binding)| self.rules(&binding.role, &mut BTreeSet::new())).collect()
    }

    /// The rules of a role, with those of all that it selects, directly or not.
    fn rules(&self, name: &PolicyName, seen: &mut BTreeSet<PolicyName>) -> Vec<PolicyRule> {
        if !seen.insert(name.clone()) {
            return Vec::new();
        }
        let Some(role) = self.roles.get(name) else { return Vec::new() };
        let Some(selectors) = &role.aggregation else { return role.rules.clone() };
        let others = self.roles.iter().filter(|(name, _)| name.namespace.is_empty());
        let selected =
            others.filter(|(_, other)| selectors.iter().any(|selector| selector.selects(&other.labels)));
        selected.flat_map(|(name, _)| self.rules(name, seen)).collect()
    }
}

/// Whether a user is meant: 0 by name, or the place of the group.
fn place(user: &UserInfo, subject: &Subject) -> Option<usize> {
    match subject {
        Subject::User(name) => (user.name == *name).then_some(0),
        Subject::Group(name) => user.groups.iter().position(|group| group == name).map(|at| 1 + at),
        Subject::ServiceAccount { namespace, name } => {
            (user.name == format!("system:serviceaccount:{namespace}:{name}")).then_some(0)
        }
    }
}

fn shown(subject: &Subject) -> String {
    match subject {
        Subject::User(name) => format!("User \"{name}\""),
        Subject::Group(name) => format!("Group \"{name}\""),
        Subject::ServiceAccount { namespace, name } => format!("ServiceAccount \"{name}/{namespace}\""),
    }
}

fn allows(rule: &PolicyRule, request: &Request) -> bool {
    let in_list = |list: &[String], text: &str| list.iter().any(|entry| entry == "*" || entry == text);
    let Request { verb, group, resource, name, path, .. } = request;
    if let Some(path) = path {
        let is_path = |pattern: &String| match pattern.strip_suffix('*') {
            Some(stem) => path.starts_with(stem),
            None => pattern == path,
        };
        return in_list(&rule.verbs, verb) && rule.paths.iter().any(is_path);
    }
    let is_resource = |pattern: &String| {
        pattern == "*"
            || pattern == resource
            || resource.split_once('/').is_some_and(|(_, sub)| *pattern == format!("*/{sub}"))
    };
    in_list(&rule.verbs, verb)
        && in_list(&rule.groups, group)
        && rule.resources.iter().any(is_resource)
        && (rule.names.is_empty() || rule.names.contains(name))
}

/// A request; its resource with the sub-resource as one text.
#[derive(Debug)]
struct Request {
    verb: String,
    group: String,
    resource: String,
    namespace: String,
    name: String,
    path: Option<String>,
}

impl Request {
    fn random(random: &mut StdRng) -> Self {
        let is_path = random.random_ratio(1, 8);
        let namespace = if is_path || random.random_ratio(1, 4) { "" } else { pick(random, NAMESPACES) };
        Request {
            verb: pick(random, VERBS).to_owned(),
            group: pick(random, GROUPS).to_owned(),
            resource: resource(random),
            namespace: namespace.to_owned(),
            name: if random.random() { pick(random, NAMES) } else { "" }.to_owned(),
            path: is_path.then(|| pick(random, PATHS).to_owned()),
        }
    }

    fn attributes<'a>(&'a self, user: &'a UserInfo) -> Attributes<'a> {
        let (resource, subresource) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
        let target = match &self.path {
            Some(path) => Target::Path(path),
            None => Target::Resource(ResourceTarget {
                group: &self.group,
                version: "v1",
                resource,
                subresource,
                namespace: &self.namespace,
                name: &self.name,
                ..ResourceTarget::default()
            }),
        };
        Attributes { user, verb: &self.verb, target }
    }
}

fn pick<'a>(random: &mut StdRng, from: &[&'a str]) -> &'a str {
    from[random.random_range(0..from.len())]
}

/// One or two of these, or `*`.
fn some(random: &mut StdRng, from: &[&str]) -> Vec<String> {
    if random.random_ratio(1, 8) {
        return vec!["*".to_owned()];
    }
    (0..random.random_range(1..3)).map(|_| pick(random, from).to_owned()).collect()
}

fn resource(random: &mut StdRng) -> String {
    let resource = pick(random, RESOURCES);
    if random.random_ratio(1, 3) {
        format!("{resource}/{}", pick(random, SUBRESOURCES))
    } else {
        resource.into()
    }
}

fn user(random: &mut StdRng) -> UserInfo {
    let teams = TEAMS.iter().filter(|_| random.random::<bool>()).copied().collect::<Vec<_>>();
    UserInfo::new(pick(random, USERS), teams)
}

fn change(random: &mut StdRng) -> Change {
    let is_of_cluster = random.random::<bool>();
    let namespace = if is_of_cluster { "" } else { pick(random, NAMESPACES) };
    let name = PolicyName::namespaced(namespace, pick(random, NAMES));
    let is_put = random.random_ratio(3, 4);
    if random.random() {
        let role = is_put.then(|| role(random, is_of_cluster));
        return Change::Role(name, role);
    }
    let role_namespace = if random.random() { "" } else { namespace };
    let binding = is_put.then(|| Binding {
        role: PolicyName::namespaced(role_namespace, pick(random, NAMES)),
        subjects: (0..random.random_range(0..4)).map(|_| subject(random)).collect(),
    });
    Change::Binding(name, binding)
}

fn role(random: &mut StdRng, is_of_cluster: bool) -> Role {
    let labels = [("team", "x"), ("team", "y"), ("kind", "z")];
    let labels = labels.iter().filter(|_| random.random::<bool>()).map(|(key, value)| (*key, *value));
    Role {
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        aggregation: (is_of_cluster && random.random_ratio(1, 3))
            .then(|| (0..random.random_range(1..3)).map(|_| selector(random)).collect()),
        rules: (0..random.random_range(0..3)).map(|_| rule(random)).collect(),
    }
}

fn rule(random: &mut StdRng) -> PolicyRule {
    let verbs = some(random, VERBS);
    if random.random_ratio(1, 6) {
        let paths = vec![pick(random, &["/api", "/api/*", "*", "/version"]).to_owned()];
        return PolicyRule { verbs, paths, ..PolicyRule::default() };
    }
    let resources = match random.random_range(0..8) {
        0 => vec!["*".to_owned()],
        1 => vec!["*/scale".to_owned()],
        _ => vec![resource(random), resource(random)],
    };
    let names = if random.random_ratio(1, 4) { some(random, NAMES) } else { Vec::new() };
    PolicyRule { verbs, groups: some(random, GROUPS), resources, names, paths: Vec::new() }
}

fn selector(random: &mut StdRng) -> Selector {
    let key = pick(random, &["team", "kind"]).to_owned();
    let values = vec![pick(random, &["x", "y", "z"]).to_owned()];
    let operator = match random.random_range(0..6) {
        0 => AggregationOperator::NotIn(values),
        1 => AggregationOperator::Exists,
        2 => AggregationOperator::DoesNotExist,
        _ => AggregationOperator::In(values),
    };
    Selector(vec![AggregationRequirement { key, operator }])
}

fn subject(random: &mut StdRng) -> Subject {
    match random.random_range(0..3) {
        0 => Subject::User(pick(random, USERS).to_owned()),
        1 => Subject::Group(pick(random, TEAMS).to_owned()),
        _ => Subject::ServiceAccount { namespace: "n".to_owned(), name: "robot".to_owned() },
    }
}
