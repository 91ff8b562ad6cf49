//! What a request is about, read once from its method, path and query.
//!
//! Authorization and dispatch use the same value, so that what was allowed is what is done. Paths are
//! matched segment by segment after decoding; a segment that decodes to something with a slash in it, to `.`
//! or `..`, or to nothing (but for one slash at the end) is never a resource.

use std::{borrow::Cow, sync::Arc};

use http::Method;
use orch_machinery::selector::field::FieldSelector;
use orch_registry::{
    catalog::{Catalog, ServedGroupVersion},
    error::ApiError,
    request::Target,
    spelling::Spelling,
};
use orch_runtime::{
    field_error::Shown as _,
    resource_def::{Scope, Verb},
};
use percent_encoding::percent_decode_str;

use super::query::Query;

/// What a request is about. It borrows from the catalog, and from the path and the query of the request.
#[derive(Debug)]
pub struct RequestInfo<'r> {
    /// The names in the path, for authorization and logs; set whether or not they exist.
    pub names: Names<'r>,
    /// What will be done, or why nothing will.
    pub route: Route<'r>,
    /// How the path spells the group, where that is another vocabulary's way. `names` has the server's own.
    pub spelling: Option<&'r Arc<Spelling>>,
}

/// The names in a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names<'r> {
    /// The verb that is authorized: `get`, `list` ...; the lower-case method outside the API.
    pub verb: Cow<'r, str>,
    /// Whether the path is below a group and version.
    pub is_resource: bool,
    /// `""` for the core group.
    pub group: Cow<'r, str>,
    /// `v1`.
    pub version: Cow<'r, str>,
    /// `configmaps`.
    pub resource: Cow<'r, str>,
    /// `status`.
    pub subresource: Cow<'r, str>,
    /// `""` for cluster-scoped kinds and lists over all namespaces.
    pub namespace: Cow<'r, str>,
    /// `""` for collections, except where a field selector pins the name.
    pub name: Cow<'r, str>,
}

/// Where a request goes.
#[derive(Debug)]
pub enum Route<'r> {
    /// To a kind of the catalog: the verb and its target. For a watch of one object, the name is that in the
    /// path.
    Resource(Verb, Target<'r>),
    /// To a path that is not a resource.
    NonResource,
    /// Nowhere: the answer is this error.
    Refused(ApiError),
}

/// The segment before the name of a namespace: part of the URLs of namespaced kinds, and also the plural of a
/// kind.
pub const NAMESPACES: &str = "namespaces";

impl<'r> RequestInfo<'r> {
    /// Reads a request line.
    pub fn parse(catalog: &'r Catalog, method: &Method, path: &'r str, query: &'r Query) -> Self {
        let segments = decoded_segments(path);
        let Some(ApiNames { mut names, prefix, tail }) = api_names(&segments) else {
            let names = Names { verb: lower_case(method), ..Names::default() };
            return RequestInfo { names, route: Route::NonResource, spelling: None };
        };
        let spelling = if names.group.is_empty() { None } else { catalog.spelling_of(&names.group) };
        if let Some(own) = spelling.and_then(|spelling| spelling.own_name(&names.group)) {
            names.group = own.into();
        }
        let mut route = route(catalog, method, query, prefix == Some(WATCH), tail, &mut names);
        if prefix == Some(PROXY) {
            names.verb = PROXY.into();
            route = Route::Refused(ApiError::UnknownResource);
        }
        RequestInfo { names, route, spelling }
    }
}

/// Segments before the rest of a path that are its verb. The first is deprecated and served, the second is
/// authorized and not served.
const WATCH: &str = "watch";
const PROXY: &str = "proxy";

struct ApiNames<'r, 's> {
    names: Names<'r>,
    prefix: Option<&'static str>,
    tail: &'s [Cow<'r, str>],
}

/// Splits a path below `/api/<version>/` or `/apis/<group>/<version>/` into group, version and the rest.
fn api_names<'r, 's>(segments: &'s [Cow<'r, str>]) -> Option<ApiNames<'r, 's>> {
    let (group, version, tail) = match segments {
        [root, version, tail @ ..] if root == "api" && !tail.is_empty() => ("".into(), version, tail),
        [root, group, version, tail @ ..] if root == "apis" && !tail.is_empty() => {
            (group.clone(), version, tail)
        }
        _ => return None,
    };
    let prefix = [WATCH, PROXY].into_iter().find(|prefix| tail.len() > 1 && tail[0] == *prefix);
    let tail = if prefix.is_some() { &tail[1..] } else { tail };
    let names = Names { is_resource: true, group, version: version.clone(), ..Names::default() };
    Some(ApiNames { names, prefix, tail })
}

fn route<'r>(
    catalog: &'r Catalog,
    method: &Method,
    query: &'r Query,
    watch_prefix: bool,
    tail: &[Cow<'r, str>],
    names: &mut Names<'r>,
) -> Route<'r> {
    let path = path_parts(catalog, names, tail);
    names.resource.clone_from(&path.resource);
    names.subresource.clone_from(&path.subresource);
    // Authorization treats a namespace as an object in that namespace, whatever the group.
    let own_namespace = path.resource == NAMESPACES && !path.has_namespace;
    names.namespace.clone_from(if own_namespace { &path.name } else { &path.namespace });
    names.name.clone_from(&path.name);
    let verb = verb(method, query, watch_prefix, &path);
    names.verb =
        verb.or_else(|| verb_of_odd_pair(method, watch_prefix, &path)).map_or("", Verb::as_str).into();
    if path.name.is_empty() && matches!(verb, Some(Verb::List | Verb::Watch)) {
        names.name = pinned_name(query.text("fieldSelector")).unwrap_or_default().into();
    }
    resolve(catalog, names, path, verb, watch_prefix)
}

/// The parts of a path below a group version.
struct PathParts<'r> {
    resource: Cow<'r, str>,
    subresource: Cow<'r, str>,
    namespace: Cow<'r, str>,
    name: Cow<'r, str>,
    has_namespace: bool,
    well_formed: bool,
}

/// Splits a path. It tells `namespaces/<ns>/<resource>/...` from the paths of namespaces themselves.
fn path_parts<'r>(catalog: &Catalog, names: &Names<'_>, tail: &[Cow<'r, str>]) -> PathParts<'r> {
    let below_namespace = tail.len() > 2
        && tail[0] == NAMESPACES
        && catalog
            .resource(&names.group, &names.version, NAMESPACES)
            .is_none_or(|namespaces| namespaces.def.subresource(&tail[2]).is_none());
    let (namespace, rest) = if below_namespace { (tail[1].clone(), &tail[2..]) } else { ("".into(), tail) };
    let part = |index: usize| rest.get(index).cloned().unwrap_or_default();
    PathParts {
        resource: part(0),
        name: part(1),
        subresource: part(2),
        namespace,
        has_namespace: below_namespace,
        well_formed: rest.len() <= 3 && tail.iter().all(|segment| is_plain(segment)),
    }
}

impl PathParts<'_> {
    /// Why no object can ever have this path. Like the reference, this tells what is wrong with a name, and
    /// of all else only that there is no such resource.
    fn fault(&self) -> Option<ApiError> {
        let name = self.name.as_ref();
        let others = [&self.resource, &self.namespace, &self.subresource];
        let why = match name {
            "." | ".." if others.iter().all(|part| part.is_empty() || is_plain(part)) => {
                format!("may not be '{name}'")
            }
            _ if !self.well_formed => return Some(ApiError::UnknownResource),
            name if name.contains('%') => "may not contain '%'".to_owned(),
            _ => return None,
        };
        Some(ApiError::BadRequest(format!("Name parameter invalid: {}: {why}", name.shown())))
    }
}

fn resolve<'r>(
    catalog: &'r Catalog,
    names: &Names<'_>,
    path: PathParts<'r>,
    verb: Option<Verb>,
    watch_prefix: bool,
) -> Route<'r> {
    let is_core = names.group.is_empty();
    // A table of types alone is no group.
    let is_group =
        |served: &ServedGroupVersion| served.group == names.group && !served.def.resources.is_empty();
    if !is_core && !catalog.group_versions.iter().any(is_group) {
        return Route::Refused(ApiError::UnknownPath);
    }
    let Some(resource) = catalog.resource(&names.group, &names.version, &path.resource) else {
        return Route::Refused(ApiError::UnknownResource);
    };
    if let Some(fault) = path.fault() {
        return Route::Refused(fault);
    }
    let namespaced = resource.def.scope == Scope::Namespaced;
    let item = !path.name.is_empty();
    let exists = if namespaced { path.has_namespace || !item } else { !path.has_namespace };
    if !exists {
        return Route::Refused(ApiError::UnknownResource);
    }
    let subresource = match path.subresource.as_ref() {
        "" => None,
        name => match resource.def.subresource(name) {
            Some(found) if !watch_prefix => Some(found),
            _ => return Route::Refused(ApiError::UnknownResource),
        },
    };
    let all_namespaces = namespaced && !path.has_namespace;
    let verbs = subresource.map_or(resource.def.verbs, |sub| sub.verbs);
    match verb {
        Some(verb)
            if verbs.contains(&verb) && (!all_namespaces || matches!(verb, Verb::List | Verb::Watch)) =>
        {
            let target = Target { resource, subresource, namespace: path.namespace, name: path.name };
            Route::Resource(verb, target)
        }
        _ => {
            let here = verbs_here(verbs, &path, subresource.is_some(), all_namespaces, watch_prefix);
            // A path without any verb does not exist.
            Route::Refused(if here.is_empty() { ApiError::UnknownResource } else { not_allowed(&here) })
        }
    }
}

/// Those of the verbs that an existing path has.
fn verbs_here(
    verbs: &[Verb],
    path: &PathParts<'_>,
    below_item: bool,
    all_namespaces: bool,
    watch_prefix: bool,
) -> Vec<Verb> {
    let item = !path.name.is_empty();
    let is_here = |verb: Verb| match verb {
        Verb::List => !item || watch_prefix,
        _ if watch_prefix => false,
        Verb::Watch => !item,
        Verb::DeleteCollection => !item && !all_namespaces,
        Verb::Create => (!item || below_item) && !all_namespaces,
        Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => item,
    };
    verbs.iter().copied().filter(|verb| is_here(*verb)).collect()
}

/// 405 for a path that has these verbs.
fn not_allowed(verbs: &[Verb]) -> ApiError {
    let methods = METHODS.iter().filter(|(_, verb)| verbs.contains(verb));
    let methods: Vec<&str> = methods.map(|(methods, _)| *methods).collect();
    ApiError::MethodNotAllowed(methods.join(", "))
}

/// The methods of verbs, in the order in which they are listed.
const METHODS: &[(&str, Verb)] = &[
    ("GET, HEAD", Verb::Get),
    ("GET, HEAD", Verb::List),
    ("POST", Verb::Create),
    ("PUT", Verb::Update),
    ("PATCH", Verb::Patch),
    ("DELETE", Verb::Delete),
    ("DELETE", Verb::DeleteCollection),
];

fn verb(method: &Method, query: &Query, watch_prefix: bool, path: &PathParts<'_>) -> Option<Verb> {
    let item = !path.name.is_empty();
    match (method.as_str(), item) {
        ("GET" | "HEAD", _) if watch_prefix => Some(Verb::Watch),
        _ if watch_prefix => None,
        ("GET" | "HEAD", true) => Some(Verb::Get),
        ("GET" | "HEAD", false) if query.flag("watch") => Some(Verb::Watch),
        ("GET" | "HEAD", false) => Some(Verb::List),
        ("POST", false) => Some(Verb::Create),
        ("POST", true) if !path.subresource.is_empty() => Some(Verb::Create),
        ("PUT", true) => Some(Verb::Update),
        ("PATCH", true) => Some(Verb::Patch),
        ("DELETE", true) => Some(Verb::Delete),
        ("DELETE", false) => Some(Verb::DeleteCollection),
        _ => None,
    }
}

/// What is authorized where a path has no such method: the method alone decides. Another method has no verb,
/// and only a rule for all verbs allows it.
fn verb_of_odd_pair(method: &Method, watch_prefix: bool, path: &PathParts<'_>) -> Option<Verb> {
    match method.as_str() {
        _ if watch_prefix => Some(Verb::Watch),
        "POST" => Some(Verb::Create),
        "PUT" => Some(Verb::Update),
        "PATCH" => Some(Verb::Patch),
        "DELETE" if path.name.is_empty() => Some(Verb::DeleteCollection),
        "DELETE" => Some(Verb::Delete),
        _ => None,
    }
}

/// The object that a field selector names: its list or watch is authorized with that name. The selector is
/// read by the same parser that selects, so that a request cannot name one object and select others.
fn pinned_name(field_selector: &str) -> Option<String> {
    if field_selector.is_empty() {
        return None;
    }
    let selector = FieldSelector::parse(field_selector).ok()?;
    let name = selector.requires_exact("metadata.name")?;
    (is_plain(name) && !name.contains('%')).then(|| name.to_owned())
}

fn lower_case(method: &Method) -> Cow<'static, str> {
    method.as_str().to_ascii_lowercase().into()
}

fn decoded_segments(path: &str) -> Vec<Cow<'_, str>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Vec::new();
    }
    // An array of one character splits byte by byte, which is faster for short segments than the search for a
    // single character.
    let parts = path.split(['/']);
    let mut segments = Vec::with_capacity(8);
    if path.contains('%') {
        segments.extend(parts.map(|segment| percent_decode_str(segment).decode_utf8_lossy()));
    } else {
        segments.extend(parts.map(Cow::Borrowed));
    }
    segments
}

fn is_plain(segment: &str) -> bool {
    !segment.is_empty() && segment != "." && segment != ".." && !segment.bytes().any(|byte| byte == b'/')
}

#[cfg(test)]
mod tests;
