//! What is served, as documents: `/api`, `/apis`, groups, and group versions.
//!
//! Two forms exist. The older one is a document per group version (`legacy`); the newer one is all resources
//! of `/api` or `/apis` in one (`aggregated`), which clients ask for by parameters of the media type. All
//! documents are rendered at start. The one part that differs between requests is the server's address in
//! `/api`: it is the address that the client used, since the server cannot know under which others it is
//! reached.

use std::{collections::HashMap, sync::Arc};

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, header, request::Parts, uri::Authority};
use orch_machinery::{
    media_type::{MediaTypes, NamedMediaType, Syntax, without_parameters},
    negotiate::{Form, Offer, negotiate, negotiate_ranges},
};
use orch_meta::meta::v1::{API_GROUP_LIST_TYPE, API_GROUP_TYPE, API_RESOURCE_LIST_TYPE, API_VERSIONS_TYPE};
use orch_registry::{
    catalog::{Catalog, ServedResource},
    error::ApiError,
};
use orch_runtime::{resource_def::SubresourceDef, type_def::TypeDef};

use crate::{
    request::query::Query,
    response::{self, all_values, status::refusal, wants_pretty},
};

mod aggregated;
mod legacy;
#[cfg(test)]
mod tests;

use aggregated::Aggregated;

/// All discovery documents.
#[derive(Debug)]
pub struct Discovery {
    /// By path.
    documents: HashMap<String, Document>,
    media_types: Vec<NamedMediaType>,
    /// Those that a refusal lists.
    listed: Vec<String>,
    /// What `/api` calls the server where the request does not say.
    local_address: String,
    /// The spellings of the newer form's group.
    form_groups: Vec<String>,
}

/// What one path answers.
#[derive(Debug)]
struct Document {
    plain: Plain,
    /// Its type, for formats that need field numbers.
    def: &'static TypeDef,
    /// Only the roots have it.
    aggregated: Option<Aggregated>,
}

#[derive(Debug)]
enum Plain {
    Versions(legacy::ApiVersions),
    Finished(Bytes),
}

/// A served group with its versions, the preferred one first.
struct Group<'c> {
    name: &'c str,
    versions: Vec<ServedVersion<'c>>,
}

/// A served version with its resources, by plural name.
struct ServedVersion<'c> {
    name: &'c str,
    api_version: &'c str,
    resources: Vec<&'c ServedResource>,
}

impl Discovery {
    /// Renders the documents of a catalog. `local_address` is `host:port` of the listener.
    pub fn new(catalog: &Catalog, media_types: &MediaTypes, local_address: impl Into<String>) -> Self {
        let (core, named): (Vec<_>, Vec<_>) =
            groups(catalog).into_iter().partition(|group| group.name.is_empty());
        let mut documents = HashMap::new();
        let api = Plain::Versions(legacy::ApiVersions::new(&core));
        let aggregated = Some(Aggregated::new(catalog, &core));
        documents.insert("/api".to_owned(), Document { plain: api, def: &API_VERSIONS_TYPE, aggregated });
        let apis = Plain::Finished(legacy::group_list(&named));
        let aggregated = Some(Aggregated::new(catalog, &named));
        documents.insert("/apis".to_owned(), Document { plain: apis, def: &API_GROUP_LIST_TYPE, aggregated });
        for group in &named {
            let plain = Plain::Finished(legacy::group(group));
            let document = Document { plain, def: &API_GROUP_TYPE, aggregated: None };
            documents.insert(format!("/apis/{}", group.name), document);
        }
        for version in core.iter().chain(&named).flat_map(|group| &group.versions) {
            let root = if version.api_version.contains('/') { "/apis" } else { "/api" };
            let plain = Plain::Finished(legacy::resource_list(catalog, version));
            let path = format!("{root}/{}", version.api_version);
            documents.insert(path, Document { plain, def: &API_RESOURCE_LIST_TYPE, aggregated: None });
        }
        Discovery {
            documents,
            media_types: media_types.iter().collect(),
            listed: media_types
                .in_vocabulary(catalog.vocabulary)
                .map(|named| named.name.to_owned())
                .collect(),
            local_address: local_address.into(),
            form_groups: aggregated::group_names(catalog.vocabulary),
        }
    }

    /// The answer to `GET` of a discovery path; `None` for all other paths.
    pub fn serve(&self, request: &Parts) -> Option<Response> {
        let document = self.document(request.uri.path())?;
        let mut response =
            self.answer(document, request).unwrap_or_else(|| refusal(self.not_acceptable(request)));
        if document.aggregated.is_some() {
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
        }
        Some(response)
    }

    /// 406, which tells an unknown media type from a known one in a form that is not there, except for groups
    /// and their list.
    fn not_acceptable(&self, request: &Parts) -> ApiError {
        let accept = all_values(&request.headers, header::ACCEPT);
        let is_known =
            |clause: &str| self.media_types.iter().any(|known| known.name == without_parameters(clause));
        if is_of_groups(request) || accept.split(',').any(is_known) {
            ApiError::NotAcceptable(self.listed.clone())
        } else {
            ApiError::UnknownMediaType(self.listed.clone())
        }
    }

    /// The document in the form that the request accepts, if there is one.
    fn answer(&self, document: &Document, request: &Parts) -> Option<Response> {
        let groups: Vec<&str> = self.form_groups.iter().map(String::as_str).collect();
        let forms = [Form { kind: aggregated::KIND, groups: &groups, versions: &aggregated::VERSIONS }];
        let forms = if document.aggregated.is_some() { &forms[..] } else { &[] };
        // The newer form is made in JSON alone.
        let offer = |media_type: &NamedMediaType| {
            let forms = if media_type.syntax() == Syntax::Json { forms } else { &[] };
            Offer { media_type: *media_type, streams: false, forms }
        };
        let offers: Vec<Offer<'_>> = self.media_types.iter().map(offer).collect();
        let accept = all_values(&request.headers, header::ACCEPT);
        let negotiate = if is_of_groups(request) { negotiate_ranges } else { negotiate };
        let negotiated = negotiate(Some(&accept), &offers)?;
        let query = Query::parse(request.uri.query());
        let is_pretty = wants_pretty(&request.headers, &query, negotiated.pretty);
        if let (Some(asked), Some(aggregated)) = (negotiated.form, &document.aggregated) {
            return aggregated.respond(asked, is_pretty, &request.headers);
        }
        let text = match &document.plain {
            Plain::Versions(versions) => versions.render(self.address(request)),
            Plain::Finished(body) => body.clone(),
        };
        let answer = response::document(negotiated.media_type, is_pretty, text, document.def);
        Some(answer.unwrap_or_else(refusal))
    }

    /// The document of a path. One slash at its end is ignored.
    fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path.strip_suffix('/').unwrap_or(path))
    }

    fn address<'r>(&'r self, request: &'r Parts) -> &'r str {
        let host = || request.headers.get(header::HOST)?.to_str().ok();
        let named = request.uri.authority().map(Authority::as_str).or_else(host);
        named.filter(|address| !address.is_empty()).unwrap_or(&self.local_address)
    }
}

/// Whether a group, or the list of groups, is asked for. The reference answers these in another part of the
/// server, which judges `Accept` in another way.
fn is_of_groups(request: &Parts) -> bool {
    let mut segments = request.uri.path().trim_end_matches('/').split('/').skip(1);
    segments.next() == Some("apis") && segments.nth(1).is_none()
}

/// A document on one line with a newline at its end.
fn line<T: serde::Serialize>(document: &T) -> Bytes {
    let mut text = serde_json::to_vec(document).expect("structs of strings and lists have a JSON form");
    text.push(b'\n');
    Bytes::from(text)
}

/// The catalog's kinds by group and version; versions without kinds are left out.
fn groups(catalog: &Catalog) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for served in &catalog.group_versions {
        let of_version = |resource: &&ServedResource| resource.api_version == served.api_version;
        let mut resources: Vec<&ServedResource> =
            catalog.resources().map(Arc::as_ref).filter(of_version).collect();
        resources.sort_by_key(|resource| resource.def.plural);
        let group = match groups.last_mut() {
            _ if resources.is_empty() => continue,
            Some(last) if last.name == served.group => last,
            _ => groups.push_mut(Group { name: &served.group, versions: Vec::new() }),
        };
        // Two tables may add kinds to one version.
        if group.versions.iter().all(|version| version.name != served.version) {
            group.versions.push(ServedVersion {
                name: &served.version,
                api_version: &served.api_version,
                resources,
            });
        }
    }
    groups
}

/// The group, version and kind of a sub-resource's body where they are not its parent's: group and version
/// are empty where they are.
fn body_kind(
    catalog: &Catalog,
    resource: &ServedResource,
    sub: &'static SubresourceDef,
) -> (String, &'static str, &'static str) {
    match sub.body {
        None => (String::new(), "", resource.def.kind),
        Some(body) if body.group == resource.def.group && body.version == resource.def.version => {
            (String::new(), "", body.kind)
        }
        Some(body) => (catalog.vocabulary.group(body.group).into_owned(), body.version, body.kind),
    }
}
