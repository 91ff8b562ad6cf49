//! All roles and bindings, arranged so that a decision looks only at the bindings of the caller.
//!
//! Cluster role bindings are looked at first, then those of the request's namespace; of the bindings whose
//! roles allow, the first by name is the reason. A role is looked at once for each subject of the caller,
//! however many bindings grant it. Nothing is denied: where no rule matches there is no opinion, and the
//! reason names the roles that bindings of the caller refer to and that are missing. A decision that allows
//! makes no copy and needs no memory.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::{
    grants::{Grant, Grants, once_each},
    policy::{Binding, Change, PolicyName, Role, Subject},
    roles::{RoleId, Roles},
    rule::Question,
    rule_set::SharedRules,
};
use crate::{
    authorizer::{Attributes, Decision, Target},
    service_account,
    user::UserInfo,
};

/// Of how many subjects of a caller the lists of one namespace are remembered from the first pass to the
/// second. Those of further groups are looked up again.
const REMEMBERED: usize = 16;

/// How many missing roles a message names: bindings whose roles are deleted would make it long.
const MISSING_SHOWN: usize = 32;

/// See the module.
pub struct Index {
    /// The API group of roles, as it stands in messages.
    group: Box<str>,
    roles: Roles,
    bindings: HashMap<PolicyName, (Binding, RoleId)>,
    users: HashMap<Box<str>, Grants>,
    groups: HashMap<Box<str>, Grants>,
}

impl Index {
    /// Without roles. `group` is the API group of roles in messages.
    pub fn new(group: &str) -> Self {
        Index {
            group: group.into(),
            roles: Roles::default(),
            bindings: HashMap::new(),
            users: HashMap::new(),
            groups: HashMap::new(),
        }
    }

    /// Takes over what happened to a role or a binding.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Role(name, role) => self.set_role(&name, role),
            Change::Binding(name, binding) => self.set_binding(&name, binding),
        }
    }

    /// Puts a role in place of the one of that name, or removes it.
    pub fn set_role(&mut self, name: &PolicyName, role: Option<Role>) {
        self.roles.set(name, role);
    }

    /// Puts a binding in place of the one of that name, or removes it. Only what differs is changed: a short
    /// patch of a long list of subjects takes little time.
    pub fn set_binding(&mut self, name: &PolicyName, binding: Option<Binding>) {
        if self.bindings.get(name).map(|(old, _)| old) == binding.as_ref() {
            return;
        }
        let old = self.bindings.remove(name);
        let new = binding.map(|new| (self.roles.acquire(&new.role), new));
        let is_of_same_role = matches!((&old, &new), (Some((_, old)), Some((new, _))) if old == new);
        let before = old.as_ref().map(|(old, _)| holders(old)).unwrap_or_default();
        let after = new.as_ref().map(|(_, new)| holders(new)).unwrap_or_default();
        let is_in = |other: &Holders<'_>, holder: &Holder<'_>, subject: &Subject| {
            is_of_same_role && other.get(holder).is_some_and(|other| *other == subject)
        };
        if let Some((_, role)) = &old {
            for (holder, subject) in &before {
                if !is_in(&after, holder, subject) {
                    self.revoke(name, *role, holder);
                }
            }
            self.roles.release(*role);
        }
        if let Some((role, binding)) = &new {
            let shared_name: Arc<str> = name.name.as_str().into();
            for (holder, subject) in &after {
                if !is_in(&before, holder, subject) {
                    let reason = reason(name, &binding.role, subject).into();
                    let grant = Grant { binding: Arc::clone(&shared_name), role: *role, reason };
                    self.grants_mut(holder).add(&name.namespace, grant);
                }
            }
        }
        if let Some((role, new)) = new {
            self.bindings.insert(name.clone(), (new, role));
        }
    }

    /// Decides about a request.
    pub fn decide(&self, attributes: &Attributes<'_>) -> Decision {
        let namespace = namespace_of(attributes);
        match self.granted(attributes.user, namespace, &Question::new(attributes)) {
            Some(grant) => Decision::Allow { reason: Arc::clone(&grant.reason).into() },
            None => Decision::NoOpinion {
                reason: match self.missing(attributes.user, namespace) {
                    missing if missing.is_empty() => "".into(),
                    missing => format!("RBAC: {}", joined(&missing)).into(),
                },
            },
        }
    }

    /// All rules of a user in a namespace, those that hold everywhere included; with an empty namespace only
    /// these. Those of a role are there once.
    pub fn rules_of(&self, user: &UserInfo, namespace: &str) -> SharedRules {
        let grants = self.grants_of(user).flat_map(|grants| grants.roles(namespace));
        let parts = grants.flat_map(|grant| self.roles.rules(grant.role));
        let mut seen = HashSet::new();
        SharedRules(parts.filter(|(id, _)| seen.insert(*id)).map(|(_, rules)| Arc::clone(rules)).collect())
    }

    /// The rules of a role, those of its parts if it is aggregated; `None` where it is missing.
    pub fn rules_of_role(&self, name: &PolicyName) -> Option<SharedRules> {
        let parts = self.roles.rules(self.roles.find(name)?);
        Some(SharedRules(parts.map(|(_, rules)| Arc::clone(rules)).collect()))
    }

    /// The first binding that allows the request.
    fn granted<'a>(
        &'a self,
        user: &'a UserInfo,
        namespace: &str,
        question: &Question<'_>,
    ) -> Option<&'a Grant> {
        let mut local: [&[Grant]; REMEMBERED] = [&[]; REMEMBERED];
        let mut subjects = 0;
        for grants in self.grants_of(user) {
            if let Some(grant) = self.allowing(grants.everywhere(), question) {
                return Some(grant);
            }
            if let Some(slot) = local.get_mut(subjects) {
                *slot = grants.local(namespace);
            }
            subjects += 1;
        }
        let rest = self.grants_of(user).skip(REMEMBERED).map(|grants| grants.local(namespace));
        let rest = rest.take(subjects.saturating_sub(REMEMBERED));
        let mut lists = local.into_iter().take(subjects).chain(rest);
        lists.find_map(|list| self.allowing(list, question))
    }

    /// Of a list, the grant by the first binding whose role allows the request.
    fn allowing<'a>(&self, list: &'a [Grant], question: &Question<'_>) -> Option<&'a Grant> {
        let mut found: Option<&Grant> = None;
        for grant in once_each(list) {
            let is_before = found.is_none_or(|found| grant.binding < found.binding);
            if is_before && self.roles.allows(grant.role, question) {
                found = Some(grant);
            }
        }
        found
    }

    /// The messages about missing roles that bindings of a user refer to, each once.
    pub fn missing(&self, user: &UserInfo, namespace: &str) -> BTreeSet<String> {
        self.missing_roles(user, namespace).into_iter().map(|name| self.not_found(name)).collect()
    }

    /// The same for a user who writes objects of the resource `written`: as in the reference, whose messages
    /// name that resource.
    pub fn missing_for(&self, user: &UserInfo, namespace: &str, written: &str) -> Vec<String> {
        let missing = self.missing_roles(user, namespace).into_iter();
        let told = missing.map(|name| format!("{written}.{} {:?} not found", self.group, name.name));
        told.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn missing_roles(&self, user: &UserInfo, namespace: &str) -> Vec<&PolicyName> {
        let grants = self.grants_of(user).flat_map(|grants| grants.roles(namespace));
        let missing = grants.filter(|grant| !self.roles.exists(grant.role));
        missing.take(MISSING_SHOWN).map(|grant| self.roles.name(grant.role)).collect()
    }

    fn not_found(&self, name: &PolicyName) -> String {
        let kind = if name.is_of_cluster() { "clusterrole" } else { "role" };
        format!("{kind}.{} {:?} not found", self.group, name.name)
    }

    /// What the user is granted by name, and then by each group.
    fn grants_of<'a>(&'a self, user: &'a UserInfo) -> impl Iterator<Item = &'a Grants> {
        let groups = user.groups.iter().filter_map(|group| self.groups.get(group.as_str()));
        self.users.get(user.name.as_str()).into_iter().chain(groups)
    }

    fn grants_mut(&mut self, Holder { is_group, name }: &Holder<'_>) -> &mut Grants {
        let map = if *is_group { &mut self.groups } else { &mut self.users };
        map.entry((&**name).into()).or_default()
    }

    fn revoke(&mut self, binding: &PolicyName, role: RoleId, Holder { is_group, name }: &Holder<'_>) {
        let map = if *is_group { &mut self.groups } else { &mut self.users };
        let Some(grants) = map.get_mut(&**name) else { return };
        grants.remove(&binding.namespace, role, &binding.name);
        if grants.is_empty() {
            map.remove(&**name);
        }
    }
}

/// Who has the grants of a subject. A service account is the user of its name.
#[derive(PartialEq, Eq, Hash)]
struct Holder<'a> {
    is_group: bool,
    name: Cow<'a, str>,
}

/// The subjects of a binding by their holders. One that is named again gets nothing more.
type Holders<'a> = HashMap<Holder<'a>, &'a Subject>;

fn holders(binding: &Binding) -> Holders<'_> {
    let mut holders = HashMap::with_capacity(binding.subjects.len());
    for subject in &binding.subjects {
        holders.entry(holder(subject)).or_insert(subject);
    }
    holders
}

fn holder(subject: &Subject) -> Holder<'_> {
    let (is_group, name) = match subject {
        Subject::User(name) => (false, name.into()),
        Subject::Group(name) => (true, name.into()),
        Subject::ServiceAccount { namespace, name } => {
            (false, service_account::user_name(namespace, name).into())
        }
    };
    Holder { is_group, name }
}

#[cfg(test)]
impl Index {
    /// Everything in it, as text.
    pub(super) fn listing(&self) -> Vec<String> {
        let subjects = self.users.iter().chain(&self.groups).map(|(subject, grants)| (&**subject, grants));
        let of_subject = |(subject, grants): (&str, &Grants)| {
            let one = |(namespace, grant): (&str, &Grant)| {
                let (role, rules) = (self.roles.name(grant.role), self.roles.rules(grant.role));
                let rules: Vec<_> = rules.map(|(_, rules)| Arc::clone(rules)).collect();
                let rules: Vec<_> = SharedRules(rules).iter().cloned().collect();
                format!("{subject} {namespace} {} {role:?} {} {rules:?}", grant.binding, grant.reason)
            };
            grants.all().map(one).collect::<Vec<_>>()
        };
        let mut listing: Vec<String> = subjects.flat_map(of_subject).collect();
        listing.push(format!(
            "{} subjects, {} roles",
            self.users.len() + self.groups.len(),
            self.roles.len()
        ));
        listing.sort();
        listing
    }
}

fn namespace_of<'a>(attributes: &Attributes<'a>) -> &'a str {
    match attributes.target {
        Target::Resource(target) => target.namespace,
        Target::Path(_) => "",
    }
}

/// The reason of a decision that a binding allows.
fn reason(binding: &PolicyName, role: &PolicyName, subject: &Subject) -> String {
    let binding = if binding.is_of_cluster() {
        format!("ClusterRoleBinding {:?}", binding.name)
    } else {
        format!("RoleBinding \"{}/{}\"", binding.name, binding.namespace)
    };
    let kind = if role.is_of_cluster() { "ClusterRole" } else { "Role" };
    let subject = match subject {
        Subject::User(name) => format!("User {name:?}"),
        Subject::Group(name) => format!("Group {name:?}"),
        Subject::ServiceAccount { namespace, name } => format!("ServiceAccount \"{name}/{namespace}\""),
    };
    format!("RBAC: allowed by {binding} of {kind} {:?} to {subject}", role.name)
}

/// Several messages as one, in brackets.
fn joined(messages: &BTreeSet<String>) -> String {
    let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
    match texts.as_slice() {
        [one] => (*one).to_owned(),
        all => format!("[{}]", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_that_is_named_often_is_granted_once() {
        let (mut index, name) = (Index::new("rbac.example.io"), PolicyName::of_cluster("b"));
        let subject = |number: usize| match number % 3 {
            0 => Subject::User("bob".to_owned()),
            1 => Subject::Group("devs".to_owned()),
            _ => Subject::ServiceAccount { namespace: "n".to_owned(), name: "robot".to_owned() },
        };
        let subjects = (0..3000).map(subject).collect();
        index.set_binding(&name, Some(Binding { role: PolicyName::of_cluster("r"), subjects }));
        let grants = index.listing();
        assert_eq!(grants.len(), 4, "three, and the counts: {grants:?}");
        index.set_binding(&name, None);
        assert_eq!(index.listing(), ["0 subjects, 0 roles"]);
    }

    #[test]
    fn only_the_subjects_that_differ_are_changed() {
        let (mut index, name) = (Index::new("rbac.example.io"), PolicyName::namespaced("n", "b"));
        let mut set = |role: &str, users: &[&str]| {
            let subjects = users.iter().map(|user| Subject::User((*user).to_owned())).collect();
            let binding = Binding { role: PolicyName::of_cluster(role), subjects };
            index.set_binding(&name, Some(binding));
            let reason = |user: &str| Arc::clone(&index.users[user].local("n")[0].reason);
            (index.users.len(), reason("a"), reason(users[users.len() - 1]))
        };
        let (_, a, b) = set("r", &["a", "b"]);
        let (users, still_a, c) = set("r", &["a", "c"]);
        assert!(users == 2 && Arc::ptr_eq(&a, &still_a) && b != c);
        let (users, still_a, still_c) = set("r", &["a", "b", "c"]);
        assert!(users == 3 && Arc::ptr_eq(&a, &still_a) && Arc::ptr_eq(&c, &still_c));
        let (users, other_a, _) = set("s", &["a"]);
        assert!(users == 1 && a != other_a, "{other_a}");
        assert_eq!(index.listing().first().unwrap(), "1 subjects, 1 roles");
    }

    #[test]
    fn of_many_missing_roles_some_are_told() {
        let (mut index, user) = (Index::new("rbac.example.io"), UserInfo::new("bob", [""; 0]));
        for number in 0..1000 {
            let role = PolicyName::namespaced("n", format!("r{number}"));
            let binding = Binding { role, subjects: vec![Subject::User("bob".to_owned())] };
            index.set_binding(&PolicyName::namespaced("n", format!("b{number}")), Some(binding));
        }
        assert_eq!(index.missing(&user, "n").len(), MISSING_SHOWN);
        assert_eq!(index.missing_for(&user, "n", "roles").len(), MISSING_SHOWN);
    }
}
