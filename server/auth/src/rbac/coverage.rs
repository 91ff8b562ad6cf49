//! Checks of escalation: whether the rules of a user cover the rules that they want to grant.
//!
//! A rule is taken apart into the smallest permissions (one verb, one group, one resource, one name), and
//! each must be in some rule of the owner. The owner may have any number of long roles, so nothing is made of
//! these: each is asked as for a request.
//!
//! The number of permissions is the product of the lengths of the lists. So that a short role cannot cost
//! much time, a rule that has too many of them is only compared whole, and once enough is missing for a long
//! message, nothing else is looked for. What is done is counted, and others get the thread in between.

use std::collections::{BTreeSet, HashSet};

use tokio::task::yield_now;

use super::{
    permission::{Distinct, Missing, Permission},
    policy::PolicyRule,
    rule::{Digest, Rule},
    rule_set::{RuleSet, SharedRules},
};

/// How many questions a rule may make before it is compared whole.
const MAX_QUESTIONS: usize = 50_000;

/// How many steps are made, half a second at most. Then nothing is found any more, and what is left counts
/// as missing.
const MAX_STEPS: usize = 500_000;

/// After how many of them others get the thread: a millisecond or two.
const SLICE: usize = 5_000;

/// So many bytes that are compared count like a step more.
const STEP_BYTES: usize = 256;

/// So many roles, or entries of a list, are passed over in a step.
const PASSED: usize = 16;

/// What of `wanted` is in no rule of `owned`.
pub async fn missing<'w>(
    owned: &SharedRules,
    wanted: impl IntoIterator<Item = &'w PolicyRule>,
) -> Missing<'w> {
    let mut work = Work::new(MAX_STEPS);
    let mut missing = Missing::default();
    for rule in wanted {
        if missing.is_full() {
            break;
        }
        let near = near(owned, rule, &mut work).await;
        let distinct = distinct(rule, &mut work).await;
        let weight: usize = near.iter().map(|near| near.weight).sum();
        if distinct.count().saturating_mul(weight.max(1)) <= MAX_QUESTIONS {
            take_apart(&distinct, &near, &mut missing, &mut work).await;
        } else if !cover(&near, Digest::of(rule), &distinct, &mut work).await {
            missing.add_whole(rule);
        }
    }
    missing
}

/// The rules of a role that may have to do with a rule that is wanted.
struct Near<'o> {
    rules: &'o RuleSet,
    /// How many steps a question takes.
    weight: usize,
}

async fn near<'o>(owned: &'o SharedRules, rule: &PolicyRule, work: &mut Work) -> Vec<Near<'o>> {
    work.take(owned.0.len() / PASSED).await;
    let about = Digest::of(rule);
    let near = owned.sets().filter(|rules| rules.digest().overlaps(about));
    near.map(|rules| Near { rules, weight: rules.weight(rule) }).collect()
}

/// Adds the permissions of a rule that no role has.
async fn take_apart<'w>(rule: &Distinct<'w>, owned: &[Near<'_>], missing: &mut Missing<'w>, work: &mut Work) {
    for permission in rule.permissions() {
        if missing.is_full() {
            break;
        }
        if !include(owned, &permission, work).await {
            missing.add(permission);
        }
    }
}

/// Whether one of these roles has a permission.
async fn include(owned: &[Near<'_>], permission: &Permission<'_>, work: &mut Work) -> bool {
    for Near { rules, weight } in owned {
        if !work.take(weight + permission.bytes() / STEP_BYTES).await {
            return false;
        }
        if rules.includes(permission) {
            return true;
        }
    }
    false
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

    /// Counts steps; whether they may be made.
    async fn take(&mut self, steps: usize) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or_default();
        if self.paused_at - self.left > SLICE {
            self.paused_at = self.left;
            yield_now().await;
        }
        left.is_some()
    }

    async fn take_entry(&mut self, entry: &str) -> bool {
        self.take(1 + entry.len() / STEP_BYTES).await
    }
}

/// Whether one rule of these roles includes a rule as a whole.
async fn cover(owned: &[Near<'_>], about: Digest, wanted: &Distinct<'_>, work: &mut Work) -> bool {
    for near in owned {
        for rule in near.rules.rules() {
            if !work.take(1).await {
                return false;
            }
            if rule.digest().overlaps(about) && covers(rule, wanted, work).await {
                return true;
            }
        }
    }
    false
}

async fn covers(rule: &Rule, wanted: &Distinct<'_>, work: &mut Work) -> bool {
    let PolicyRule { verbs, groups, resources, names, paths } = rule.policy();
    all(&wanted.verbs, verbs, has, work).await
        && all(&wanted.groups, groups, has, work).await
        && all(&wanted.resources, resources, has_resource, work).await
        && (names.is_empty() || !wanted.names.is_empty() && all(&wanted.names, names, is_in, work).await)
        && cover_paths(paths, &wanted.paths, work).await
}

/// Whether the entries of a list all have what is wanted.
async fn all(
    wanted: &[&str],
    list: &[String],
    has: fn(&HashSet<&str>, &str) -> bool,
    work: &mut Work,
) -> bool {
    if wanted.is_empty() {
        return true;
    }
    // Mostly it is so, and nothing need be made.
    work.take(list.len() / PASSED).await;
    if list.len() < wanted.len() && !list.iter().any(|entry| entry.contains('*')) {
        return false;
    }
    let mut set = HashSet::new();
    for entry in list {
        if !work.take_entry(entry).await {
            return false;
        }
        set.insert(entry.as_str());
    }
    for entry in wanted {
        if !work.take_entry(entry).await || !has(&set, entry) {
            return false;
        }
    }
    true
}

fn is_in(set: &HashSet<&str>, wanted: &str) -> bool {
    set.contains(wanted)
}

fn has(set: &HashSet<&str>, wanted: &str) -> bool {
    set.contains(wanted) || set.contains("*")
}

fn has_resource(set: &HashSet<&str>, wanted: &str) -> bool {
    let of_every = |(_, subresource): (&str, &str)| set.contains(&*format!("*/{subresource}"));
    has(set, wanted) || wanted.split_once('/').is_some_and(of_every)
}

async fn cover_paths(paths: &[String], wanted: &[&str], work: &mut Work) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let (mut whole, mut stems) = (HashSet::new(), BTreeSet::new());
    for path in paths {
        if !work.take_entry(path).await {
            return false;
        }
        whole.insert(path.as_str());
        if path.ends_with('*') {
            stems.insert(path.trim_end_matches('*'));
        }
    }
    without_longer(&mut stems);
    for path in wanted {
        if !work.take_entry(path).await {
            return false;
        }
        // No stem begins with another one, so the only one that a path can begin with is the last that sorts
        // at the path or before it.
        let stem = stems.range(..=*path).next_back();
        if !whole.contains(path) && !stem.is_some_and(|stem| path.starts_with(stem)) {
            return false;
        }
    }
    true
}

/// Removes the stems that begin with another one.
fn without_longer(stems: &mut BTreeSet<&str>) {
    let mut kept: Option<&str> = None;
    stems.retain(|stem| {
        let is_longer = kept.is_some_and(|kept| stem.starts_with(kept));
        if !is_longer {
            kept = Some(stem);
        }
        !is_longer
    });
}

/// The rule with each entry of a list once, where it first stands.
async fn distinct<'w>(rule: &'w PolicyRule, work: &mut Work) -> Distinct<'w> {
    let PolicyRule { verbs, groups, resources, names, paths } = rule;
    Distinct {
        verbs: once(verbs, work).await,
        groups: once(groups, work).await,
        resources: once(resources, work).await,
        names: once(names, work).await,
        paths: once(paths, work).await,
    }
}

async fn once<'w>(list: &'w [String], work: &mut Work) -> Vec<&'w str> {
    let (mut seen, mut once) = (HashSet::new(), Vec::new());
    for entry in list {
        work.take_entry(entry).await;
        if seen.insert(entry.as_str()) {
            once.push(entry.as_str());
        }
    }
    once
}

#[cfg(test)]
mod tests;
