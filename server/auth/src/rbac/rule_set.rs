//! The rules of a role, ready to be compared with requests.

use std::{collections::HashSet, sync::Arc};

use super::{
    lookup::Lookup,
    permission::Permission,
    policy::PolicyRule,
    rule::{Digest, Question, Rule},
};
use crate::authorizer::Target;

/// Rules with no more values than this in all of their lists are looked at one by one, which takes less
/// memory and, as most of them are about other resources, no more time.
const FEW: usize = 256;

/// So many rules are looked at while a few values are compared.
const RULES_AT_ONCE: usize = 4_096;

/// See the module. It never changes, so it can be read for long without a lock.
#[derive(Default)]
pub(super) struct RuleSet {
    rules: Box<[Rule]>,
    /// What all of them may match.
    digest: Digest,
    /// How many values they have.
    values: usize,
    /// For many values.
    lookup: Option<Lookup>,
}

/// A snapshot of the rules of several roles.
#[derive(Clone, Default)]
pub struct SharedRules(pub(super) Vec<Arc<RuleSet>>);

impl RuleSet {
    pub(super) fn new(rules: Vec<PolicyRule>) -> Self {
        let rules: Box<[Rule]> = rules.into_iter().map(Rule::new).collect();
        let values: usize = rules.iter().map(|rule| rule.policy().values()).sum();
        let lookup = (values > FEW).then(|| Lookup::new(&rules));
        let digest = rules.iter().fold(Digest::default(), |all, rule| all.union(rule.digest()));
        RuleSet { rules, digest, values, lookup }
    }

    /// Whether it has these rules, in this order.
    pub(super) fn is_made_of(&self, rules: &[PolicyRule]) -> bool {
        self.rules.iter().map(Rule::policy).eq(rules)
    }

    /// What all of them may match.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// How much work it is to find a permission of this rule, where a few values are 1.
    pub(super) fn weight(&self, rule: &PolicyRule) -> usize {
        let is_looked_up = self.lookup.is_some() && rule.paths.is_empty();
        1 + if is_looked_up { self.rules.len() / RULES_AT_ONCE } else { self.values / FEW }
    }

    /// Whether one of them includes a permission.
    pub(super) fn includes(&self, permission: &Permission<'_>) -> bool {
        let about = Digest::of_permission(permission);
        match (&self.lookup, permission) {
            _ if !self.digest.overlaps(about) => false,
            (Some(lookup), Permission::Resource { .. }) => lookup.includes(&self.rules, permission),
            _ => self.rules.iter().any(|rule| rule.digest().overlaps(about) && rule.includes(permission)),
        }
    }

    /// Whether one of them allows the request.
    pub(super) fn allows(&self, question: &Question<'_>) -> bool {
        match (&self.lookup, question.target()) {
            (Some(lookup), Target::Resource(target)) => lookup.allows(&self.rules, question.verb(), target),
            _ => self.rules.iter().any(|rule| rule.allows(question)),
        }
    }
}

impl SharedRules {
    /// Each of them. Those of one role may be equal to those of another one.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyRule> {
        self.sets().flat_map(RuleSet::rules).map(Rule::policy)
    }

    /// Those of each role.
    pub(super) fn sets(&self) -> impl Iterator<Item = &RuleSet> {
        self.0.iter().map(Arc::as_ref)
    }

    /// Without the roles that are in `others` too.
    pub(super) fn without(&self, others: &Self) -> Self {
        let others: HashSet<*const RuleSet> = others.0.iter().map(Arc::as_ptr).collect();
        SharedRules(self.0.iter().filter(|set| !others.contains(&Arc::as_ptr(set))).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        authorizer::{Attributes, ResourceTarget},
        user::UserInfo,
    };

    fn get(resource: &str, names: Vec<String>) -> PolicyRule {
        let list = |text: &str| vec![text.to_owned()];
        PolicyRule {
            verbs: list("get"),
            groups: list(""),
            resources: list(resource),
            names,
            paths: Vec::new(),
        }
    }

    /// Many short rules, one long rule, and few short ones: the first two are looked up in.
    #[test]
    fn only_many_values_are_looked_up() {
        let name = |number: usize| format!("n{number}");
        let many: Vec<PolicyRule> = (0..1_000).map(|number| get("pods", vec![name(number)])).collect();
        let long = vec![get("pods", (0..1_000).map(name).collect())];
        let few: Vec<PolicyRule> = many.iter().take(10).cloned().collect();
        let user = UserInfo::default();
        for (rules, is_looked_up, last) in [(many, true, "n999"), (long, true, "n999"), (few, false, "n9")] {
            let set = RuleSet::new(rules);
            assert_eq!(set.lookup.is_some(), is_looked_up);
            for (resource, name, allowed) in
                [("pods", "n0", true), ("pods", last, true), ("pods", "n1000", false), ("jobs", "n0", false)]
            {
                let target = ResourceTarget { resource, name, ..ResourceTarget::default() };
                let attributes = Attributes { user: &user, verb: "get", target: Target::Resource(target) };
                assert_eq!(set.allows(&Question::new(&attributes)), allowed, "{resource} {name}");
            }
        }
    }

    /// Paths are compared one by one, also beside many values.
    #[test]
    fn paths_are_found_beside_many_values() {
        let names = (0..1_000).map(|number| format!("n{number}")).collect();
        let version = PolicyRule {
            verbs: vec!["get".to_owned()],
            paths: vec!["/v*".to_owned()],
            ..PolicyRule::default()
        };
        let (set, user) = (RuleSet::new(vec![get("pods", names), version]), UserInfo::default());
        for (path, allowed) in [("/version", true), ("/x", false)] {
            let attributes = Attributes { user: &user, verb: "get", target: Target::Path(path) };
            assert_eq!(set.allows(&Question::new(&attributes)), allowed, "{path}");
        }
    }
}
