//! The newer discovery documents: every resource of `/api` or `/apis` in one, with an `ETag`.
//!
//! A client asks by parameters of the media type and recognises the form by the same parameters of the
//! answer. So the answer repeats the group that was asked for, be it the vocabulary's or the one that client
//! libraries have built in, and there is a document for each pair of group and version.

use std::sync::OnceLock;

use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};
use orch_machinery::{json::pretty::pretty, negotiate::AskedForm};
use orch_registry::catalog::{Catalog, ServedResource};
use orch_runtime::{
    resource_def::{Scope, SubresourceDef, Verb},
    vocabulary::Vocabulary,
};
use serde::Serialize;

use super::{Group, ServedVersion, body_kind, legacy::verb_names, line};
use crate::documents::static_document::StaticDocument;

/// Kind of the documents.
pub(super) const KIND: &str = "APIGroupDiscoveryList";
/// Versions of the documents; they differ in name only.
pub(super) const VERSIONS: [&str; 2] = ["v2", "v2beta1"];
/// The group that client libraries ask for, whatever the vocabulary.
const CLIENT_GROUP: &str = "apidiscovery.k8s.io";

/// One root path's document in all its spellings.
#[derive(Debug)]
pub(super) struct Aggregated {
    documents: Vec<Spelled>,
}

/// The document under one name.
#[derive(Debug)]
struct Spelled {
    group: String,
    version: &'static str,
    document: StaticDocument,
    /// The same, indented, which is done at the first request for it.
    pretty: OnceLock<StaticDocument>,
}

/// The spellings of the documents' group: the vocabulary's, and the one of client libraries.
pub(super) fn group_names(vocabulary: &Vocabulary) -> Vec<String> {
    let mut names = vec![format!("apidiscovery.{}", vocabulary.group_suffix)];
    if names[0] != CLIENT_GROUP {
        names.push(CLIENT_GROUP.to_owned());
    }
    names
}

impl Aggregated {
    /// Renders the documents for some groups.
    pub(super) fn new(catalog: &Catalog, groups: &[Group<'_>]) -> Self {
        let items: Vec<GroupItem<'_>> = groups.iter().map(|group| group_item(catalog, group)).collect();
        let spelled = |group: String| {
            VERSIONS.map(|version| Spelled {
                document: document(&group, version, &items),
                pretty: OnceLock::new(),
                group: group.clone(),
                version,
            })
        };
        Aggregated { documents: group_names(catalog.vocabulary).into_iter().flat_map(spelled).collect() }
    }

    /// The document in the form that was asked for, which is one of those that were offered.
    pub(super) fn respond(
        &self,
        asked: AskedForm<'_>,
        is_pretty: bool,
        request: &HeaderMap,
    ) -> Option<Response> {
        let is_asked = |spelled: &&Spelled| spelled.group == asked.group && spelled.version == asked.version;
        let spelled = self.documents.iter().find(is_asked)?;
        let document = if is_pretty { spelled.pretty() } else { &spelled.document };
        let mut response = document.respond(request);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        Some(response)
    }
}

impl Spelled {
    fn pretty(&self) -> &StaticDocument {
        self.pretty.get_or_init(|| self.document.in_other_layout(pretty(self.document.body())))
    }
}

fn document(group: &str, version: &str, items: &[GroupItem<'_>]) -> StaticDocument {
    let content_type = format!("application/json;g={group};v={version};as={KIND}");
    let content_type = HeaderValue::from_str(&content_type).expect("group names are header text");
    let body =
        Document { kind: KIND, api_version: format!("{group}/{version}"), metadata: ListMetadata {}, items };
    StaticDocument::new(content_type, line(&body))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    kind: &'a str,
    api_version: String,
    metadata: ListMetadata,
    items: &'a [GroupItem<'a>],
}

#[derive(Serialize)]
struct ListMetadata {}

#[derive(Serialize)]
struct GroupItem<'a> {
    metadata: Metadata<'a>,
    versions: Vec<VersionItem<'a>>,
}

/// The core group has no name. The time is always null: groups are not created at a time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    creation_timestamp: (),
}

#[derive(Serialize)]
struct VersionItem<'a> {
    version: &'a str,
    resources: Vec<ResourceItem<'a>>,
    freshness: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceItem<'a> {
    resource: &'a str,
    response_kind: KindName<'a>,
    scope: &'a str,
    singular_resource: &'a str,
    #[serde(serialize_with = "verb_names")]
    verbs: &'a [Verb],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [&'a str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<SubresourceItem<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubresourceItem<'a> {
    subresource: &'a str,
    response_kind: KindName<'a>,
    #[serde(serialize_with = "verb_names")]
    verbs: &'a [Verb],
}

/// Group and version are empty where they are those of the item that this is in.
#[derive(Serialize)]
struct KindName<'a> {
    group: String,
    version: &'a str,
    kind: &'a str,
}

fn group_item<'a>(catalog: &Catalog, group: &Group<'a>) -> GroupItem<'a> {
    GroupItem {
        metadata: Metadata { name: group.name, creation_timestamp: () },
        versions: group.versions.iter().map(|version| version_item(catalog, version)).collect(),
    }
}

fn version_item<'a>(catalog: &Catalog, version: &ServedVersion<'a>) -> VersionItem<'a> {
    VersionItem {
        version: version.name,
        resources: version.resources.iter().map(|resource| resource_item(catalog, resource)).collect(),
        freshness: "Current",
    }
}

fn resource_item<'a>(catalog: &Catalog, resource: &'a ServedResource) -> ResourceItem<'a> {
    let def = resource.def;
    let mut subresources: Vec<&'static SubresourceDef> = def.subresources.iter().collect();
    subresources.sort_by_key(|sub| sub.name);
    ResourceItem {
        resource: def.plural,
        response_kind: KindName { group: String::new(), version: "", kind: def.kind },
        scope: match def.scope {
            Scope::Cluster => "Cluster",
            Scope::Namespaced => "Namespaced",
        },
        singular_resource: def.singular,
        verbs: def.verbs,
        short_names: def.short_names,
        categories: def.categories,
        subresources: subresources.into_iter().map(|sub| subresource_item(catalog, resource, sub)).collect(),
    }
}

fn subresource_item<'a>(
    catalog: &Catalog,
    resource: &ServedResource,
    sub: &'static SubresourceDef,
) -> SubresourceItem<'a> {
    let (group, version, kind) = body_kind(catalog, resource, sub);
    SubresourceItem {
        subresource: sub.name,
        response_kind: KindName { group, version, kind },
        verbs: sub.verbs,
    }
}
