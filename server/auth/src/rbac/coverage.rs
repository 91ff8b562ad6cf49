//! Whether the rules that somebody has include the rules that they want to give away.
//!
//! A rule is taken apart into the smallest permissions (one verb, one group, one resource, one name), and
//! each must be in some rule of the owner. What is missing is put together again for the message.
//!
//! The number of these permissions is the product of the lengths of the lists. So that a short role cannot
//! cost much time, a rule that has too many of them is only compared whole. That takes time too where both
//! sides are long: the lists of the owner are sorted once, and the entries that are looked up are counted.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ptr,
};

use super::policy::PolicyRule;

/// How many comparisons of a permission with a rule are made before rules are compared whole.
const MAX_COMPARISONS: usize = 200_000;

/// How many entries of lists are looked up, a second or two at most. Then nothing is found any more, and what
/// is left counts as missing.
const MAX_LOOKUPS: usize = 5_000_000;

/// The longest list of permissions in a message, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

/// What of `wanted` is in no rule of `owned`.
pub fn missing<'a>(
    owned: &[&PolicyRule],
    wanted: impl IntoIterator<Item = &'a PolicyRule>,
) -> Vec<PolicyRule> {
    let owners = Owners::new(owned);
    let (mut left, mut lookups) = (MAX_COMPARISONS, MAX_LOOKUPS);
    let mut missing = Vec::new();
    for rule in wanted {
        let distinct = without_repeats(rule);
        if owners.cover(&distinct, &mut lookups) {
            continue;
        }
        let parts = count_of_parts(&distinct);
        match parts.checked_mul(owners.0.len().max(1)).and_then(|cost| left.checked_sub(cost)) {
            Some(rest) => {
                left = rest;
                missing.extend(parts_of(&distinct).filter(|part| !owners.cover(part, &mut lookups)));
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

/// The rules of somebody, ready to be looked up in.
struct Owners<'a>(Vec<Owner<'a>>);

/// One of them. All lists are sorted.
struct Owner<'a> {
    verbs: Vec<&'a str>,
    groups: Vec<&'a str>,
    resources: Vec<&'a str>,
    names: Vec<&'a str>,
    paths: Vec<&'a str>,
    /// Prefixes of paths, sorted. No prefix begins with another one, so the only one that a path can begin
    /// with is the last that sorts at the path or before it.
    stems: Vec<&'a str>,
}

impl<'a> Owners<'a> {
    /// A role that somebody has by several bindings counts once.
    fn new(rules: &[&'a PolicyRule]) -> Self {
        let mut seen = HashSet::new();
        let rules = rules.iter().filter(|rule| seen.insert(ptr::from_ref::<PolicyRule>(rule)));
        Owners(rules.map(|rule| Owner::new(rule)).collect())
    }

    /// Whether one of them includes a rule as a whole.
    fn cover(&self, wanted: &PolicyRule, lookups: &mut usize) -> bool {
        self.0.iter().any(|owner| owner.covers(wanted, lookups))
    }
}

impl<'a> Owner<'a> {
    fn new(PolicyRule { verbs, groups, resources, names, paths }: &'a PolicyRule) -> Self {
        let stems = paths.iter().filter(|path| path.ends_with('*')).map(|path| path.trim_end_matches('*'));
        let mut stems = sorted(stems);
        stems.dedup_by(|next, kept| next.starts_with(*kept));
        let [verbs, groups, resources, names, paths] =
            [verbs, groups, resources, names, paths].map(|list| sorted(list.iter().map(String::as_str)));
        Owner { verbs, groups, resources, names, paths, stems }
    }

    /// Whether it includes a rule as a whole.
    fn covers(&self, wanted: &PolicyRule, lookups: &mut usize) -> bool {
        let mut all = |list: &[String], has: &dyn Fn(&str) -> bool| {
            list.iter().all(|entry| {
                let left = lookups.checked_sub(1);
                left.inspect(|left| *lookups = *left).is_some() && has(entry)
            })
        };
        all(&wanted.verbs, &|verb| has(&self.verbs, verb) || has(&self.verbs, "*"))
            && all(&wanted.groups, &|group| has(&self.groups, group) || has(&self.groups, "*"))
            && all(&wanted.resources, &|resource| self.covers_resource(resource))
            && all(&wanted.paths, &|path| self.covers_path(path))
            && match (self.names.is_empty(), wanted.names.as_slice()) {
                (true, _) => true,
                (false, []) => false,
                (false, names) => all(names, &|name| has(&self.names, name)),
            }
    }

    fn covers_resource(&self, wanted: &str) -> bool {
        let of_every = |(_, subresource): (&str, &str)| has(&self.resources, &format!("*/{subresource}"));
        has(&self.resources, wanted)
            || has(&self.resources, "*")
            || wanted.split_once('/').is_some_and(of_every)
    }

    fn covers_path(&self, wanted: &str) -> bool {
        let behind = self.stems.partition_point(|stem| *stem <= wanted);
        let stem = behind.checked_sub(1).and_then(|last| self.stems.get(last));
        has(&self.paths, wanted) || stem.is_some_and(|stem| wanted.starts_with(stem))
    }
}

fn sorted<'a>(list: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut list: Vec<&str> = list.collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn has(sorted: &[&str], wanted: &str) -> bool {
    sorted.binary_search(&wanted).is_ok()
}

/// The rule with each entry of a list once, where it first stands.
fn without_repeats(PolicyRule { verbs, groups, resources, names, paths }: &PolicyRule) -> PolicyRule {
    let once = |list: &[String]| {
        let mut seen = HashSet::new();
        list.iter().filter(|entry| seen.insert(*entry)).cloned().collect::<Vec<_>>()
    };
    PolicyRule {
        verbs: once(verbs),
        groups: once(groups),
        resources: once(resources),
        names: once(names),
        paths: once(paths),
    }
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
    use std::time::{Duration, Instant};

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

    #[test]
    fn long_lists_are_compared_fast() {
        let verbs = |count: usize, last: &str| {
            let mut verbs = vec!["list".to_owned(); count];
            verbs.push(last.to_owned());
            verbs
        };
        let paths = |prefix: &str| (0..50_000).map(|n| format!("{prefix}{n}/*")).collect();
        let resources = |word: &str| (0..50_000).map(|n| format!("{word}{n}")).collect();
        let owner = PolicyRule {
            verbs: verbs(100_000, "get"),
            paths: paths("/a"),
            groups: list("-"),
            resources: resources("r"),
            ..PolicyRule::default()
        };
        let wanted = PolicyRule {
            verbs: vec!["get".to_owned(); 100_000],
            paths: (0..50_000).rev().map(|n| format!("/a{n}/b")).collect(),
            ..PolicyRule::default()
        };
        let foreign = PolicyRule { resources: resources("s"), groups: list("-"), ..wanted.clone() };
        let began = Instant::now();
        assert!(missing(&[&owner], [&wanted]).is_empty());
        let foreign = [foreign];
        assert_eq!(missing(&vec![&owner; 1000], &foreign).len(), 50_000);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[test]
    fn what_is_looked_up_is_counted() {
        let (owner, wanted) = (rule("get", "*", "*/log", ""), rule("get", "-", "a/log b/log", ""));
        let owners = Owners::new(&[&owner]);
        for (allowed, left, is_covered) in [(3, 0, false), (4, 0, true), (5, 1, true)] {
            let mut lookups = allowed;
            assert_eq!((owners.cover(&wanted, &mut lookups), lookups), (is_covered, left), "{allowed}");
        }
    }

    #[test]
    fn a_path_is_covered_by_the_beginning_of_any_pattern() {
        let owned = [paths("get", "/a/* /a/b/* /a/bc /b* /c** /d")];
        for (path, is_covered) in [
            ("/a/", true),
            ("/a/b", true),
            ("/a/zz", true),
            ("/a", false),
            ("/b", true),
            ("/bb", true),
            ("/c1", true),
            ("/c*", true),
            ("/d", true),
            ("/d/", false),
            ("/", false),
        ] {
            assert_eq!(lacking(&owned, &[paths("get", path)]).is_empty(), is_covered, "{path}");
        }
    }
}
