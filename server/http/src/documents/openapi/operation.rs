//! One operation on one path, as it is published.

use std::collections::BTreeMap;

use orch_config::enablement::RELEASE;
use orch_machinery::media_type::{MediaTypes, NamedMediaType, Stream};
use orch_registry::catalog::ServedResource;
use orch_runtime::{
    resource_def::{SubresourceDef, Verb},
    vocabulary::Vocabulary,
};
use serde::Serialize;

use super::{
    parameters::{self, Parameter},
    schemas::{DELETE_OPTIONS, GroupVersionKind, PATCH, STATUS, WATCH_EVENT, body_schema, reference},
};

/// An operation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Operation {
    tags: [String; 1],
    description: String,
    #[serde(rename = "operationId")]
    id: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    parameters: &'static [&'static Parameter],
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<RequestBody>,
    responses: BTreeMap<&'static str, Answer>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(rename = "x-kubernetes-action")]
    action: &'static str,
    #[serde(rename = "x-kubernetes-group-version-kind")]
    kind: GroupVersionKind,
}

#[derive(Serialize)]
struct RequestBody {
    content: BTreeMap<String, Media>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
}

#[derive(Serialize)]
struct Answer {
    description: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    content: BTreeMap<String, Media>,
}

#[derive(Serialize)]
struct Media {
    schema: Reference,
}

#[derive(Serialize)]
struct Reference {
    #[serde(rename = "$ref")]
    target: String,
}

/// Where an operation's path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Below the group version, for a kind without namespaces.
    Cluster,
    /// Below the group version, for a kind with namespaces: all of them.
    AllNamespaces,
    /// Below a namespace.
    Namespace,
}

/// What is done, to what, where.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) media_types: &'a MediaTypes,
    pub(super) vocabulary: &'static Vocabulary,
    pub(super) resource: &'a ServedResource,
    pub(super) subresource: Option<&'static SubresourceDef>,
    pub(super) extent: Extent,
}

/// How a verb is published.
struct Row {
    id: &'static str,
    action: &'static str,
    parameters: &'static [&'static Parameter],
    body: Content,
    codes: &'static [&'static str],
    answer: Content,
}

#[derive(Clone, Copy)]
enum Content {
    Nothing,
    Object,
    List,
    Patch,
    DeleteOptions,
    /// The object, for kinds that answer a delete with it; else a Status.
    Deleted,
    Status,
    Events,
}

fn row(verb: Verb, item: bool) -> Row {
    use Content::{DeleteOptions, Deleted, Events, List, Nothing, Object, Patch, Status};
    let row =
        |id, action, parameters, body, codes, answer| Row { id, action, parameters, body, codes, answer };
    match verb {
        Verb::Create => row("create", "post", parameters::WRITE, Object, &["200", "201", "202"], Object),
        Verb::Delete => row("delete", "delete", parameters::DELETE, DeleteOptions, &["200", "202"], Deleted),
        Verb::DeleteCollection => {
            row("delete", "deletecollection", parameters::DELETE_COLLECTION, DeleteOptions, &["200"], Status)
        }
        Verb::Get => row("read", "get", &[], Nothing, &["200"], Object),
        Verb::List => row("list", "list", parameters::LIST, Nothing, &["200"], List),
        Verb::Patch => row("patch", "patch", parameters::PATCH, Patch, &["200", "201"], Object),
        Verb::Update => row("replace", "put", parameters::WRITE, Object, &["200", "201"], Object),
        Verb::Watch if item => row("watch", "watch", parameters::LIST, Nothing, &["200"], Events),
        Verb::Watch => row("watch", "watchlist", parameters::LIST, Nothing, &["200"], Events),
    }
}

impl Operation {
    /// The operation of a verb. `item` says whether a watch is of one object or of a collection.
    pub(super) fn new(subject: Subject<'_>, verb: Verb, item: bool) -> Self {
        let row = row(verb, item);
        let responses = row.codes.iter().map(|code| (*code, answer(subject, code, row.answer)));
        let unauthorized = Answer { description: "Unauthorized", content: BTreeMap::new() };
        Operation {
            tags: [format!("{}_{}", lower_first(&group_name(subject)), subject.resource.def.version)],
            description: description(subject, verb, item),
            id: operation_id(subject, verb, item, row.id),
            parameters: row.parameters,
            request_body: request_body(subject, row.body),
            responses: responses.chain([("401", unauthorized)]).collect(),
            deprecated: verb == Verb::Watch || subject.resource.def.lifecycle.is_deprecated(RELEASE),
            action: row.action,
            kind: kind(subject),
        }
    }

    /// Names of the schemas that the operation refers to, in schema spelling.
    pub(super) fn schemas(subject: Subject<'_>, verb: Verb, item: bool) -> Vec<String> {
        let row = row(verb, item);
        [row.body, row.answer].into_iter().filter_map(|content| schema(subject, content)).collect()
    }
}

/// The kind of the operation's body or, where there is none, of its answer.
fn kind(subject: Subject<'_>) -> GroupVersionKind {
    let def = subject.resource.def;
    match subject.subresource.and_then(|sub| sub.body) {
        None => GroupVersionKind {
            group: subject.resource.group.clone(),
            version: def.version.to_owned(),
            kind: def.kind.to_owned(),
        },
        Some(body) => GroupVersionKind {
            group: subject.vocabulary.group(body.group).into_owned(),
            version: body.version.to_owned(),
            kind: body.kind.to_owned(),
        },
    }
}

fn schema(subject: Subject<'_>, content: Content) -> Option<String> {
    let def = subject.resource.def;
    let object = || match subject.subresource.and_then(|sub| sub.body) {
        None => def.schema_name.to_owned(),
        Some(body) => body_schema(body),
    };
    match content {
        Content::Nothing => None,
        Content::Object => Some(object()),
        Content::List => Some(format!("{}List", def.schema_name)),
        Content::Patch => Some(PATCH.to_owned()),
        Content::DeleteOptions => Some(DELETE_OPTIONS.to_owned()),
        Content::Deleted if def.delete_returns_object => Some(object()),
        Content::Deleted | Content::Status => Some(STATUS.to_owned()),
        Content::Events => Some(WATCH_EVENT.to_owned()),
    }
}

fn request_body(subject: Subject<'_>, content: Content) -> Option<RequestBody> {
    let schema = schema(subject, content)?;
    let names: Vec<&str> = if let Content::Patch = content {
        subject.media_types.patches().map(|patch| patch.name).collect()
    } else {
        let read = media_types(subject).filter(|named| named.media_type.reader.is_some());
        read.map(|named| named.name).collect()
    };
    let content_types = media(subject, names.into_iter().map(str::to_owned), &schema);
    Some(RequestBody { content: content_types, required: !matches!(content, Content::DeleteOptions) })
}

fn answer(subject: Subject<'_>, code: &str, content: Content) -> Answer {
    let description = match code {
        "201" => "Created",
        "202" => "Accepted",
        _ => "OK",
    };
    let schema = schema(subject, content).unwrap_or_default();
    let names = media_types(subject).map(|named| named.name.to_owned());
    let mut content_types = media(subject, names, &schema);
    if matches!(content, Content::List | Content::Events) {
        let is_streamed = |named: &NamedMediaType| {
            matches!(named.media_type.stream, Some(Stream { is_published: true, .. }))
        };
        let streams = media_types(subject).filter(is_streamed);
        content_types.extend(media(
            subject,
            streams.map(|named| named.listed_stream().into_owned()),
            &schema,
        ));
    }
    Answer { description, content: content_types }
}

/// The media types that the operation's objects can be written in.
fn media_types(subject: Subject<'_>) -> impl Iterator<Item = NamedMediaType> {
    let body = subject.subresource.and_then(|subresource| subresource.body);
    let def = body.map_or(subject.resource.def.type_def, |body| body.type_def);
    let fits = move |named: &NamedMediaType| named.media_type.fits(def);
    subject.media_types.in_vocabulary(subject.vocabulary).filter(fits)
}

fn media(subject: Subject<'_>, names: impl Iterator<Item = String>, schema: &str) -> BTreeMap<String, Media> {
    let media = || Media { schema: Reference { target: reference(subject.vocabulary, schema) } };
    names.map(|name| (name, media())).collect()
}

/// `listCoreV1NamespacedConfigMap`: unique in all documents, and the method name in generated clients.
fn operation_id(subject: Subject<'_>, verb: Verb, item: bool, id: &str) -> String {
    let def = subject.resource.def;
    let group_version = format!("{}{}", upper_first(&group_name(subject)), upper_first(def.version));
    let collection = if verb == Verb::DeleteCollection { "Collection" } else { "" };
    let namespaced = if subject.extent == Extent::Namespace { "Namespaced" } else { "" };
    let subresource = upper_first(subject.subresource.map_or("", |sub| sub.name));
    let list = if verb == Verb::Watch && !item { "List" } else { "" };
    let all = if subject.extent == Extent::AllNamespaces { "ForAllNamespaces" } else { "" };
    format!("{id}{group_version}{collection}{namespaced}{}{subresource}{list}{all}", def.kind)
}

/// `core`, `apps`, `rbacAuthorization`: the group in one word, without the product's domain.
fn group_name(subject: Subject<'_>) -> String {
    let group = subject.resource.group.as_str();
    if group.is_empty() {
        return "core".to_owned();
    }
    let domain = format!(".{}", subject.vocabulary.group_suffix);
    let stem = group.strip_suffix(&domain).unwrap_or(group);
    let words: String = stem.split(['.', '-']).map(upper_first).collect();
    lower_first(&words)
}

fn description(subject: Subject<'_>, verb: Verb, item: bool) -> String {
    let kind = subject.resource.def.kind;
    let scope = if subject.extent == Extent::AllNamespaces { " in all namespaces" } else { "" };
    if let Some(sub) = subject.subresource {
        let what = match verb {
            Verb::Create => "Create",
            Verb::Get => "Read",
            Verb::Patch => "Change fields of",
            _ => "Replace",
        };
        return format!("{what} the {} of an object of kind {kind}", sub.name);
    }
    match verb {
        Verb::Create => format!("Create an object of kind {kind}"),
        Verb::Delete => format!("Delete an object of kind {kind}"),
        Verb::DeleteCollection => format!("Delete all objects of kind {kind} that match"),
        Verb::Get => format!("Read an object of kind {kind}"),
        Verb::List => format!("List or watch objects of kind {kind}{scope}"),
        Verb::Patch => format!("Change fields of an object of kind {kind}"),
        Verb::Update => format!("Replace an object of kind {kind}"),
        Verb::Watch if item => {
            format!("Watch one object of kind {kind}; use watch with a field selector instead")
        }
        Verb::Watch => format!("Watch objects of kind {kind}{scope}; use list with watch instead"),
    }
}

fn upper_first(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}

fn lower_first(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + chars.as_str())
}
