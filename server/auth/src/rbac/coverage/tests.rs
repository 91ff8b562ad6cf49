//! Tests of what is missing of rules that somebody wants to give away.

use std::sync::Arc;

use super::*;
use crate::rbac::{permission::Permission, refusal};

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

/// A role of each rule.
fn roles(rules: &[&PolicyRule]) -> SharedRules {
    SharedRules(rules.iter().map(|rule| Arc::new(RuleSet::new(vec![(*rule).clone()]))).collect())
}

fn missing_in<'w>(owned: &SharedRules, wanted: &'w [PolicyRule]) -> Missing<'w> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(super::missing(owned, wanted))
}

fn missing<'w>(owned: &[&PolicyRule], wanted: &'w [PolicyRule]) -> Missing<'w> {
    missing_in(&roles(owned), wanted)
}

fn lacking(owned: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<String> {
    let owned: Vec<&PolicyRule> = owned.iter().collect();
    refusal::lines(&missing(&owned, wanted)).collect()
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
            vec![r#"{APIGroups:["batch"], Resources:["jobs"], ResourceNames:["three"], Verbs:["patch"]}"#],
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
    assert_eq!(missing(&[&half], &wanted).whole, [&huge]);
    // What comes after it is still taken apart.
    let wanted = [huge.clone(), rule("get list", "-", "pods", "")];
    let reader = rule("get", "-", "pods", "");
    let missing = missing(&[&reader], &wanted);
    assert_eq!(missing.whole, [&huge]);
    let lists_pods = Permission::Resource { verb: "list", group: "", resource: "pods", name: None };
    assert_eq!(missing.permissions, [lists_pods]);
}

/// A role of some hundred bytes has 10^5 permissions, and its texts may be long. Nothing is copied, and
/// what a message cannot show is not looked for.
#[test]
fn of_many_missing_permissions_some_are_found() {
    let many = |letter: &str| (0..21).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
    let role = |count: usize| PolicyRule {
        verbs: many("v"),
        groups: many("g"),
        resources: many("r"),
        names: (0..count).map(|n| format!("n{n}")).collect(),
        ..PolicyRule::default()
    };
    let small = rule("get", "-", "pods", "");
    let wanted = [role(5), small.clone()];
    let found = missing(&[], &wanted);
    assert!(found.is_full() && found.permissions.len() < 5_000, "{}", found.permissions.len());
    // With more of them it is one rule.
    let wanted = [role(21), small];
    let found = missing(&[], &wanted);
    assert_eq!((found.whole.len(), found.permissions.len(), found.is_full()), (1, 1, false));
    let long = "x".repeat(100_000);
    let wanted = [PolicyRule { verbs: list("get list watch"), resources: vec![long], ..role(5) }];
    assert_eq!(missing(&[], &wanted).permissions.len(), 2);
}

/// With lists that are gone through for each entry of another one there would be too many steps.
#[test]
fn long_lists_are_compared_in_few_steps() {
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
    assert!(missing(&[&owner], &[wanted]).is_empty());
    let foreign = [foreign];
    assert_eq!(missing(&[&owner], &foreign).whole.len(), 1);
}

#[tokio::test]
async fn steps_are_counted() {
    let owned = [rule("get", "*", "*/log", "")];
    let owned = roles(&[&owned[0]]);
    let wanted = rule("get", "-", "a/log b/log", "");
    let near = near(&owned, &wanted, &mut Work::new(0)).await;
    let wanted_once = distinct(&wanted, &mut Work::new(0)).await;
    // One for the rule, three for its entries, four for those that are wanted.
    for (allowed, left, is_covered) in [(1, 0, false), (7, 0, false), (8, 0, true), (9, 1, true)] {
        let mut work = Work::new(allowed);
        let covered = cover(&near, Digest::of(&wanted), &wanted_once, &mut work).await;
        assert_eq!((covered, work.left), (is_covered, left), "{allowed}");
    }
    for (allowed, missing) in [(0, 2), (1, 1), (2, 0)] {
        let (mut work, mut found) = (Work::new(allowed), Missing::default());
        take_apart(&wanted_once, &near, &mut found, &mut work).await;
        assert_eq!(found.permissions.len(), missing, "{allowed}");
    }
}

/// Also beside others that they have: nothing is made of these.
#[test]
fn a_long_role_is_given_away_by_whoever_has_it() {
    let role = |letter: &str| -> Vec<_> {
        (0..9_000).map(|n| rule("get", "-", "configmaps", &format!("{letter}{n}"))).collect()
    };
    let owned = ["a", "b", "c"].map(|letter| Arc::new(RuleSet::new(role(letter))));
    let owned = SharedRules(owned.to_vec());
    assert!(missing_in(&owned, &role("c")).is_empty());
    assert!(missing_in(&owned, &role("d")).is_full());
}

#[tokio::test]
async fn others_go_on_while_much_is_compared() {
    let role = |letter: &str| -> Vec<_> {
        (0..1_000).map(|n| rule("get", "-", "configmaps", &format!("{letter}{n}"))).collect()
    };
    let set = Arc::new(RuleSet::new(role("a")));
    let owned = SharedRules(vec![set; 150]);
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
        missing = super::missing(&owned, &wanted) => assert_eq!(missing.permissions.len(), 1_000),
        () = others => unreachable!("it has no end"),
    }
    assert!(turns.get() > 20, "{turns:?}");
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
