//! What one subject is granted, by namespace.
//!
//! Any number of bindings can grant one role, and a request is compared with a role once. So the grants of a
//! role stand together, that of the first binding in front, and a search for roles goes from one to the next.

use std::{collections::HashMap, iter, sync::Arc};

use super::roles::RoleId;

/// See the module.
#[derive(Default)]
pub(super) struct Grants {
    everywhere: Vec<Grant>,
    by_namespace: HashMap<Box<str>, Vec<Grant>>,
}

/// One role by one binding. Lists of them are in the order of roles, and those of a role in the order of the
/// names of bindings.
pub(super) struct Grant {
    pub(super) binding: Arc<str>,
    pub(super) role: RoleId,
    /// The reason of a decision that it allows.
    pub(super) reason: Arc<str>,
}

impl Grants {
    /// Adds a grant in a namespace, or everywhere where that is empty. What the binding grants already stays
    /// as it is.
    pub(super) fn add(&mut self, namespace: &str, grant: Grant) {
        let list = match namespace {
            "" => &mut self.everywhere,
            _ => self.by_namespace.entry(namespace.into()).or_default(),
        };
        if let Err(at) = place(list, grant.role, &grant.binding) {
            list.insert(at, grant);
        }
    }

    /// Removes what a binding grants.
    pub(super) fn remove(&mut self, namespace: &str, role: RoleId, binding: &str) {
        let is_local = !namespace.is_empty();
        let list = if is_local { self.by_namespace.get_mut(namespace) } else { Some(&mut self.everywhere) };
        let Some(list) = list else { return };
        if let Ok(at) = place(list, role, binding) {
            list.remove(at);
        }
        if is_local && list.is_empty() {
            self.by_namespace.remove(namespace);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.everywhere.is_empty() && self.by_namespace.is_empty()
    }

    /// Those that hold everywhere.
    pub(super) fn everywhere(&self) -> &[Grant] {
        &self.everywhere
    }

    /// Those of one namespace alone.
    pub(super) fn local(&self, namespace: &str) -> &[Grant] {
        if namespace.is_empty() || self.by_namespace.is_empty() {
            return &[];
        }
        self.by_namespace.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// Those that hold in a namespace, one of each role.
    pub(super) fn roles(&self, namespace: &str) -> impl Iterator<Item = &Grant> {
        once_each(&self.everywhere).chain(once_each(self.local(namespace)))
    }

    /// All of them, with their namespaces.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Grant)> {
        let local = self.by_namespace.iter();
        let local = local.flat_map(|(namespace, list)| list.iter().map(|grant| (&**namespace, grant)));
        self.everywhere.iter().map(|grant| ("", grant)).chain(local)
    }
}

/// Of the grants of each role that by the first binding.
pub(super) fn once_each(list: &[Grant]) -> impl Iterator<Item = &Grant> {
    let mut rest = list;
    iter::from_fn(move || {
        let (first, behind) = rest.split_first()?;
        let is_same = |other: &Grant| other.role == first.role;
        // Nearly always the next one is another role.
        let repeats = if behind.first().is_some_and(is_same) { behind.partition_point(is_same) } else { 0 };
        rest = behind.split_at(repeats).1;
        Some(first)
    })
}

/// Where the grant of a role by a binding is, or where it belongs.
fn place(list: &[Grant], role: RoleId, binding: &str) -> Result<usize, usize> {
    list.binary_search_by(|grant| grant.role.cmp(&role).then_with(|| (*grant.binding).cmp(binding)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    fn grant(role: RoleId, binding: &str) -> Grant {
        Grant { binding: binding.into(), role, reason: "".into() }
    }

    /// However many bindings come and go, each role is met once, with its first binding.
    #[test]
    fn each_role_is_met_once_with_its_first_binding() {
        let mut random = StdRng::seed_from_u64(7);
        for namespace in ["", "n"] {
            let (mut grants, mut model) = (Grants::default(), BTreeMap::<RoleId, BTreeSet<String>>::new());
            for _ in 0..3_000 {
                let (role, binding) = (random.random_range(0..5), random.random_range(0..30).to_string());
                if random.random() {
                    grants.add(namespace, grant(role, &binding));
                    model.entry(role).or_default().insert(binding);
                } else {
                    grants.remove(namespace, role, &binding);
                    model.entry(role).or_default().remove(&binding);
                }
                let found = grants.roles(namespace).map(|grant| (grant.role, &*grant.binding));
                let expected =
                    model.iter().filter_map(|(role, bindings)| Some((*role, bindings.first()?.as_str())));
                assert!(found.eq(expected), "{model:?}");
            }
            for (role, bindings) in model {
                for binding in &bindings {
                    grants.remove(namespace, role, binding);
                }
            }
            assert!(grants.is_empty());
        }
    }
}
