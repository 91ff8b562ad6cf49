//! The smallest permissions of rules, and those of them that a user lacks.
//!
//! A role of a few hundred bytes has any number of them. So nothing is copied: they borrow the texts of the
//! rule, and only as many are kept as a long message shows.

use super::policy::PolicyRule;

/// How many missing permissions are kept.
const MAX_KEPT: usize = 2_000;

/// How many bytes all of their texts have, about.
const MAX_KEPT_BYTES: usize = 128 * 1024;

/// A rule that has no entry of a list twice.
pub(super) struct Distinct<'w> {
    pub(super) verbs: Vec<&'w str>,
    pub(super) groups: Vec<&'w str>,
    pub(super) resources: Vec<&'w str>,
    pub(super) names: Vec<&'w str>,
    pub(super) paths: Vec<&'w str>,
}

/// One of the smallest permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission<'w> {
    /// To do something with a resource.
    Resource {
        /// What may be done.
        verb: &'w str,
        /// The API group.
        group: &'w str,
        /// The resource, perhaps with a sub-resource.
        resource: &'w str,
        /// The object; `None` means all.
        name: Option<&'w str>,
    },
    /// To do something with another path.
    Path {
        /// What may be done.
        verb: &'w str,
        /// The path.
        path: &'w str,
    },
}

/// The permissions that a user lacks.
#[derive(Debug, Default)]
pub struct Missing<'w> {
    /// In the order of the rules.
    pub permissions: Vec<Permission<'w>>,
    /// Rules that have too many permissions to be taken apart.
    pub whole: Vec<&'w PolicyRule>,
    bytes: usize,
}

impl<'w> Distinct<'w> {
    /// How many permissions it has.
    pub(super) fn count(&self) -> usize {
        let Distinct { verbs, groups, resources, names, paths } = self;
        let lengths = [groups.len(), resources.len(), names.len().max(1)];
        let of_resources = lengths.into_iter().fold(1, usize::saturating_mul);
        verbs.len().saturating_mul(of_resources.saturating_add(paths.len()))
    }

    /// All of them. The type is erased: a future could not be sent to another thread with so many closures.
    pub(super) fn permissions(&self) -> Box<dyn Iterator<Item = Permission<'w>> + Send + '_> {
        let Distinct { verbs, groups, resources, names, paths } = self;
        // Without names a rule is about all of them.
        let names = move || {
            let all = names.is_empty().then_some(None);
            all.into_iter().chain(names.iter().copied().map(Some))
        };
        Box::new(verbs.iter().flat_map(move |&verb| {
            let of_resources = groups.iter().flat_map(move |&group| {
                resources.iter().flat_map(move |&resource| {
                    names().map(move |name| Permission::Resource { verb, group, resource, name })
                })
            });
            of_resources.chain(paths.iter().map(move |&path| Permission::Path { verb, path }))
        }))
    }
}

impl Permission<'_> {
    /// Of its texts.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Permission::Resource { verb, group, resource, name } => {
                verb.len() + group.len() + resource.len() + name.map_or(0, str::len)
            }
            Permission::Path { verb, path } => verb.len() + path.len(),
        }
    }
}

impl<'w> Missing<'w> {
    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.permissions.is_empty() && self.whole.is_empty()
    }

    /// Whether so much is missing that there may be more, which was not looked for.
    pub fn is_full(&self) -> bool {
        self.permissions.len() + self.whole.len() >= MAX_KEPT || self.bytes >= MAX_KEPT_BYTES
    }

    pub(super) fn add(&mut self, permission: Permission<'w>) {
        self.bytes += permission.bytes();
        self.permissions.push(permission);
    }

    pub(super) fn add_whole(&mut self, rule: &'w PolicyRule) {
        self.bytes += rule.lists().into_iter().flatten().map(String::len).sum::<usize>();
        self.whole.push(rule);
    }
}
