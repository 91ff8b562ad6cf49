//! Whether the rules that somebody has include the rules that they want to give away.
//!
//! A rule is taken apart into the smallest permissions (one verb, one group, one resource, one name), and
//! each must be in some rule of the owner. What is missing is put together again for the message.
//!
//! The number of these permissions is the product of the lengths of the lists. So that a short role cannot
//! cost much time, a rule that has too many of them is only compared whole.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{policy::PolicyRule, rule::covers_path};

/// How many comparisons of a permission with a rule are made before rules are compared whole.
const MAX_COMPARISONS: usize = 200_000;

/// The longest list of permissions in a message, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

/// What of `wanted` is in no rule of `owned`.
pub fn missing<'a>(
    owned: &[&PolicyRule],
    wanted: impl IntoIterator<Item = &'a PolicyRule>,
) -> Vec<PolicyRule> {
    let mut left = MAX_COMPARISONS;
    let mut missing = Vec::new();
    for rule in wanted {
        if owned.iter().any(|owner| covers(owner, rule)) {
            continue;
        }
        let parts = count_of_parts(rule);
        match parts.checked_mul(owned.len().max(1)).and_then(|cost| left.checked_sub(cost)) {
            Some(rest) => {
                left = rest;
                let lacking = |part: &PolicyRule| !owned.iter().any(|owner| covers(owner, part));
                missing.extend(parts_of(rule).filter(lacking));
            }
            None => missing.push(rule.clone()),
        }
    }
    missing
}

/// The message to a user who lacks permissions that they want to give away. `problems` are roles of the user
/// that could not be found.
pub fn refusal(name: &str, groups: &[String], missing: Vec<PolicyRule>, problems: &[String]) -> String {
    let shown: BTreeSet<String> = compact(missing).iter().map(shown).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let mut shown = shown.join("\n");
    if shown.len() > MAX_SHOWN {
        shown.truncate(shown.floor_char_boundary(MAX_SHOWN));
        shown.push_str("...");
    }
    let mut message = format!(
        "user {name:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{shown}",
        quoted(groups),
    );
    if !problems.is_empty() {
        message.push_str("; resolution errors: [");
        message.push_str(&problems.join(" "));
        message.push(']');
    }
    message
}

/// Whether one rule includes another one as a whole.
fn covers(owner: &PolicyRule, wanted: &PolicyRule) -> bool {
    has_all(&owner.verbs, &wanted.verbs)
        && has_all(&owner.groups, &wanted.groups)
        && wanted.resources.iter().all(|resource| covers_resource(&owner.resources, resource))
        && wanted.paths.iter().all(|path| owner.paths.iter().any(|pattern| covers_path(pattern, path)))
        && match (owner.names.as_slice(), wanted.names.as_slice()) {
            ([], _) => true,
            (_, []) => false,
            (has, wanted) => wanted.iter().all(|name| has.contains(name)),
        }
}

fn has_all(owned: &[String], wanted: &[String]) -> bool {
    let has = |wanted: &str| owned.iter().any(|entry| entry == wanted);
    has("*") || wanted.iter().all(|wanted| has(wanted))
}

fn covers_resource(owned: &[String], wanted: &str) -> bool {
    let has = |wanted: &str| owned.iter().any(|entry| entry == wanted);
    has("*")
        || has(wanted)
        || wanted.split_once('/').is_some_and(|(_, subresource)| has(&format!("*/{subresource}")))
}

fn count_of_parts(rule: &PolicyRule) -> usize {
    let PolicyRule { verbs, groups, resources, names, paths } = rule;
    let lengths = [groups.len(), resources.len(), names.len().max(1)];
    let of_resources = lengths.into_iter().fold(1, usize::saturating_mul);
    verbs.len().saturating_mul(of_resources.saturating_add(paths.len()))
}

/// The smallest permissions of a rule. An empty list of names stays empty, as it means all.
fn parts_of(rule: &PolicyRule) -> impl Iterator<Item = PolicyRule> {
    let PolicyRule { verbs, groups, resources, names, paths } = rule;
    let any_name = [None];
    let names: Vec<Option<&String>> =
        if names.is_empty() { any_name.to_vec() } else { names.iter().map(Some).collect() };
    verbs.iter().flat_map(move |verb| {
        let names = names.clone();
        let of_resources = groups.iter().flat_map(move |group| {
            let names = names.clone();
            resources.iter().flat_map(move |resource| {
                names.clone().into_iter().map(move |name| PolicyRule {
                    verbs: vec![verb.clone()],
                    groups: vec![group.clone()],
                    resources: vec![resource.clone()],
                    names: name.into_iter().cloned().collect(),
                    paths: Vec::new(),
                })
            })
        });
        let of_paths = paths.iter().map(|path| PolicyRule {
            verbs: vec![verb.clone()],
            paths: vec![path.clone()],
            ..PolicyRule::default()
        });
        of_resources.chain(of_paths)
    })
}

/// Puts rules together that differ in their verbs alone and are about one resource.
fn compact(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
    /// A group, a resource and at most one name.
    type About = (String, String, Vec<String>);
    /// In the order in which they came, and for looking up.
    type Verbs = (Vec<String>, HashSet<String>);
    let mut compacted = Vec::new();
    let mut simple: BTreeMap<About, Verbs> = BTreeMap::new();
    for rule in rules {
        let is_simple = rule.groups.len() == 1 && rule.resources.len() == 1 && rule.names.len() <= 1;
        if !is_simple || !rule.paths.is_empty() {
            compacted.push(rule);
            continue;
        }
        let PolicyRule { verbs, mut groups, mut resources, names, .. } = rule;
        let key = (groups.remove(0), resources.remove(0), names);
        let (in_order, known) = simple.entry(key).or_default();
        for verb in verbs {
            if known.insert(verb.clone()) {
                in_order.push(verb);
            }
        }
    }
    compacted.extend(simple.into_iter().map(|((group, resource, names), (verbs, _))| PolicyRule {
        verbs,
        groups: vec![group],
        resources: vec![resource],
        names,
        paths: Vec::new(),
    }));
    compacted
}

/// A rule as messages show it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
fn shown(rule: &PolicyRule) -> String {
    let fields = [
        ("APIGroups", &rule.groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.paths),
        ("ResourceNames", &rule.names),
        ("Verbs", &rule.verbs),
    ];
    let filled = fields.iter().filter(|(_, list)| !list.is_empty());
    let shown: Vec<String> = filled.map(|(name, list)| format!("{name}:{}", quoted(list))).collect();
    format!("{{{}}}", shown.join(", "))
}

fn quoted(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(|word| if word == "-" { "" } else { word }.to_owned()).collect()
    }

    /// Verbs, groups, resources and names; `-` is the core group.
    fn rule(verbs: &str, groups: &str, resources: &str, names: &str) -> PolicyRule {
        PolicyRule {
            verbs: list(verbs),
            groups: list(groups),
            resources: list(resources),
            names: list(names),
            paths: Vec::new(),
        }
    }

    fn paths(verbs: &str, paths: &str) -> PolicyRule {
        PolicyRule { verbs: list(verbs), paths: list(paths), ..PolicyRule::default() }
    }

    fn lacking(owned: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<String> {
        let owned: Vec<&PolicyRule> = owned.iter().collect();
        compact(missing(&owned, wanted)).iter().map(shown).collect()
    }

    #[test]
    fn several_rules_together_may_cover_one() {
        let owned = [
            rule("get list", "-", "pods", ""),
            rule("watch", "-", "*", ""),
            rule("get", "apps", "*/scale", ""),
            rule("*", "batch", "jobs", "one two"),
            paths("get", "/api/* /version"),
        ];
        for (wanted, expected) in [
            (rule("get list watch", "-", "pods", ""), vec![]),
            (rule("get", "-", "pods", "a"), vec![]),
            (
                rule("get delete", "-", "pods secrets", ""),
                vec![
                    r#"{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}"#,
                    r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}"#,
                ],
            ),
            (rule("get", "apps", "daemonsets/scale", ""), vec![]),
            (
                rule("get", "apps", "daemonsets", ""),
                vec![r#"{APIGroups:["apps"], Resources:["daemonsets"], Verbs:["get"]}"#],
            ),
            (rule("patch", "batch", "jobs", "two one"), vec![]),
            (
                rule("patch", "batch", "jobs", "one three"),
                vec![
                    r#"{APIGroups:["batch"], Resources:["jobs"], ResourceNames:["three"], Verbs:["patch"]}"#,
                ],
            ),
            // A rule that is limited to names does not cover one for all names.
            (
                rule("get", "batch", "jobs", ""),
                vec![r#"{APIGroups:["batch"], Resources:["jobs"], Verbs:["get"]}"#],
            ),
            (rule("*", "-", "pods", ""), vec![r#"{APIGroups:[""], Resources:["pods"], Verbs:["*"]}"#]),
            (rule("watch", "-", "*", ""), vec![]),
            (rule("watch", "*", "*", ""), vec![r#"{APIGroups:["*"], Resources:["*"], Verbs:["watch"]}"#]),
            (paths("get", "/api/v1 /api/* /version"), vec![]),
            (
                paths("get", "/api /*"),
                vec![
                    r#"{NonResourceURLs:["/api"], Verbs:["get"]}"#,
                    r#"{NonResourceURLs:["/*"], Verbs:["get"]}"#,
                ],
            ),
        ] {
            assert_eq!(lacking(&owned, std::slice::from_ref(&wanted)), expected, "{wanted:?}");
        }
    }

    #[test]
    fn the_message_lists_each_permission_once_in_order() {
        let wanted = [rule("get", "-", "pods", ""), rule("get", "-", "pods", ""), rule("list", "-", "a", "")];
        let missing = missing(&[], &wanted);
        let groups = list("devs system:authenticated");
        let message = "user \"bob\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC \
             permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"a\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}";
        assert_eq!(refusal("bob", &groups, missing.clone(), &[]), message);
        let problems = ["x not found".to_owned(), "y not found".to_owned()];
        assert_eq!(
            refusal("bob", &groups, missing, &problems),
            format!("{message}; resolution errors: [x not found y not found]")
        );
    }

    #[test]
    fn a_long_message_is_cut() {
        let verbs = (0..100_000).map(|n| format!("v{n}")).collect();
        let wanted = PolicyRule { verbs, ..rule("", "-", "pods", "") };
        let message = refusal("bob", &[], missing(&[], [&wanted]), &[]);
        assert!(message.len() < 2 * MAX_SHOWN && message.ends_with("..."), "{} bytes", message.len());
    }

    /// A role of a few kilobytes has 10^9 permissions.
    #[test]
    fn a_rule_with_too_many_permissions_is_compared_whole() {
        let many = |letter: &str| (0..1000).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
        let huge =
            PolicyRule { verbs: many("v"), groups: many("g"), resources: many("r"), ..PolicyRule::default() };
        let all = rule("*", "*", "*", "");
        assert!(missing(&[&all], [&huge]).is_empty());
        let half = rule("*", "*", "r1", "");
        assert_eq!(missing(&[&half], [&huge]), std::slice::from_ref(&huge));
        // What comes after it is still taken apart.
        let small = rule("get list", "-", "pods", "");
        let reader = rule("get", "-", "pods", "");
        assert_eq!(missing(&[&reader], [&huge, &small]), [huge.clone(), rule("list", "-", "pods", "")]);
    }
}
