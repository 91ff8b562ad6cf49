//! Whether one rule matches a request.
//!
//! A decision looks at many rules, most of which are about other resources. So a rule carries two sets of
//! bits, made of its verbs and its resources. What a request needs and these lack cannot match; the texts are
//! compared only for the rest.

use orch_runtime::same_text::same_text;

use super::{permission::Permission, policy::PolicyRule};
use crate::authorizer::{Attributes, Target};

/// Stands for everything in the lists of a rule.
const ALL: &str = "*";

/// A set of verbs or resources, as bits; it may hold more than it should, never less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    verbs: u32,
    resources: u64,
}

/// A rule that is ready to be compared.
#[derive(Clone, Debug)]
pub struct Rule {
    policy: PolicyRule,
    digest: Digest,
}

/// A request that is ready to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    attributes: Attributes<'a>,
    digest: Digest,
}

impl Digest {
    /// What is in either of them.
    pub fn union(self, other: Self) -> Self {
        Self { verbs: self.verbs | other.verbs, resources: self.resources | other.resources }
    }

    /// Whether something of it may match the request.
    pub fn may_match(self, question: &Question<'_>) -> bool {
        self.overlaps(question.digest)
    }

    /// Whether both may have a verb and a resource in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.verbs & other.verbs != 0 && self.resources & other.resources != 0
    }

    /// What a rule is about.
    pub fn of(rule: &PolicyRule) -> Self {
        let verbs = rule.verbs.iter().fold(0, |bits, verb| bits | verb_bits(verb));
        let of_paths = if rule.paths.is_empty() { 0 } else { PATH_BIT };
        let resources = rule.resources.iter().fold(of_paths, |bits, resource| {
            let is_pattern = resource == ALL || resource.starts_with("*/");
            bits | if is_pattern { !PATH_BIT } else { resource_bit(resource, "") }
        });
        Digest { verbs, resources }
    }

    /// What a permission is about.
    pub fn of_permission(permission: &Permission<'_>) -> Self {
        let (verb, resources) = match permission {
            Permission::Resource { verb, resource, .. } => (verb, resource_bit(resource, "")),
            Permission::Path { verb, .. } => (verb, PATH_BIT),
        };
        Digest { verbs: verb_bits(verb), resources }
    }
}

impl Rule {
    /// Prepares a rule.
    pub fn new(policy: PolicyRule) -> Self {
        let digest = Digest::of(&policy);
        Rule { policy, digest }
    }

    /// As it was given.
    pub fn policy(&self) -> &PolicyRule {
        &self.policy
    }

    /// What it may match.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether it allows the request.
    pub fn allows(&self, question: &Question<'_>) -> bool {
        let PolicyRule { verbs, groups, resources, names, paths } = &self.policy;
        let Attributes { verb, target, .. } = question.attributes;
        self.digest.may_match(question)
            && has(verbs, verb)
            && match target {
                Target::Path(path) => paths.iter().any(|pattern| covers_path(pattern, path)),
                Target::Resource(target) => {
                    let is_named =
                        |pattern: &String| covers_resource(pattern, target.resource, target.subresource);
                    has(groups, target.group)
                        && resources.iter().any(is_named)
                        && (names.is_empty() || names.iter().any(|name| name == target.name))
                }
            }
    }

    /// Whether it includes a permission.
    pub fn includes(&self, permission: &Permission<'_>) -> bool {
        let PolicyRule { verbs, groups, resources, names, paths } = &self.policy;
        match *permission {
            Permission::Path { verb, path } => {
                has(verbs, verb) && paths.iter().any(|pattern| covers_path(pattern, path))
            }
            Permission::Resource { verb, group, resource, name } => {
                let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
                let is_of_every =
                    |pattern: &str| subresource.is_some() && pattern.strip_prefix("*/") == subresource;
                let covers = |pattern: &String| pattern == resource || pattern == ALL || is_of_every(pattern);
                has(verbs, verb)
                    && has(groups, group)
                    && resources.iter().any(covers)
                    && (names.is_empty() || name.is_some_and(|name| names.iter().any(|own| own == name)))
            }
        }
    }
}

impl<'a> Question<'a> {
    /// Prepares a request.
    pub fn new(attributes: &Attributes<'a>) -> Self {
        let resources = match attributes.target {
            Target::Path(_) => PATH_BIT,
            Target::Resource(target) => resource_bit(target.resource, target.subresource),
        };
        let verbs = match verb_bits(attributes.verb) {
            // A request for the verb `*` needs a rule that says `*`, whose bits are all set.
            ALL_VERBS => OTHER_VERB,
            bit => bit,
        };
        Question { attributes: *attributes, digest: Digest { verbs, resources } }
    }

    /// What is to be done.
    pub fn verb(&self) -> &'a str {
        self.attributes.verb
    }

    /// What it is about.
    pub fn target(&self) -> &Target<'a> {
        &self.attributes.target
    }
}

/// Whether a list of verbs or groups has an entry, or `*`.
fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|entry| same_text(entry, wanted) || entry == ALL)
}

/// Whether a resource of a rule is the one of a request: `*` is every one, `pods/log` one sub-resource, and
/// `*/scale` the sub-resource `scale` of every resource. `pods` has none of the sub-resources.
fn covers_resource(pattern: &str, resource: &str, subresource: &str) -> bool {
    if pattern == ALL {
        return true;
    }
    if subresource.is_empty() {
        return pattern == resource;
    }
    pattern
        .strip_suffix(subresource)
        .and_then(|rest| rest.strip_suffix('/'))
        .is_some_and(|pattern| pattern == resource || pattern == ALL)
}

/// Whether a path of a rule is that of a request.
fn covers_path(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}

/// All verbs that a rule can have.
const ALL_VERBS: u32 = u32::MAX;
/// Any verb that has no bit of its own.
const OTHER_VERB: u32 = 1 << 31;
/// Stands for paths that are not resources.
const PATH_BIT: u64 = 1 << 63;

/// The bit of a verb; all of them for `*`.
fn verb_bits(verb: &str) -> u32 {
    match verb {
        ALL => ALL_VERBS,
        "get" => 1,
        "list" => 1 << 1,
        "watch" => 1 << 2,
        "create" => 1 << 3,
        "update" => 1 << 4,
        "patch" => 1 << 5,
        "delete" => 1 << 6,
        "deletecollection" => 1 << 7,
        _ => OTHER_VERB,
    }
}

/// The bit of a resource with its sub-resource, or of the two written as one text: one of 63, by FNV-1a.
fn resource_bit(resource: &str, subresource: &str) -> u64 {
    const BITS: u64 = 63;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    resource.bytes().for_each(&mut add);
    if !subresource.is_empty() {
        add(b'/');
        subresource.bytes().for_each(&mut add);
    }
    1 << ((hash >> 32) % BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{authorizer::ResourceTarget, user::UserInfo};

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(|word| if word == "-" { "" } else { word }.to_owned()).collect()
    }

    /// Verbs, groups, resources and names; `-` is the core group.
    fn rule(verbs: &str, groups: &str, resources: &str, names: &str) -> Rule {
        let policy = PolicyRule {
            verbs: list(verbs),
            groups: list(groups),
            resources: list(resources),
            names: list(names),
            paths: Vec::new(),
        };
        Rule::new(policy)
    }

    /// A verb, a group, a resource with its sub-resource, and a name.
    fn allows(rule: &Rule, question: [&str; 4]) -> bool {
        let [verb, group, resource, name] = question;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let target = ResourceTarget {
            group,
            version: "v1",
            resource,
            subresource,
            namespace: "n",
            name,
            ..ResourceTarget::default()
        };
        let user = UserInfo::default();
        let attributes = Attributes { user: &user, verb, target: Target::Resource(target) };
        rule.allows(&Question::new(&attributes))
    }

    #[test]
    fn a_rule_matches_what_it_names() {
        let reader = rule("get list", "- apps", "pods pods/log daemonsets", "");
        for (question, allowed) in [
            (["get", "", "pods", "a"], true),
            (["list", "apps", "daemonsets", ""], true),
            (["get", "", "pods/log", "a"], true),
            (["watch", "", "pods", ""], false),
            (["get", "", "pods/status", "a"], false),
            (["get", "", "daemonsets/log", "a"], false),
            (["get", "batch", "pods", "a"], false),
            (["get", "", "log", "a"], false),
            (["*", "", "pods", "a"], false),
            (["get", "*", "pods", "a"], false),
            (["get", "", "*", "a"], false),
        ] {
            assert_eq!(allows(&reader, question), allowed, "{question:?}");
        }
    }

    #[test]
    fn a_star_is_everything_in_its_list() {
        for (rule, question, allowed) in [
            (rule("*", "*", "*", ""), ["impersonate", "x", "y/z", "n"], true),
            (rule("*", "*", "*", ""), ["*", "*", "*", ""], true),
            (rule("get", "", "*", ""), ["get", "", "pods", ""], false),
            (rule("get", "-", "*/scale", ""), ["get", "", "pods/scale", "a"], true),
            (rule("get", "-", "*/scale", ""), ["get", "", "pods", "a"], false),
            (rule("get", "-", "*/scale", ""), ["get", "", "pods/status", "a"], false),
            (rule("get", "-", "pods/*", ""), ["get", "", "pods/log", "a"], false),
            (rule("bind use", "-", "pods", ""), ["use", "", "pods", ""], true),
            (rule("bind use", "-", "pods", ""), ["escalate", "", "pods", ""], false),
        ] {
            assert_eq!(allows(&rule, question), allowed, "{rule:?} {question:?}");
        }
    }

    #[test]
    fn names_limit_a_rule_to_objects_of_these_names() {
        let named = rule("get create", "-", "secrets", "one two");
        for (question, allowed) in [
            (["get", "", "secrets", "one"], true),
            (["get", "", "secrets", "three"], false),
            (["create", "", "secrets", ""], false),
        ] {
            assert_eq!(allows(&named, question), allowed, "{question:?}");
        }
    }

    #[test]
    fn a_path_ends_with_a_star_for_any_rest() {
        let user = UserInfo::default();
        let policy = |verbs: &str, paths: &str| {
            Rule::new(PolicyRule { verbs: list(verbs), paths: list(paths), ..PolicyRule::default() })
        };
        for (verbs, paths, verb, path, allowed) in [
            ("get", "/version", "get", "/version", true),
            ("get", "/version", "get", "/version/", false),
            ("get", "/api/*", "get", "/api/v1", true),
            ("get", "/api/*", "get", "/api/", true),
            ("get", "/api/*", "get", "/api", false),
            ("get", "/healthz", "post", "/healthz", false),
            ("*", "*", "post", "/anything", true),
        ] {
            let attributes = Attributes { user: &user, verb, target: Target::Path(path) };
            let found = policy(verbs, paths).allows(&Question::new(&attributes));
            assert_eq!(found, allowed, "{paths} {path}");
            assert!(!allows(&policy(verbs, paths), ["get", "", path, ""]), "a path is no resource");
        }
        let attributes = Attributes { user: &user, verb: "get", target: Target::Path("pods") };
        assert!(!rule("*", "*", "*", "").allows(&Question::new(&attributes)), "a resource is no path");
    }
}
