//! All roles, and which of them are parts of aggregated ones.
//!
//! Bindings refer to roles by number, so that a decision looks up no role by name, and a change of a role
//! touches no binding. A number is also given to a role that is missing, while a binding refers to it.
//!
//! An aggregated role has the rules of all roles that it selects; where one of these is aggregated too, of
//! what that one selects. Its own rules do not count.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    policy::{PolicyName, Role, Selector},
    rule::{Digest, Question},
    rule_set::RuleSet,
};

/// The number of a role. It is free again when nothing refers to the role and it is gone.
pub(super) type RoleId = u32;

/// See the module.
#[derive(Default)]
pub(super) struct Roles {
    slots: Vec<Slot>,
    ids: HashMap<PolicyName, RoleId>,
    free: Vec<RoleId>,
    aggregated: BTreeSet<RoleId>,
}

#[derive(Default)]
struct Slot {
    name: PolicyName,
    /// `None` while the role is missing.
    role: Option<Stored>,
    /// How many bindings refer to it.
    bindings: usize,
    /// The aggregated roles that select it.
    within: BTreeSet<RoleId>,
}

struct Stored {
    rules: Arc<RuleSet>,
    /// The digest of all rules, kept here so that most requests need not look at them.
    digest: Digest,
    /// Without its rules.
    source: Role,
    /// For an aggregated role: the roles that it selects.
    members: BTreeSet<RoleId>,
    /// For an aggregated role: the roles whose rules it has, none of them aggregated, by name.
    parts: Vec<RoleId>,
}

impl Roles {
    /// The number of a role, for one more binding.
    pub(super) fn acquire(&mut self, name: &PolicyName) -> RoleId {
        let id = self.id_of(name);
        self.slots[id as usize].bindings += 1;
        id
    }

    /// Tells that a binding no longer refers to a role.
    pub(super) fn release(&mut self, id: RoleId) {
        self.slots[id as usize].bindings -= 1;
        self.free_unused(id);
    }

    /// The number of a role that exists.
    pub(super) fn find(&self, name: &PolicyName) -> Option<RoleId> {
        let id = *self.ids.get(name)?;
        self.slots[id as usize].role.is_some().then_some(id)
    }

    /// The name that a number stands for.
    pub(super) fn name(&self, id: RoleId) -> &PolicyName {
        &self.slots[id as usize].name
    }

    /// Whether the role exists.
    pub(super) fn exists(&self, id: RoleId) -> bool {
        self.slots[id as usize].role.is_some()
    }

    /// Whether a rule of the role allows the request.
    pub(super) fn allows(&self, id: RoleId, question: &Question<'_>) -> bool {
        self.parts(id).any(|(_, part)| part.allows(question))
    }

    /// The rules of a role, those of each of its parts if it is aggregated; none where it is missing.
    pub(super) fn rules(&self, id: RoleId) -> impl Iterator<Item = (RoleId, &Arc<RuleSet>)> {
        self.parts(id).map(|(id, part)| (id, &part.rules))
    }

    /// Whose rules a role has: its own, or those of others if it is aggregated.
    fn parts(&self, id: RoleId) -> impl Iterator<Item = (RoleId, &Stored)> {
        let whole = self.slots[id as usize].role.as_ref();
        let is_aggregated = whole.is_some_and(|whole| whole.selectors().is_some());
        let own = whole.filter(|_| !is_aggregated).map(|own| (id, own));
        let parts = whole.filter(|_| is_aggregated).map_or(&[][..], |whole| &whole.parts);
        let part = |part: &RoleId| Some((*part, self.slots[*part as usize].role.as_ref()?));
        own.into_iter().chain(parts.iter().filter_map(part))
    }

    /// Puts a role in place of the one of that name, or removes it.
    pub(super) fn set(&mut self, name: &PolicyName, role: Option<Role>) {
        if role.is_none() && !self.ids.contains_key(name) {
            return;
        }
        let id = self.id_of(name);
        let old = self.slots[id as usize].role.as_mut();
        match (old, role) {
            // What aggregation looks at stays: other roles are not concerned.
            (Some(old), Some(role))
                if old.source.labels == role.labels && old.source.aggregation == role.aggregation =>
            {
                let (members, parts) = (std::mem::take(&mut old.members), std::mem::take(&mut old.parts));
                *old = Stored { members, parts, ..Stored::new(role, Some(old)) };
            }
            (_, role) => {
                let mut changed = self.unlink(id);
                let slot = &mut self.slots[id as usize];
                slot.role = role.map(|role| Stored::new(role, slot.role.as_ref()));
                changed.extend(self.link(id));
                self.arrange(changed);
            }
        }
        self.free_unused(id);
    }

    /// How many roles there are, those included that are missing and referred to.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    fn id_of(&mut self, name: &PolicyName) -> RoleId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let slot = Slot { name: name.clone(), ..Slot::default() };
        let id = if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            id
        } else {
            self.slots.push(slot);
            (self.slots.len() - 1) as RoleId
        };
        self.ids.insert(name.clone(), id);
        id
    }

    fn free_unused(&mut self, id: RoleId) {
        let slot = &mut self.slots[id as usize];
        if slot.role.is_none() && slot.bindings == 0 {
            self.ids.remove(&std::mem::take(&mut slot.name));
            self.free.push(id);
        }
    }

    /// Takes a role out of the aggregated roles that have it, and its members from it. Returns the aggregated
    /// roles that changed.
    fn unlink(&mut self, id: RoleId) -> BTreeSet<RoleId> {
        let within = std::mem::take(&mut self.slots[id as usize].within);
        for whole in &within {
            if let Some(whole) = &mut self.slots[*whole as usize].role {
                whole.members.remove(&id);
            }
        }
        if self.aggregated.remove(&id)
            && let Some(old) = &mut self.slots[id as usize].role
        {
            for member in std::mem::take(&mut old.members) {
                self.slots[member as usize].within.remove(&id);
            }
        }
        within
    }

    /// Puts a cluster role into the aggregated roles that select it, and what it selects into it. Returns the
    /// aggregated roles that changed.
    fn link(&mut self, id: RoleId) -> BTreeSet<RoleId> {
        let slot = &self.slots[id as usize];
        let Some(role) = slot.role.as_ref().filter(|_| slot.name.is_of_cluster()) else {
            return BTreeSet::new();
        };
        let selects = |whole: RoleId, part: RoleId| {
            let is_other = whole != part;
            let selectors = self.slots[whole as usize].role.as_ref().and_then(Stored::selectors);
            let part = &self.slots[part as usize];
            let labels = part.role.as_ref().filter(|_| part.name.is_of_cluster());
            let labels = labels.map(|part| &part.source.labels);
            let any = |labels| selectors.into_iter().flatten().any(|selector| selector.selects(labels));
            is_other && labels.is_some_and(any)
        };
        let mut pairs: Vec<(RoleId, RoleId)> =
            self.aggregated.iter().filter(|whole| selects(**whole, id)).map(|whole| (*whole, id)).collect();
        let is_aggregated = role.selectors().is_some();
        if is_aggregated {
            let members = (0..self.slots.len() as RoleId).filter(|part| selects(id, *part));
            pairs.extend(members.map(|part| (id, part)));
        }
        let mut changed: BTreeSet<RoleId> = pairs.iter().map(|(whole, _)| *whole).collect();
        if is_aggregated {
            self.aggregated.insert(id);
            changed.insert(id);
        }
        for (whole, part) in pairs {
            self.slots[part as usize].within.insert(whole);
            if let Some(whole) = &mut self.slots[whole as usize].role {
                whole.members.insert(part);
            }
        }
        changed
    }

    /// Finds the parts of these aggregated roles anew, and of all that have them as members.
    fn arrange(&mut self, changed: BTreeSet<RoleId>) {
        let mut concerned = changed.clone();
        let mut open: Vec<RoleId> = changed.into_iter().collect();
        while let Some(id) = open.pop() {
            let news = self.slots[id as usize].within.iter().filter(|whole| concerned.insert(**whole));
            open.extend(news);
        }
        for id in concerned {
            let parts = self.leaves(id);
            if let Some(role) = &mut self.slots[id as usize].role {
                role.parts = parts;
            }
        }
    }

    /// The roles that are not aggregated among the members of an aggregated role, their members, and so on.
    /// Roles that select each other in a circle are gone through once.
    fn leaves(&self, id: RoleId) -> Vec<RoleId> {
        let (mut seen, mut open) = (BTreeSet::from([id]), vec![id]);
        let mut leaves = Vec::new();
        while let Some(id) = open.pop() {
            let Some(role) = &self.slots[id as usize].role else { continue };
            if role.selectors().is_none() {
                leaves.push(id);
            }
            open.extend(role.members.iter().filter(|member| seen.insert(**member)));
        }
        leaves.sort_by(|a, b| self.name(*a).cmp(self.name(*b)));
        leaves
    }
}

impl Stored {
    /// Rules that stay are not prepared again: they may be many.
    fn new(mut source: Role, old: Option<&Stored>) -> Self {
        let rules = std::mem::take(&mut source.rules);
        let old = old.filter(|old| old.rules.is_made_of(&rules)).map(|old| Arc::clone(&old.rules));
        let rules = old.unwrap_or_else(|| Arc::new(RuleSet::new(rules)));
        let digest = rules.digest();
        Stored { rules, digest, source, members: BTreeSet::new(), parts: Vec::new() }
    }

    fn selectors(&self) -> Option<&[Selector]> {
        self.source.aggregation.as_deref()
    }

    fn allows(&self, question: &Question<'_>) -> bool {
        self.digest.may_match(question) && self.rules.allows(question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::policy::PolicyRule;

    #[test]
    fn rules_that_stay_are_not_prepared_again() {
        let (mut roles, name) = (Roles::default(), PolicyName::of_cluster("r"));
        let mut set = |verbs: &[&str], label: &str| {
            let verb = |verb: &&str| PolicyRule { verbs: vec![(*verb).to_owned()], ..PolicyRule::default() };
            let labels = [(label.to_owned(), String::new())].into();
            roles.set(
                &name,
                Some(Role { rules: verbs.iter().map(verb).collect(), labels, aggregation: None }),
            );
            Arc::clone(roles.rules(roles.find(&name).unwrap()).next().unwrap().1)
        };
        let first = set(&["get", "list"], "a");
        assert!(Arc::ptr_eq(&first, &set(&["get", "list"], "a")));
        assert!(Arc::ptr_eq(&first, &set(&["get", "list"], "b")));
        for verbs in [&["list", "get"][..], &["get"], &["get", "list", "list"]] {
            let other = set(verbs, "b");
            assert!(!Arc::ptr_eq(&first, &other) && other.rules().len() == verbs.len(), "{verbs:?}");
        }
    }
}
