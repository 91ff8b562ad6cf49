//! Whether the rules that somebody has include the rules that they want to give away.
//!
//! A rule is taken apart into the smallest permissions (one verb, one group, one resource, one name), and
//! each must be in some rule of the owner.
//!
//! The number of these permissions is the product of the lengths of the lists. So that a short role cannot
//! cost much time, a rule that has too many of them is only compared whole. That takes time too where both
//! sides are long: the lists of the owner are sorted once, entries that are sorted or looked up are counted,
//! and others get the thread in between.

use std::collections::HashSet;

use tokio::task::yield_now;

use super::{
    policy::PolicyRule,
    rule::{Digest, Rule},
};

/// How many comparisons of a permission with a rule are made before rules are compared whole.
const MAX_COMPARISONS: usize = 200_000;

/// How many entries of the owner's lists are sorted. Rules beyond these do not count.
const MAX_SORTED: usize = 5_000_000;

/// How many entries are looked up, a second or two at most. Then nothing is found any more, and what is left
/// counts as missing.
const MAX_LOOKUPS: usize = 5_000_000;

/// After how many of them others get the thread: some milliseconds.
const SLICE: usize = 20_000;

/// What of `wanted` is in no rule of `owned`.
pub async fn missing<'o, 'w>(
    owned: impl IntoIterator<Item = &'o Rule>,
    wanted: impl IntoIterator<Item = &'w PolicyRule> + Clone,
) -> Vec<PolicyRule> {
    let about = wanted.clone().into_iter().map(Digest::of).fold(Digest::default(), Digest::union);
    let owned = owned.into_iter().filter(|rule| rule.digest().overlaps(about));
    let owners = Owners::new(owned, &mut Work::new(MAX_SORTED)).await;
    let mut work = Work::new(MAX_LOOKUPS);
    let mut left = MAX_COMPARISONS;
    let mut missing = Vec::new();
    for rule in wanted {
        let distinct = without_repeats(rule);
        let parts = count_of_parts(&distinct);
        if parts == 0 || owners.cover(&distinct, &mut work).await {
            continue;
        }
        match parts.checked_mul(owners.prepared.len().max(1)).and_then(|cost| left.checked_sub(cost)) {
            Some(rest) => {
                left = rest;
                for part in parts_of(&distinct) {
                    if !owners.cover(&part, &mut work).await {
                        missing.push(part);
                    }
                }
            }
            None => missing.push(rule.clone()),
        }
    }
    missing
}

/// What may still be done.
struct Work {
    left: usize,
    /// What was left when others had the thread.
    paused_at: usize,
}

impl Work {
    fn new(left: usize) -> Self {
        Work { left, paused_at: left }
    }

    async fn pause(&mut self) {
        if self.paused_at - self.left > SLICE {
            self.paused_at = self.left;
            yield_now().await;
        }
    }

    /// Counts entries; whether there are so many left.
    fn take(&mut self, entries: usize) -> bool {
        let left = self.left.checked_sub(entries);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}

/// The rules of somebody, ready to be looked up in.
struct Owners<'a> {
    /// Whoever gives away a role that they have, has its rules as they stand.
    whole: HashSet<&'a PolicyRule>,
    prepared: Vec<Owner<'a>>,
}

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
    /// Each rule counts once, however many roles have it.
    async fn new(rules: impl Iterator<Item = &'a Rule>, work: &mut Work) -> Self {
        let mut owners = Owners { whole: HashSet::new(), prepared: Vec::new() };
        for rule in rules.map(Rule::policy) {
            if !work.take(1 + rule.values()) {
                break;
            }
            if owners.whole.insert(rule) {
                owners.prepared.push(Owner::new(rule));
            }
            work.pause().await;
        }
        owners
    }

    /// Whether one of them includes a rule as a whole.
    async fn cover(&self, wanted: &PolicyRule, work: &mut Work) -> bool {
        if self.whole.contains(wanted) {
            return true;
        }
        for owner in &self.prepared {
            if !work.take(1) {
                return false;
            }
            if owner.covers(wanted, &mut work.left) {
                return true;
            }
            work.pause().await;
        }
        false
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::rbac::refusal::{compact, shown};

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

    fn missing(owned: &[&PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
        let owned: Vec<Rule> = owned.iter().map(|rule| Rule::new((*rule).clone())).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(super::missing(&owned, wanted))
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

    /// A role of a few kilobytes has 10^9 permissions.
    #[test]
    fn a_rule_with_too_many_permissions_is_compared_whole() {
        let many = |letter: &str| (0..1000).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
        let huge =
            PolicyRule { verbs: many("v"), groups: many("g"), resources: many("r"), ..PolicyRule::default() };
        let all = rule("*", "*", "*", "");
        let wanted = [huge.clone()];
        assert!(missing(&[&all], &wanted).is_empty());
        let half = rule("*", "*", "r1", "");
        assert_eq!(missing(&[&half], &wanted), wanted);
        // What comes after it is still taken apart.
        let small = rule("get list", "-", "pods", "");
        let reader = rule("get", "-", "pods", "");
        assert_eq!(missing(&[&reader], &[huge.clone(), small]), [huge, rule("list", "-", "pods", "")]);
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
        assert!(missing(&[&owner], &[wanted]).is_empty());
        let foreign = [foreign];
        assert_eq!(missing(&[&owner], &foreign).len(), 50_000);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn what_is_sorted_and_looked_up_is_counted() {
        let owned = [Rule::new(rule("get", "*", "*/log", ""))];
        let wanted = rule("get", "-", "a/log b/log", "");
        // Four to prepare the owner, five to look.
        for (allowed, left, is_covered) in
            [(3, 0, false), (4, 0, false), (8, 0, false), (9, 0, true), (10, 1, true)]
        {
            let mut work = Work::new(allowed);
            let owners = Owners::new(owned.iter(), &mut work).await;
            let covered = owners.cover(&wanted, &mut work).await;
            assert_eq!((covered, work.left), (is_covered, left), "{allowed}");
        }
    }

    /// Each rule is found as it stands; to compare it with all others would be too much.
    #[test]
    fn a_long_role_is_given_away_by_whoever_has_it() {
        let role: Vec<_> = (0..9_000).map(|n| rule("get", "-", "configmaps", &format!("n{n}"))).collect();
        let owned: Vec<&PolicyRule> = role.iter().collect();
        assert_eq!(missing(&owned, &role), []);
    }

    #[tokio::test]
    async fn others_go_on_while_much_is_compared() {
        let role = |letter: &str| -> Vec<_> {
            (0..1_000).map(|n| rule("get", "-", "configmaps", &format!("{letter}{n}"))).collect()
        };
        let owned: Vec<Rule> = role("a").into_iter().map(Rule::new).collect();
        let turns = std::cell::Cell::new(0);
        let others = async {
            loop {
                turns.set(turns.get() + 1);
                yield_now().await;
            }
        };
        let wanted = role("b");
        tokio::select! {
            biased;
            missing = super::missing(&owned, &wanted) => assert_eq!(missing.len(), 1_000),
            () = others => unreachable!("it has no end"),
        }
        assert!(turns.get() > 50, "{turns:?}");
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
