//! What this server serves: the resource tables of all registered crates, under the names of the vocabulary.
//!
//! Built once at start. Request parsing, dispatch, discovery and the published documents all read this value,
//! so they agree about what exists.

use std::{
    fmt,
    sync::{Arc, OnceLock, atomic::AtomicBool},
};

use orch_machinery::{gated::GatedFields, meta};
use orch_runtime::{
    Tree, TreeMap,
    resource_def::{GroupVersionDef, ResourceDef},
    same_text::same_text,
    type_def::TypeDef,
    vocabulary::Vocabulary,
};

use crate::{
    behaviour::{AnyBehaviour, Behaviours},
    feature_gates::FeatureGates,
    forms::{Form, are_versions, forms_of, stored_form},
    spelling::Spelling,
};

/// Every group, version and kind that is served.
#[derive(Debug)]
pub struct Catalog {
    /// The product words in force.
    pub vocabulary: &'static Vocabulary,
    /// All group versions in the order of discovery: the core group first, then groups by name; versions of a
    /// group most stable and newest first, but those after the stored one that are not stored yet.
    pub group_versions: Vec<ServedGroupVersion>,
    /// With the first bytes of the plural name, which are compared first. There are some dozens: comparing
    /// each costs less than building a key for a map.
    served: Vec<(u64, Arc<ServedResource>)>,
    /// Resources that are not served themselves, whose stored objects another one reads and writes.
    unserved: Vec<Arc<ServedResource>>,
    /// The groups as other vocabularies spell them.
    spellings: Vec<Arc<Spelling>>,
}

/// One served group and version.
#[derive(Debug)]
pub struct ServedGroupVersion {
    /// In the vocabulary's spelling; `""` for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// `v1` or `<group>/<version>`, in the vocabulary's spelling.
    pub api_version: String,
    /// The table it came from; its `schemas` are published.
    pub def: &'static GroupVersionDef,
    resources: Vec<&'static ResourceDef>,
}

impl ServedGroupVersion {
    /// The kinds that are served, by plural name.
    pub fn resources(&self) -> impl Iterator<Item = &'static ResourceDef> {
        self.resources.iter().copied()
    }
}

/// One served kind with its behaviour, and the strings that answering needs, made once.
pub struct ServedResource {
    /// The kind's row in the resource table.
    pub def: &'static ResourceDef,
    /// The product words in force.
    pub vocabulary: &'static Vocabulary,
    /// In the vocabulary's spelling; `""` for the core group.
    pub group: String,
    /// `v1` or `<group>/<version>`.
    pub api_version: String,
    /// `configmaps` or `leases.coordination.k8s.io`: how messages name the resource.
    pub group_resource: String,
    /// The same name, as the store knows it; that of the other resource where objects are stored as its.
    pub storage_name: orch_storage::ResourceName,
    /// What the kind does beyond its schema.
    pub behaviour: Arc<AnyBehaviour>,
    /// The other resource where objects are stored as its: the version that is stored, or another kind; see
    /// [`conversion`](crate::conversion).
    pub stored_as: Option<Arc<ServedResource>>,
    /// All forms in which its stored objects are read and written; empty where there is one only.
    pub forms: Arc<[Form]>,
    /// How an object in its form begins; see [`stored`](crate::stored).
    pub prefix: String,
    /// Whether some of its objects are stored without what is written by now; see
    /// [`completed`](crate::stored::completed).
    pub(crate) has_incomplete: AtomicBool,
    empty: OnceLock<Tree>,
    gated: OnceLock<GatedFields>,
    /// `ConfigMap` or `Lease.coordination.k8s.io`: how messages of invalid objects name the kind.
    pub group_kind: String,
}

impl fmt::Debug for ServedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServedResource({} {})", self.api_version, self.def.plural)
    }
}

impl ServedResource {
    /// The resource as whose objects those of this one are stored: mostly itself.
    pub fn stored(&self) -> &ServedResource {
        self.stored_as.as_deref().unwrap_or(self)
    }

    /// The stored version, where this is another one. Its rules and its behaviour are those of the kind.
    pub fn storage_version(&self) -> Option<&Arc<ServedResource>> {
        self.stored_as.as_ref().filter(|stored| are_versions(stored.def, self.def))
    }

    /// The fields that are dropped from what clients send, as the server's one set of gates says.
    pub fn gated_fields(&self, gates: &FeatureGates) -> &GatedFields {
        self.gated.get_or_init(|| GatedFields::of(self.def.type_def, |gate| gates.is_on(gate)))
    }

    /// An object of the kind with nothing set. Field management ignores the fields that it has: no manager
    /// owns them.
    pub fn empty_object(&self) -> Result<&Tree, serde_json::Error> {
        if let Some(empty) = self.empty.get() {
            return Ok(empty);
        }
        let mut empty = (self.def.from_tree)(Tree::Object(TreeMap::new()))?.to_tree()?;
        meta::set_type(&mut empty, self.def.kind, &self.api_version);
        Ok(self.empty.get_or_init(|| empty))
    }
}

impl Catalog {
    /// Registers tables under the names of `vocabulary`. Tables with types but no kinds are kept for their
    /// schemas. Of a kind that is registered twice, the first registration is served.
    pub fn new(
        vocabulary: &'static Vocabulary,
        tables: impl IntoIterator<Item = &'static GroupVersionDef>,
    ) -> Self {
        Self::of_served(vocabulary, tables, &Behaviours::default(), |_| true)
    }

    /// Like [`new`](Catalog::new), but with the kinds' behaviour, and only with the kinds that `is_served`
    /// accepts.
    pub fn of_served(
        vocabulary: &'static Vocabulary,
        tables: impl IntoIterator<Item = &'static GroupVersionDef>,
        behaviours: &Behaviours,
        is_served: impl Fn(&ResourceDef) -> bool,
    ) -> Self {
        let tables: Vec<_> = tables.into_iter().collect();
        let mut catalog = Catalog {
            vocabulary,
            group_versions: Vec::new(),
            served: Vec::new(),
            unserved: Vec::new(),
            spellings: Vec::new(),
        };
        for def in &tables {
            catalog.add(def, &tables, behaviours, &is_served);
        }
        let mut sorted: Vec<_> = std::mem::take(&mut catalog.group_versions)
            .into_iter()
            .map(|version| (catalog.preference(&version), version))
            .collect();
        sorted.sort_by(|(a, one), (b, other)| {
            (!one.group.is_empty(), &one.group).cmp(&(!other.group.is_empty(), &other.group)).then(b.cmp(a))
        });
        catalog.group_versions = sorted.into_iter().map(|(_, version)| version).collect();
        let served = catalog.group_versions.iter().map(|served| (served.def.group, served.def.version));
        let served: Vec<_> = served.collect();
        let others = orch_meta::VOCABULARIES.iter().filter(|other| other.name != vocabulary.name);
        let types = || tables.iter().flat_map(|table| table.resources).flat_map(|def| types_of(def));
        let spellings = others.map(|other| Arc::new(Spelling::new(other, vocabulary, &served, types())));
        catalog.spellings = spellings.collect();
        catalog
    }

    /// How much a version is preferred among those of its group; the greatest comes first. A version whose
    /// kinds are all stored in an older one that is served comes right after that one: servers of the last
    /// release may not know it yet. Kinds that have no other version do not count.
    fn preference(&self, version: &ServedGroupVersion) -> (Priority, bool, Priority) {
        let own = version_priority(&version.version);
        let served = |def: &ResourceDef| self.resources().find(|served| std::ptr::eq(served.def, def));
        let has_others = |served: &&Arc<ServedResource>| {
            self.resources()
                .any(|other| are_versions(other.def, served.def) && other.def.version != version.version)
        };
        let stored = version.resources.iter().filter_map(|&def| served(def)).filter(has_others).map(|kind| {
            let stored = kind.storage_version().filter(|stored| served(stored.def).is_some());
            stored.map_or(own, |stored| version_priority(stored.def.version))
        });
        match stored.max() {
            Some(stored) if stored < own => (stored, false, own),
            _ => (own, true, own),
        }
    }

    /// The kind at a URL's group (vocabulary spelling, `""` for core), version and plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<ServedResource>> {
        let first = first_bytes(plural);
        let mut named = self.served.iter().filter(|(bytes, _)| *bytes == first).map(|(_, served)| served);
        named.find(|served| {
            served.def.plural == plural && same_text(&served.group, group) && served.def.version == version
        })
    }

    /// The spelling in which a text names a served group, or group and version, that this server spells
    /// differently.
    pub fn spelling_of(&self, name: &str) -> Option<&Arc<Spelling>> {
        self.spellings.iter().find(|spelling| spelling.own_name(name).is_some())
    }

    /// Whether the group and version serve any kind.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.group_versions
            .iter()
            .any(|served| served.group == group && served.version == version && !served.resources.is_empty())
    }

    /// The groups of metadata-only forms and tables, in the spelling of each vocabulary: a client may ask for
    /// either.
    pub fn meta_groups(&self) -> Vec<String> {
        let mut groups: Vec<String> =
            orch_meta::VOCABULARIES.iter().map(|words| words.meta_group()).collect();
        groups.dedup();
        groups
    }

    /// The served kind of this row of the tables.
    pub fn served(&self, def: &'static ResourceDef) -> Option<&Arc<ServedResource>> {
        self.resources().find(|served| std::ptr::eq(served.def, def))
    }

    /// Every kind that has stored objects of its own, once. One that others read and write is among them even
    /// where it is not served.
    pub fn stored_resources(&self) -> impl Iterator<Item = &Arc<ServedResource>> {
        let stored = self.resources().filter(|resource| resource.def.stored && resource.stored_as.is_none());
        stored.chain(&self.unserved)
    }

    /// Every served kind.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<ServedResource>> {
        self.served.iter().map(|(_, served)| served)
    }

    fn add(
        &mut self,
        def: &'static GroupVersionDef,
        tables: &[&'static GroupVersionDef],
        behaviours: &Behaviours,
        is_served: impl Fn(&ResourceDef) -> bool,
    ) {
        let group = self.vocabulary.group(def.group).into_owned();
        let api_version = self.vocabulary.api_version(def.group, def.version);
        let resources: Vec<_> =
            def.resources.iter().copied().filter(|resource| is_served(resource)).collect();
        for &resource in &resources {
            if self.resource(&group, def.version, resource.plural).is_some() {
                continue;
            }
            let known = self.unserved.iter().position(|known| std::ptr::eq(known.def, resource));
            let served = match known {
                Some(at) => self.unserved.remove(at),
                None => self.made(resource, tables, behaviours),
            };
            self.served.push((first_bytes(resource.plural), served));
        }
        self.group_versions.push(ServedGroupVersion {
            group,
            version: def.version.to_owned(),
            api_version,
            def,
            resources,
        });
    }
}

/// The first bytes of a name, with zeros behind a shorter one.
fn first_bytes(name: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(bytes.len());
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_ne_bytes(bytes)
}

impl Catalog {
    /// A kind with its behaviour. Where its objects are stored as those of a kind that is not known yet, that
    /// one is made too.
    fn made(
        &mut self,
        def: &'static ResourceDef,
        tables: &[&'static GroupVersionDef],
        behaviours: &Behaviours,
    ) -> Arc<ServedResource> {
        let stored = stored_form(def, tables);
        let stored_as = (!std::ptr::eq(stored, def)).then(|| {
            let is_it = |known: &&Arc<ServedResource>| std::ptr::eq(known.def, stored);
            let known = self.resources().chain(&self.unserved).find(is_it).map(Arc::clone);
            known.unwrap_or_else(|| {
                let made = self.made(stored, tables, behaviours);
                self.unserved.push(Arc::clone(&made));
                made
            })
        });
        let behaviour = match &stored_as {
            Some(stored) if are_versions(stored.def, def) => Arc::clone(&stored.behaviour),
            _ => behaviours.of(def),
        };
        let Form { api_version, prefix, .. } = Form::of(def, self.vocabulary);
        let group = self.vocabulary.group(def.group).into_owned();
        let suffixed =
            |stem: &str| if group.is_empty() { stem.to_owned() } else { format!("{stem}.{group}") };
        let group_resource = suffixed(def.plural);
        let storage_name = match &stored_as {
            Some(stored) => stored.storage_name.clone(),
            None => orch_storage::ResourceName::new(group_resource.as_str()),
        };
        Arc::new(ServedResource {
            def,
            vocabulary: self.vocabulary,
            behaviour,
            api_version,
            prefix,
            storage_name,
            stored_as,
            forms: forms_of(def, tables, self.vocabulary),
            group_resource,
            group_kind: suffixed(def.kind),
            group,
            has_incomplete: AtomicBool::new(false),
            empty: OnceLock::new(),
            gated: OnceLock::new(),
        })
    }
}

/// The types of a kind's own body and of those below its path.
fn types_of(def: &'static ResourceDef) -> impl Iterator<Item = &'static TypeDef> {
    let below = def.subresources.iter().filter_map(|subresource| subresource.body.as_ref());
    std::iter::once(def.type_def).chain(below.map(|body| body.type_def))
}

/// How stable a version is, and its numbers.
type Priority = (u8, u32, u32);

/// Orders versions by preference: stable before beta before alpha, newer before older.
fn version_priority(version: &str) -> Priority {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let stem = version.strip_prefix('v').unwrap_or(version);
    match stem
        .split_once("beta")
        .map(|parts| (1, parts))
        .or_else(|| stem.split_once("alpha").map(|parts| (0, parts)))
    {
        Some((stability, (major, minor))) => (stability, number(major), number(minor)),
        None => (2, number(stem), 0),
    }
}

#[cfg(test)]
mod tests {
    use orch_api::flowcontrol::v1::PriorityLevelConfiguration;
    use orch_runtime::{
        conversion::Wholes,
        object::Kind,
        resource_def::{ConversionDef, GroupVersionDef, ResourceDef},
    };

    use super::{Catalog, version_priority};
    use crate::behaviour::Behaviours;

    /// Whether both kinds are served or one of them, the stored objects belong to the same one.
    #[test]
    fn objects_that_two_kinds_read_are_stored_once() {
        for (group, other) in [("", "events.k8s.io"), ("events.k8s.io", ""), ("none", "")] {
            let tables = orch_api::registry().iter().copied();
            let words = &orch_meta::KUBERNETES;
            let is_served = |def: &ResourceDef| words.group(def.group) != group;
            let catalog = Catalog::of_served(words, tables, &Behaviours::default(), is_served);
            let events = catalog.resource(other, "v1", "events").expect("it is served");
            assert_eq!(
                (events.storage_name.as_str(), events.stored().api_version.as_str()),
                ("events", "v1")
            );
            assert_eq!(events.forms.len(), 2);
            let named = catalog.stored_resources().filter(|stored| stored.storage_name.as_str() == "events");
            assert_eq!(
                named.map(|stored| stored.api_version.as_str()).collect::<Vec<_>>(),
                ["v1"],
                "{group}"
            );
        }
    }

    /// A version that is not stored yet is not preferred yet: servers of the last release do not know it.
    #[test]
    fn the_stored_version_is_preferred_before_those_that_are_not_stored_yet() {
        let def = |version, storage_version, conversion| -> &'static ResourceDef {
            let base = PriorityLevelConfiguration::RESOURCE;
            let def = ResourceDef { group: "example.com", version, storage_version, conversion, ..*base };
            Box::leak(Box::new(def))
        };
        let table = |def: &'static ResourceDef| -> &'static GroupVersionDef {
            let resources: &'static [&'static ResourceDef] = Box::leak(Box::new([def]));
            let ResourceDef { group, version, .. } = *def;
            let table = GroupVersionDef { group, version, resources, feature_gates: &[], schemas: "{}" };
            Box::leak(Box::new(table))
        };
        let order = |stored: &str, off: &str| {
            // The conversions lead to the newest version.
            let to = def("v2", stored == "v2", None);
            let conversion = ConversionDef { to, steps: &[], wholes: Wholes::default() };
            let older = |version| def(version, stored == version, Some(conversion));
            let tables = [older("v1alpha1"), to, older("v1")].map(table);
            let is_served = |def: &ResourceDef| def.version != off;
            let catalog =
                Catalog::of_served(&orch_meta::KUBERNETES, tables, &Behaviours::default(), is_served);
            let versions = catalog.group_versions.iter().filter(|version| version.resources().count() > 0);
            versions.map(|version| version.version.clone()).collect::<Vec<_>>()
        };
        assert_eq!(order("v2", ""), ["v2", "v1", "v1alpha1"]);
        assert_eq!(order("v1", ""), ["v1", "v2", "v1alpha1"]);
        assert_eq!(order("v1alpha1", ""), ["v1alpha1", "v2", "v1"]);
        assert_eq!(order("v1", "v1"), ["v2", "v1alpha1"], "what is not served cannot be preferred");
    }

    #[test]
    fn versions_are_ordered_by_stability_then_age() {
        let mut versions = ["v1alpha1", "v2beta1", "v1", "v1beta2", "v2", "v1beta1"];
        versions.sort_by_key(|version| std::cmp::Reverse(version_priority(version)));
        assert_eq!(versions, ["v2", "v1", "v2beta1", "v1beta2", "v1beta1", "v1alpha1"]);
    }
}
