//! The message to somebody who gives away what they do not have.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::policy::PolicyRule;

/// The longest list of permissions in a message, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

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

/// Puts rules together that differ in their verbs alone and are about one resource.
pub(super) fn compact(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
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
pub(super) fn shown(rule: &PolicyRule) -> String {
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
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn rule(verbs: &str, resources: &str) -> PolicyRule {
        let groups = vec![String::new()];
        PolicyRule { verbs: list(verbs), groups, resources: list(resources), ..PolicyRule::default() }
    }

    #[test]
    fn the_message_lists_each_permission_once_in_order() {
        let wanted = [rule("get", "pods"), rule("get", "pods"), rule("list", "a")];
        let missing = wanted.to_vec();
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
        let wanted = PolicyRule { verbs, ..rule("", "pods") };
        let message = refusal("bob", &[], vec![wanted], &[]);
        assert!(message.len() < 2 * MAX_SHOWN && message.ends_with("..."), "{} bytes", message.len());
    }
}
