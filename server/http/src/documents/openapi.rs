//! The published OpenAPI documents: of v3 an index, and a document per group version; of v2 one document.
//!
//! Client tools read from them which patch types and options a kind has, how its lists merge, and what its
//! fields mean. The index names a document by the digest of its bytes, so that a client with a cached copy
//! needs no request. Documents are built from the catalog when they are first asked for, because most servers
//! are never asked; then they stay.
//!
//! Paths and operations are written from small structs of this module and schemas as JSON values. The types
//! of the `openapiv3` crate are not used here: schemas arrive as finished JSON text, which those types would
//! change on the way (they drop what stands beside a reference), and operations need few of their fields.

use std::sync::{Arc, OnceLock};

use axum::{body::Body, response::Response};
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use orch_machinery::{
    media_type::{self, MediaTypes, NamedMediaType},
    negotiate::{Offer, negotiate_ranges},
};
use orch_registry::{catalog::Catalog, error::ApiError};

use crate::{
    documents::static_document::{StaticDocument, http_date},
    request::query::Query,
    response::{all_values, status::refusal},
};

mod document;
mod index;
mod messages;
mod operation;
mod parameters;
mod paths;
mod schemas;
#[cfg(test)]
mod tests;
mod v2;

/// The path of the index; documents are below it.
const ROOT: &str = "/openapi/v3";
/// The path of the document in v2.
const V2_PATH: &str = "/openapi/v2";
/// How long a client may keep a document that it named by its digest.
const KEPT_SECONDS: i64 = 365 * 24 * 60 * 60;
/// The usual representation.
const JSON: HeaderValue = HeaderValue::from_static(media_type::JSON);
/// The names of the document of v2 in protobuf. Answers have the first; clients also ask by the second.
const V2_BINARY: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// The same for a document of v3.
const V3_BINARY: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
];

/// All documents.
#[derive(Debug)]
pub struct OpenApi {
    catalog: Arc<Catalog>,
    media_types: Arc<MediaTypes>,
    entries: Vec<Entry>,
    index: OnceLock<Result<StaticDocument, Unpublishable>>,
    v2: OnceLock<Result<V2, Unpublishable>>,
}

/// The document of v2.
#[derive(Debug)]
struct V2 {
    json: StaticDocument,
    binary: StaticDocument,
}

/// A group version's document.
#[derive(Debug)]
struct Entry {
    /// `api/v1`, `apis/apps/v1`.
    key: String,
    group: String,
    version: String,
    document: OnceLock<Result<StaticDocument, Unpublishable>>,
    /// The same in protobuf, under the same digest.
    binary: OnceLock<Result<StaticDocument, Unpublishable>>,
}

/// Why a document cannot be built: a mistake in the tables, for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
struct Unpublishable(String);

impl OpenApi {
    /// Prepares the documents of a catalog; none is built yet.
    pub fn new(catalog: Arc<Catalog>, media_types: Arc<MediaTypes>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for resource in catalog.resources() {
            let root = if resource.group.is_empty() { "api" } else { "apis" };
            let key = format!("{root}/{}", resource.api_version);
            if entries.iter().all(|entry| entry.key != key) {
                let (group, version) = (resource.group.clone(), resource.def.version.to_owned());
                entries.push(Entry {
                    key,
                    group,
                    version,
                    document: OnceLock::new(),
                    binary: OnceLock::new(),
                });
            }
        }
        OpenApi { catalog, media_types, entries, index: OnceLock::new(), v2: OnceLock::new() }
    }

    /// The answer to `GET` of the index or a document; `None` for all other paths. `now` is in seconds since
    /// 1970.
    pub fn serve(&self, request: &Parts, query: &Query, now: i64) -> Option<Response> {
        let found = self.find(request.uri.path())?;
        let offered: &[&str] = match found {
            Found::V2 => &V2_BINARY,
            // Requests for the index may accept protobuf, as those for documents do. It has one form only.
            Found::Document(_) | Found::Index => &V3_BINARY,
        };
        let Some(accepted) = accepted(&request.headers, offered) else {
            let known = [media_type::JSON].iter().chain(offered.first());
            return Some(refusal(ApiError::NotAcceptable(known.map(|name| (*name).to_owned()).collect())));
        };
        let answer = match found {
            Found::V2 => self.v2(now).map(|v2| {
                let document = if accepted == media_type::JSON { &v2.json } else { &v2.binary };
                document.respond(&request.headers)
            }),
            Found::Index => self.index().map(|index| index.respond(&request.headers)),
            Found::Document(entry) => {
                let document =
                    if accepted == media_type::JSON { self.document(entry) } else { self.binary(entry) };
                document.map(|document| respond(entry, document, request, query, now))
            }
        };
        Some(
            answer.unwrap_or_else(|error| refusal(ApiError::internal("the document cannot be built", error))),
        )
    }

    fn find(&self, path: &str) -> Option<Found<'_>> {
        if path.strip_suffix('/').unwrap_or(path) == V2_PATH {
            return Some(Found::V2);
        }
        let below = path.strip_prefix(ROOT)?;
        if matches!(below, "" | "/") {
            return Some(Found::Index);
        }
        let key = below.strip_prefix('/')?;
        let key = key.strip_suffix('/').unwrap_or(key);
        self.entries.iter().find(|entry| entry.key == key).map(Found::Document)
    }

    fn index(&self) -> Result<&StaticDocument, &Unpublishable> {
        let build = || {
            let mut digests = Vec::with_capacity(self.entries.len());
            for entry in &self.entries {
                let document = self.document(entry).map_err(Clone::clone)?;
                digests.push((entry.key.as_str(), document.digest()));
            }
            Ok(StaticDocument::new(JSON, index::render(&digests)))
        };
        self.index.get_or_init(build).as_ref()
    }

    /// The document of v2; its time is that at which it is first asked for.
    fn v2(&self, now: i64) -> Result<&V2, &Unpublishable> {
        let build = || {
            let mut documents = Vec::with_capacity(self.entries.len());
            for entry in &self.entries {
                documents.push(self.document(entry).map_err(Clone::clone)?.body());
            }
            let document = v2::convert(documents.into_iter())?;
            let binary = messages::v2::encode(&document).map_err(|error| Unpublishable(error.to_string()))?;
            Ok(V2 {
                json: StaticDocument::new(JSON, document.to_string()).modified(now),
                binary: StaticDocument::new(HeaderValue::from_static(V2_BINARY[0]), binary).modified(now),
            })
        };
        self.v2.get_or_init(build).as_ref()
    }

    fn document<'e>(&self, entry: &'e Entry) -> Result<&'e StaticDocument, &'e Unpublishable> {
        let build = || {
            let body = document::render(&self.catalog, &self.media_types, &entry.group, &entry.version)?;
            Ok(StaticDocument::new(JSON, body))
        };
        entry.document.get_or_init(build).as_ref()
    }

    fn binary<'e>(&self, entry: &'e Entry) -> Result<&'e StaticDocument, &'e Unpublishable> {
        let build = || {
            let json = self.document(entry).map_err(Clone::clone)?;
            let unpublishable = |error: &dyn std::fmt::Display| Unpublishable(error.to_string());
            let document = serde_json::from_slice(json.body()).map_err(|error| unpublishable(&error))?;
            let binary = messages::v3::encode(&document).map_err(|error| unpublishable(&error))?;
            Ok(json.in_other_form(HeaderValue::from_static(V3_BINARY[0]), binary))
        };
        entry.binary.get_or_init(build).as_ref()
    }
}

enum Found<'a> {
    Index,
    Document(&'a Entry),
    V2,
}

/// A document under the digest that the client expects, or the way to the one that it has now.
fn respond(entry: &Entry, document: &StaticDocument, request: &Parts, query: &Query, now: i64) -> Response {
    let hash = query.text("hash");
    if !hash.is_empty() && hash != document.digest() {
        return moved(&index::address(&entry.key, document.digest()));
    }
    let mut response = document.respond(&request.headers);
    if !hash.is_empty() {
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        if let Some(expires) = http_date(now.saturating_add(KEPT_SECONDS)) {
            headers.insert(header::EXPIRES, expires);
        }
    }
    response
}

fn moved(address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    let address = HeaderValue::from_str(address).expect("group names and hex digits are header text");
    response.headers_mut().insert(header::LOCATION, address);
    response
}

/// JSON, or which of these other media types `Accept` prefers; an absent or empty one takes JSON.
fn accepted(request: &HeaderMap, others: &[&'static str]) -> Option<&'static str> {
    let accept = all_values(request, header::ACCEPT);
    let names = [media_type::JSON].into_iter().chain(others.iter().copied());
    let offer = |name| Offer {
        media_type: NamedMediaType { name, ..NamedMediaType::JSON },
        streams: false,
        forms: &[],
    };
    let offers: Vec<_> = names.map(offer).collect();
    negotiate_ranges(Some(&accept), &offers).map(|negotiated| negotiated.media_type.name)
}
