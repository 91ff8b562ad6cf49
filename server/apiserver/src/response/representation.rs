//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the spelling of
//! either vocabulary, and answered in the spelling that was asked.

use bytes::Bytes;
use http::{HeaderMap, header};
use orch_api::meta::v1::OBJECT_META_TYPE;
use orch_machinery::{
    json::{Limits, decode::decode, encode::encode, pretty::pretty},
    meta,
    negotiate::{self, Negotiated, Offer, media_type},
};
use orch_runtime::{
    Tree,
    resource_def::Verb,
    type_def::{FieldDef, PatchStrategy, Shape, TypeDef},
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
}

const JSON: &str = "application/json";
const METADATA: &str = "PartialObjectMetadata";
const METADATA_LIST: &str = "PartialObjectMetadataList";
/// What is left of any object: its metadata. Encoding by this table drops all other fields.
static PARTIAL_OBJECT_METADATA: TypeDef = TypeDef {
    name: "meta.v1.PartialObjectMetadata",
    short_name: METADATA,
    fields: &[FieldDef {
        name: "metadata",
        tag: Some(1),
        shape: Shape::Object(&OBJECT_META_TYPE),
        required: false,
        omit_empty: false,
        nullable: false,
        write_only: false,
        patch: PatchStrategy::DEFAULT,
    }],
    atomic: false,
};
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
        let forms = [form(metadata)];
        let watch = call.target.verb == Verb::Watch;
        let offers = [Offer { media_type: JSON, streams: watch, forms: &forms }];
        let Some(negotiated) = negotiate::negotiate(accept, &offers) else {
            let accepted = vec![if watch { "application/json;stream=watch" } else { JSON }.to_owned()];
            let asks_json = accept.unwrap_or_default().split(',').any(|clause| media_type(clause) == JSON);
            let error = if asks_json { ApiError::NotAcceptable } else { ApiError::UnknownMediaType };
            return Err(error(accepted));
        };
        Ok(Representation { form: asked(&negotiated), pretty: wants_pretty(headers, call, &negotiated) })
    }

    /// The last step of writing: indentation where it is wanted.
    pub fn finish(&self, text: Vec<u8>) -> Vec<u8> {
        if self.pretty { pretty(&text) } else { text }
    }
}

fn asked(negotiated: &Negotiated<'_>) -> Form {
    negotiated.form.map_or(Form::Plain, |form| Form::Metadata(form.api_version()))
}

/// An explicit parameter decides, then the media type's, then who asks.
fn wants_pretty(headers: &HeaderMap, call: Call<'_>, negotiated: &Negotiated<'_>) -> bool {
    call.query.optional_flag("pretty").or(negotiated.pretty).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}

/// One object in another form than its own, with a newline at the end.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn object(form: &Form, resource: &ServedResource, stored: &[u8]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    match form {
        Form::Plain => text.extend_from_slice(stored.strip_suffix(b"\n").unwrap_or(stored)),
        Form::Metadata(api_version) => {
            let mut tree = read(resource, stored)?;
            write_metadata(api_version, &mut tree, &mut text);
        }
    }
    text.push(b'\n');
    Ok(text)
}

/// A list in another form than its own, with a newline at the end.
///
/// # Errors
/// 500 where a stored form cannot be read.
pub fn list(form: &Form, list: &List) -> Result<Vec<u8>> {
    let resource = &list.resource;
    let mut text = Vec::new();
    match form {
        Form::Plain => return Ok(ListBody::new(list.clone()).into_text()),
        Form::Metadata(api_version) => {
            text.extend_from_slice(list_body::head(METADATA_LIST, api_version, list.revision).as_bytes());
            for (index, object) in list.objects.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                let mut tree = read(resource, current::bytes_of(resource, object)?)?;
                write_metadata(api_version, &mut tree, &mut text);
            }
            text.extend_from_slice(list_body::END);
        }
    }
    Ok(text)
}

/// The forms of the events of one watch.
pub struct WatchForm {
    form: Form,
}

impl WatchForm {
    /// For a watch in this form.
    pub fn new(form: Form) -> Self {
        WatchForm { form }
    }

    /// An object as an event shows it.
    ///
    /// # Errors
    /// 500 where the stored form cannot be read.
    pub fn object(&mut self, resource: &ServedResource, stored: &Bytes) -> Result<Bytes> {
        match &self.form {
            Form::Plain => Ok(stored.clone()),
            form => Ok(object(form, resource, stored)?.into()),
        }
    }

    /// An object of the kind that has nothing but a version, and the mark that ends the initial events.
    ///
    /// # Errors
    /// 500 where the kind cannot be empty.
    pub fn bookmark(&mut self, resource: &ServedResource, revision: Revision, mark: Option<&str>) -> Result<Bytes> {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if let Some(mark) = mark {
            metadata["annotations"] = json!({mark: "true"});
        }
        let empty = (resource.def.from_tree)(json!({"metadata": metadata})).and_then(|object| object.to_tree());
        let mut tree = empty.map_err(|error| ApiError::internal("a bookmark cannot be written", error))?;
        meta::set_type(&mut tree, resource.def.kind, &resource.api_version);
        let mut text = Vec::new();
        encode(&tree, resource.def.type_def, &mut text);
        self.object(resource, &text.into())
    }
}

fn read(resource: &ServedResource, stored: &[u8]) -> Result<Tree> {
    match decode(stored, resource.def.type_def, &Limits::default()) {
        Ok(decoded) => Ok(decoded.tree),
        Err(error) => Err(ApiError::internal("a stored object cannot be read", error)),
    }
}

/// `PartialObjectMetadata` of an object.
fn write_metadata(api_version: &str, tree: &mut Tree, text: &mut Vec<u8>) {
    meta::set_type(tree, METADATA, api_version);
    encode(tree, &PARTIAL_OBJECT_METADATA, text);
}
