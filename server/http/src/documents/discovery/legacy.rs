//! The older discovery documents: lists of versions, groups, and resources of one group version.

use std::sync::Arc;

use bytes::Bytes;
use orch_registry::catalog::{Catalog, ServedResource};
use orch_runtime::resource_def::{Scope, Verb};
use serde::{Serialize, Serializer};

use super::{Group, ServedVersion, body_kind, line};

/// The document of `/api`, complete except for the server's address.
#[derive(Debug)]
pub(super) struct ApiVersions {
    versions: Vec<String>,
}

#[derive(Serialize)]
struct ApiVersionsDocument<'a> {
    kind: &'a str,
    versions: &'a [String],
    #[serde(rename = "serverAddressByClientCIDRs")]
    server_addresses: [ServerAddress<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerAddress<'a> {
    #[serde(rename = "clientCIDR")]
    client_cidr: &'a str,
    server_address: &'a str,
}

impl ApiVersions {
    pub(super) fn new(core: &[Group<'_>]) -> Self {
        let versions = core.iter().flat_map(|group| &group.versions);
        ApiVersions { versions: versions.map(|version| version.name.to_owned()).collect() }
    }

    /// The document for a client that reaches the server at `server_address`.
    pub(super) fn render(&self, server_address: &str) -> Bytes {
        line(&ApiVersionsDocument {
            kind: "APIVersions",
            versions: &self.versions,
            server_addresses: [ServerAddress { client_cidr: "0.0.0.0/0", server_address }],
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupList<'a> {
    kind: &'a str,
    api_version: &'a str,
    groups: Vec<GroupEntry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDocument<'a> {
    kind: &'a str,
    api_version: &'a str,
    #[serde(flatten)]
    entry: GroupEntry<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupEntry<'a> {
    name: &'a str,
    versions: Vec<GroupVersion<'a>>,
    preferred_version: GroupVersion<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'a> {
    group_version: &'a str,
    version: &'a str,
}

/// The document of `/apis`.
pub(super) fn group_list(groups: &[Group<'_>]) -> Bytes {
    let groups = groups.iter().map(group_entry).collect();
    line(&GroupList { kind: "APIGroupList", api_version: "v1", groups })
}

/// The document of `/apis/<group>`.
pub(super) fn group(group: &Group<'_>) -> Bytes {
    line(&GroupDocument { kind: "APIGroup", api_version: "v1", entry: group_entry(group) })
}

fn group_entry<'a>(group: &'a Group<'_>) -> GroupEntry<'a> {
    let entry = |version: &'a ServedVersion<'_>| GroupVersion {
        group_version: version.api_version,
        version: version.name,
    };
    GroupEntry {
        name: group.name,
        versions: group.versions.iter().map(entry).collect(),
        preferred_version: entry(&group.versions[0]),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceList<'a> {
    kind: &'a str,
    /// Only named groups have it, as in the reference: the list of the core group is older than the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'a str>,
    group_version: &'a str,
    resources: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    name: String,
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    kind: &'a str,
    #[serde(serialize_with = "verb_names")]
    verbs: &'a [Verb],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

/// The document of `/api/v1` or `/apis/<group>/<version>`.
pub(super) fn resource_list(catalog: &Catalog, version: &ServedVersion<'_>) -> Bytes {
    let mut resources: Vec<Entry<'_>> =
        version.resources.iter().flat_map(|resource| entries(catalog, resource)).collect();
    resources.sort_by(|a, b| a.name.cmp(&b.name));
    line(&ResourceList {
        kind: "APIResourceList",
        api_version: version.api_version.contains('/').then_some("v1"),
        group_version: version.api_version,
        resources,
    })
}

/// Verbs as a list of their names; an empty list is still a list.
pub(super) fn verb_names<S: Serializer>(verbs: &[Verb], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(verbs.iter().map(|verb| verb.as_str()))
}

/// A resource and its sub-resources.
fn entries<'a>(catalog: &Catalog, resource: &'a ServedResource) -> Vec<Entry<'a>> {
    let def = resource.def;
    let namespaced = def.scope == Scope::Namespaced;
    let main = Entry {
        name: def.plural.to_owned(),
        singular_name: def.singular,
        namespaced,
        group: String::new(),
        version: "",
        kind: def.kind,
        verbs: def.verbs,
        short_names: def.short_names,
        categories: def.categories,
        storage_version_hash: def.stored.then(|| storage_version_hash(catalog, resource)),
    };
    let subresources = def.subresources.iter().map(|sub| {
        let (group, version, kind) = body_kind(catalog, resource, sub);
        Entry {
            name: format!("{}/{}", def.plural, sub.name),
            singular_name: "",
            namespaced,
            group,
            version,
            kind,
            verbs: sub.verbs,
            short_names: &[],
            categories: &[],
            storage_version_hash: None,
        }
    });
    std::iter::once(main).chain(subresources).collect()
}

/// A hash of the version in which objects of the kind are stored. It changes when that version does.
fn storage_version_hash(catalog: &Catalog, resource: &ServedResource) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let resource = resource.stored();
    let stored_in = |other: &&ServedResource| {
        other.group == resource.group && other.def.kind == resource.def.kind && other.def.storage_version
    };
    let stored = catalog.resources().map(Arc::as_ref).find(stored_in).unwrap_or(resource);
    let name = format!("{}/{}/{}", stored.group, stored.def.version, stored.def.kind);
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, name.as_bytes());
    STANDARD.encode(&digest.as_ref()[..8])
}
