//! The message to a user who grants permissions that they do not have.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt::Write as _,
};

use super::{
    permission::{Missing, Permission},
    policy::PolicyRule,
};

/// The longest list of permissions in a message, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

/// The message to a user who lacks permissions that they want to give away. `problems` are roles of the user
/// that could not be found.
pub fn refusal(name: &str, groups: &[String], missing: &Missing<'_>, problems: &[String]) -> String {
    let lines: BTreeSet<String> = lines(missing).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut shown = lines.join("\n");
    if shown.len() > MAX_SHOWN || missing.is_full() {
        shown.truncate(shown.floor_char_boundary(MAX_SHOWN));
        shown.push_str("...");
    }
    let mut message = format!("user {name:?} (groups=");
    push_quoted(&mut message, groups);
    message.push_str(") is attempting to grant RBAC permissions not currently held:\n");
    message.push_str(&shown);
    if !problems.is_empty() {
        message.push_str("; resolution errors: [");
        message.push_str(&problems.join(" "));
        message.push(']');
    }
    message
}

/// What is missing as messages show it, a line for each resource with all verbs:
/// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
pub(super) fn lines(missing: &Missing<'_>) -> impl Iterator<Item = String> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), Vec<&str>> = BTreeMap::new();
    let (mut seen, mut paths) = (HashSet::new(), Vec::new());
    for permission in missing.permissions.iter().filter(|permission| seen.insert(**permission)) {
        match *permission {
            Permission::Resource { verb, group, resource, name } => {
                verbs.entry((group, resource, name)).or_default().push(verb);
            }
            Permission::Path { verb, path } => paths.push(line([&[], &[], &[path], &[], &[verb]])),
        }
    }
    let of_resource = |((group, resource, name), verbs): ((&str, &str, Option<&str>), Vec<&str>)| {
        line([&[group], &[resource], &[], name.as_slice(), &verbs])
    };
    let of_rule = |rule: &&PolicyRule| {
        let PolicyRule { verbs, groups, resources, names, paths } = *rule;
        line([groups, resources, paths, names, verbs])
    };
    let whole = missing.whole.iter().map(of_rule);
    whole.chain(paths).chain(verbs.into_iter().map(of_resource))
}

/// A rule in one line.
fn line<T: AsRef<str>>(lists: [&[T]; 5]) -> String {
    const NAMES: [&str; 5] = ["APIGroups", "Resources", "NonResourceURLs", "ResourceNames", "Verbs"];
    let mut line = "{".to_owned();
    for (name, list) in NAMES.into_iter().zip(lists).filter(|(_, list)| !list.is_empty()) {
        if line.len() > 1 {
            line.push_str(", ");
        }
        line.push_str(name);
        line.push(':');
        push_quoted(&mut line, list);
    }
    line.push('}');
    line
}

/// Adds a list of texts. What would be cut off again is not written.
fn push_quoted<T: AsRef<str>>(line: &mut String, list: &[T]) {
    line.push('[');
    for (number, text) in list.iter().map(T::as_ref).enumerate() {
        if line.len() > MAX_SHOWN {
            break;
        }
        if number > 0 {
            line.push(' ');
        }
        let end = text.floor_char_boundary(MAX_SHOWN);
        let _ = write!(line, "{:?}", &text[..end]);
    }
    line.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn lacking<'w>(permissions: &[(&'w str, &'w str)]) -> Missing<'w> {
        let mut missing = Missing::default();
        for &(verb, resource) in permissions {
            missing.add(Permission::Resource { verb, group: "", resource, name: None });
        }
        missing
    }

    #[test]
    fn the_message_lists_each_permission_once_in_order() {
        let missing = lacking(&[("get", "pods"), ("watch", "pods"), ("get", "pods"), ("list", "a")]);
        let groups = list("devs system:authenticated");
        let message = "user \"bob\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC \
             permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"a\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"watch\"]}";
        assert_eq!(refusal("bob", &groups, &missing, &[]), message);
        let problems = ["x not found".to_owned(), "y not found".to_owned()];
        assert_eq!(
            refusal("bob", &groups, &missing, &problems),
            format!("{message}; resolution errors: [x not found y not found]")
        );
    }

    /// By its permissions, by a rule, and by single texts.
    #[test]
    fn a_long_message_is_cut() {
        let verbs: Vec<String> = (0..100_000).map(|n| format!("v{n}")).collect();
        let named: Vec<_> = verbs.iter().map(|verb| (verb.as_str(), "pods")).collect();
        let rule = PolicyRule { verbs: verbs.clone(), groups: list("a"), ..PolicyRule::default() };
        let long = "\u{1}".repeat(1_000_000);
        let mut whole = Missing::default();
        whole.add_whole(&rule);
        for missing in [lacking(&named), whole, lacking(&[("get", &long)])] {
            let message = refusal("bob", &[], &missing, &[]);
            assert!(message.len() < 2 * MAX_SHOWN && message.ends_with("..."), "{} bytes", message.len());
            let lines: usize = lines(&missing).map(|line| line.len()).sum();
            assert!(lines < 2_000_000, "{lines}");
        }
    }
}
