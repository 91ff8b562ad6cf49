//! Which resources are kept under which keys: what a file says.

use std::{collections::HashMap, fmt, sync::Arc};

use orch_storage::{ResourceName, Seal};

use crate::provider::Entry;

/// The ways to keep the objects of a resource.
pub type Entries = Arc<[Arc<Entry>]>;

/// The ways to keep values, by resource. An empty one keeps all values as they are.
#[derive(Default)]
pub struct Keyring {
    groups: HashMap<String, Group>,
    everything: Option<Entries>,
    /// What the file names, in its words.
    named: Vec<String>,
}

/// The resources of a group.
#[derive(Default)]
struct Group {
    all: Option<Entries>,
    named: HashMap<String, Entries>,
}

/// What an entry of the file is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `*.*`
    Everything,
    /// `*.group`; `*.` is the core group.
    Group(String),
    /// `resource.group`; a resource of the core group has no dot.
    Resource(String, String),
}

impl Keyring {
    /// The ways to keep objects of a resource, the one for writing first; none where the file does not name
    /// it.
    pub fn entries(&self, resource: &ResourceName) -> Option<&Entries> {
        let (name, group) = parts(resource.as_str());
        let in_group = self.groups.get(group);
        let in_group = in_group.and_then(|group| group.named.get(name).or(group.all.as_ref()));
        in_group.or(self.everything.as_ref())
    }

    /// Whether what is kept so could be read with these keys.
    pub fn opens(&self, resource: &ResourceName, seal: Option<Seal>) -> bool {
        match self.entries(resource) {
            None => seal.is_none(),
            Some(entries) => entries.iter().any(|entry| entry.seal() == seal),
        }
    }

    /// What the file names and none of these resources is.
    pub fn unmatched<'n>(&'n self, known: &[&ResourceName]) -> Vec<&'n str> {
        let is_known = |named: &&String| {
            let (name, group) = parts(named);
            known.iter().any(|known| {
                let (known_name, known_group) = parts(known.as_str());
                (name == "*" || name == known_name) && (group == "*" || group == known_group)
            })
        };
        self.named.iter().filter(|named| !is_known(named)).map(String::as_str).collect()
    }

    /// Adds what an entry of the file says, after what earlier ones say of the same resource.
    ///
    /// # Errors
    /// The earlier pattern that covers this one, so that it would never be looked at.
    pub(crate) fn add(&mut self, pattern: &Pattern, entries: &Entries) -> Result<(), Pattern> {
        if self.everything.is_some() && *pattern != Pattern::Everything {
            return Err(Pattern::Everything);
        }
        let slot = match pattern {
            Pattern::Everything => self.everything.get_or_insert_with(|| Arc::from([])),
            Pattern::Group(group) => {
                let group = self.groups.entry(group.clone()).or_default();
                group.all.get_or_insert_with(|| Arc::from([]))
            }
            Pattern::Resource(name, group) => {
                let found = self.groups.entry(group.clone()).or_default();
                if found.all.is_some() {
                    return Err(Pattern::Group(group.clone()));
                }
                found.named.entry(name.clone()).or_insert_with(|| Arc::from([]))
            }
        };
        // A resource in several entries has the providers of all.
        *slot = slot.iter().chain(entries.iter()).cloned().collect();
        self.named.push(pattern.to_string());
        Ok(())
    }
}

impl Pattern {
    /// What a text of the file means; an error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let (name, group) = parts(text);
        if text == "*" {
            return Err("use *. for all resources of the core group, or *.* for all resources");
        }
        if name.is_empty() {
            return Err("a resource needs a name");
        }
        if text.chars().any(char::is_uppercase) {
            return Err("a resource has no capital letters");
        }
        match (name, group) {
            ("*", "*") => Ok(Self::Everything),
            (_, "*") => Err("the same resource in all groups cannot be named: name each with its group"),
            ("*", group) => Ok(Self::Group(group.to_owned())),
            (name, group) => Ok(Self::Resource(name.to_owned(), group.to_owned())),
        }
    }

    /// Whether this one and another one of the same list are about the same resources.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everything, _) | (_, Self::Everything) => true,
            (Self::Resource(name, group), Self::Resource(other, of)) => (name, group) == (other, of),
            (
                Self::Group(group) | Self::Resource(_, group),
                Self::Group(other) | Self::Resource(_, other),
            ) => group == other,
        }
    }
}

/// As files name it.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("*.*"),
            Self::Group(group) => write!(f, "*.{group}"),
            Self::Resource(name, group) if group.is_empty() => f.write_str(name),
            Self::Resource(name, group) => write!(f, "{name}.{group}"),
        }
    }
}

impl fmt::Debug for Keyring {
    /// Without the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyring").field(&self.named).finish()
    }
}

/// The name of a resource, and its group.
fn parts(resource: &str) -> (&str, &str) {
    resource.split_once('.').unwrap_or((resource, ""))
}
