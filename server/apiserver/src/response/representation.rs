//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the spelling of
//! either vocabulary, and answered in the spelling that was asked.

use bytes::Bytes;
use http::{HeaderMap, header};
use orch_machinery::{
    json::{Limits, decode::decode, encode::encode, pretty::pretty},
    meta::{self, Meta},
    negotiate::{self, Negotiated, Offer, media_type},
    partial::{ListMeta, write_partial_object},
    table::{IncludeObject, Row, TableWriter, cells, columns_of},
};
use orch_runtime::{
    Tree,
    resource_def::{CellContext, Verb},
    scalar::Time,
};
use orch_storage::Revision;
use serde_json::json;

use super::list_body::{self, ListBody};
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
    registry::{Call, current, list::List},
};

/// How an answer is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Representation {
    /// What is written.
    pub form: Form,
    /// Whether it is indented.
    pub pretty: bool,
}

/// What is written of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// All of it.
    Plain,
    /// Its metadata; under this apiVersion.
    Metadata(String),
    /// A row of a table, under this apiVersion.
    Table(String, IncludeObject),
}

const JSON: &str = "application/json";
const TABLE: &str = "Table";
const METADATA: &str = "PartialObjectMetadata";
const METADATA_LIST: &str = "PartialObjectMetadataList";
/// Clients that show text to people and cannot be asked what they like.
const PRETTY_AGENTS: &[&str] = &["curl", "Wget", "Mozilla/5.0"];

impl Representation {
    /// Reads what the client accepts.
    ///
    /// # Errors
    /// 406 where nothing that it accepts can be made, 400 for a table with an unknown kind of row objects.
    pub fn negotiate(headers: &HeaderMap, call: Call<'_>) -> Result<Self> {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let groups = call.app.meta_groups();
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let versions = ["v1", "v1beta1"];
        let form = |kind| negotiate::Form { kind, groups: &groups, versions: &versions };
        let metadata = if call.target.verb == Verb::List { METADATA_LIST } else { METADATA };
        let forms = [form(TABLE), form(metadata)];
        let watch = call.target.verb == Verb::Watch;
        let offers = [Offer { media_type: JSON, streams: watch, forms: &forms }];
        let Some(negotiated) = negotiate::negotiate(accept, &offers) else {
            let accepted = vec![if watch { "application/json;stream=watch" } else { JSON }.to_owned()];
            let asks_json = accept.unwrap_or_default().split(',').any(|clause| media_type(clause) == JSON);
            let error = if asks_json { ApiError::NotAcceptable } else { ApiError::UnknownMediaType };
            return Err(error(accepted));
        };
        Ok(Representation {
            form: asked(&negotiated, call)?,
            pretty: wants_pretty(headers, call, &negotiated),
        })
    }

    /// The last step of writing: indentation where it is wanted.
    pub fn finish(&self, text: Vec<u8>) -> Vec<u8> {
        if self.pretty { pretty(&text) } else { text }
    }
}

fn asked(negotiated: &Negotiated<'_>, call: Call<'_>) -> Result<Form> {
    let Some(form) = negotiated.form else { return Ok(Form::Plain) };
    if form.kind != TABLE {
        return Ok(Form::Metadata(form.api_version()));
    }
    let asked = call.query.text("includeObject");
    match IncludeObject::parse(asked) {
        Some(include) => Ok(Form::Table(form.api_version(), include)),
        None => Err(ApiError::BadRequest(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: \"{asked}\": \
             must be 'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

/// An explicit parameter decides, then the media type's, then who asks.
fn wants_pretty(headers: &HeaderMap, call: Call<'_>, negotiated: &Negotiated<'_>) -> bool {
    call.query.optional_flag("pretty").or(negotiated.pretty).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}

/// One object in the form that was asked for, with a newline at the end.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn object(form: &Form, resource: &ServedResource, stored: &[u8], now: Time) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    match form {
        Form::Plain => text.extend_from_slice(document(stored)),
        Form::Metadata(api_version) => {
            write_partial_object(&read(resource, stored)?, resource.def.type_def, api_version, &mut text);
        }
        Form::Table(api_version, include) => {
            let tree = read(resource, stored)?;
            let columns = columns_of(resource.def.columns);
            let meta =
                ListMeta { resource_version: Meta::of(&tree).resource_version(), ..ListMeta::default() };
            let mut table = TableWriter::start(api_version, *include, meta, Some(columns), &mut text);
            write_row(&mut table, resource, &tree, stored, now, &mut text);
            table.end(&mut text);
        }
    }
    text.push(b'\n');
    Ok(text)
}

/// A list in the form that was asked for, with a newline at the end.
///
/// # Errors
/// 500 where a stored form cannot be read.
pub fn list(form: &Form, list: &List, now: Time) -> Result<Vec<u8>> {
    let resource = &list.resource;
    let mut text = Vec::new();
    match form {
        Form::Plain => return Ok(ListBody::new(list.clone()).into_text()),
        Form::Metadata(api_version) if list.objects.is_empty() => {
            // Existing clients know the empty list of this form as null.
            let head = list_body::head(METADATA_LIST, api_version, list);
            text.extend_from_slice(head.strip_suffix(b"[").unwrap_or(&head));
            text.extend_from_slice(b"null}\n");
        }
        Form::Metadata(api_version) => {
            text.extend_from_slice(&list_body::head(METADATA_LIST, api_version, list));
            for (index, object) in list.objects.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                let tree = read(resource, current::bytes_of(resource, object)?)?;
                write_partial_object(&tree, resource.def.type_def, api_version, &mut text);
            }
            text.extend_from_slice(list_body::END);
        }
        Form::Table(api_version, include) => {
            let revision = list.revision.to_string();
            let meta = list_body::meta(list, &revision);
            let columns = columns_of(resource.def.columns);
            let mut table = TableWriter::start(api_version, *include, meta, Some(columns), &mut text);
            for object in &list.objects {
                let stored = current::bytes_of(resource, object)?;
                write_row(&mut table, resource, &read(resource, stored)?, stored, now, &mut text);
            }
            table.end(&mut text);
            text.push(b'\n');
        }
    }
    Ok(text)
}

/// The forms of the events of one watch.
pub struct WatchForm {
    form: Form,
    /// A table says what its columns are in the first event only.
    columns_told: bool,
}

impl WatchForm {
    /// For a watch in this form.
    pub fn new(form: Form) -> Self {
        WatchForm { form, columns_told: false }
    }

    /// An object as an event shows it.
    ///
    /// # Errors
    /// 500 where the stored form cannot be read.
    pub fn object(&mut self, resource: &ServedResource, stored: &Bytes, now: Time) -> Result<Bytes> {
        match &self.form {
            Form::Plain => Ok(stored.clone()),
            Form::Metadata(_) => Ok(object(&self.form, resource, stored, now)?.into()),
            Form::Table(api_version, include) => {
                let tree = read(resource, stored)?;
                let meta =
                    ListMeta { resource_version: Meta::of(&tree).resource_version(), ..ListMeta::default() };
                let columns = (!std::mem::replace(&mut self.columns_told, true))
                    .then(|| columns_of(resource.def.columns));
                let mut text = Vec::new();
                let mut table = TableWriter::start(api_version, *include, meta, columns, &mut text);
                write_row(&mut table, resource, &tree, stored, now, &mut text);
                table.end(&mut text);
                Ok(text.into())
            }
        }
    }

    /// An object of the kind that has nothing but a version, and the mark that ends the initial events.
    ///
    /// # Errors
    /// 500 where the kind cannot be empty.
    pub fn bookmark(
        &mut self,
        resource: &ServedResource,
        revision: Revision,
        mark: Option<&str>,
        now: Time,
    ) -> Result<Bytes> {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if let Some(mark) = mark {
            metadata["annotations"] = json!({mark: "true"});
        }
        let empty =
            (resource.def.from_tree)(json!({"metadata": metadata})).and_then(|object| object.to_tree());
        let mut tree = empty.map_err(|error| ApiError::internal("a bookmark cannot be written", error))?;
        meta::set_type(&mut tree, resource.def.kind, &resource.api_version);
        let mut text = Vec::new();
        encode(&tree, resource.def.type_def, &mut text);
        self.object(resource, &text.into(), now)
    }
}

/// A stored form without the newline at its end.
fn document(stored: &[u8]) -> &[u8] {
    stored.strip_suffix(b"\n").unwrap_or(stored)
}

fn read(resource: &ServedResource, stored: &[u8]) -> Result<Tree> {
    match decode(stored, resource.def.type_def, &Limits::default()) {
        Ok(decoded) => Ok(decoded.tree),
        Err(error) => Err(ApiError::internal("a stored object cannot be read", error)),
    }
}

fn write_row(
    table: &mut TableWriter<'_>,
    resource: &ServedResource,
    tree: &Tree,
    stored: &[u8],
    now: Time,
    text: &mut Vec<u8>,
) {
    let context = CellContext { vocabulary: resource.vocabulary, now };
    let cells = cells(columns_of(resource.def.columns), tree, &context);
    let def = resource.def.type_def;
    table.row(&Row { cells: &cells, conditions: &[], tree, bytes: document(stored), def }, text);
}
