//! Roles and bindings as authorization judges them.

use std::collections::BTreeMap;

/// The name of a role or a binding.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyName {
    /// Empty for cluster roles and cluster role bindings.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

/// One permission. It is about resources (`groups`, `resources`, `names`) or about other paths (`paths`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyRule {
    /// `*` is every verb.
    pub verbs: Vec<String>,
    /// `""` is the core group, `*` every group.
    pub groups: Vec<String>,
    /// Plural names; `pods/log`, `*/scale`, `*`.
    pub resources: Vec<String>,
    /// The names of the objects that it is limited to; empty means all.
    pub names: Vec<String>,
    /// Paths that are not resources; a `*` at the end stands for any rest.
    pub paths: Vec<String>,
}

/// A role or a cluster role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Its own rules. They do not count where it is aggregated.
    pub rules: Vec<PolicyRule>,
    /// Its labels, by which aggregated roles select it.
    pub labels: BTreeMap<String, String>,
    /// For an aggregated cluster role: whose rules it has. A role is part of it if any of these selects it.
    pub aggregation: Option<Vec<Selector>>,
}

/// The label selector of an aggregation: all requirements must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(pub Vec<AggregationRequirement>);

/// A requirement for one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregationRequirement {
    /// The label.
    pub key: String,
    /// What is required.
    pub operator: AggregationOperator,
}

/// What is required of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AggregationOperator {
    /// It has one of these values.
    In(Vec<String>),
    /// It has none of these values, or is missing.
    NotIn(Vec<String>),
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
}

/// A role binding or a cluster role binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The role, or the cluster role if the namespace is empty. It need not exist.
    pub role: PolicyName,
    /// Who gets it.
    pub subjects: Vec<Subject>,
}

/// Who gets a role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The user of this name.
    User(String),
    /// Every member of this group.
    Group(String),
    /// A service account.
    ServiceAccount {
        /// Never empty.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// What happened to a role or a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The new state of a role; `None` where it is gone.
    Role(PolicyName, Option<Role>),
    /// The new state of a binding; `None` where it is gone.
    Binding(PolicyName, Option<Binding>),
}

impl PolicyName {
    /// A role or a binding of a namespace.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// A cluster role or a cluster role binding.
    pub fn of_cluster(name: impl Into<String>) -> Self {
        Self::namespaced("", name)
    }

    /// Whether it names a cluster role or a cluster role binding.
    pub fn is_of_cluster(&self) -> bool {
        self.namespace.is_empty()
    }
}

impl PolicyRule {
    /// How many values all of its lists have.
    pub fn values(&self) -> usize {
        self.lists().map(Vec::len).into_iter().sum()
    }

    /// All of its lists.
    pub fn lists(&self) -> [&Vec<String>; 5] {
        let PolicyRule { verbs, groups, resources, names, paths } = self;
        [verbs, groups, resources, names, paths]
    }
}

impl Selector {
    /// Whether it selects an object with these labels.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|AggregationRequirement { key, operator }| {
            let value = labels.get(key);
            match operator {
                AggregationOperator::In(values) => value.is_some_and(|value| values.contains(value)),
                AggregationOperator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                AggregationOperator::Exists => value.is_some(),
                AggregationOperator::DoesNotExist => value.is_none(),
            }
        })
    }
}
