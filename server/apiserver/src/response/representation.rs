//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the spelling of
//! either vocabulary, and answered in the spelling that was asked.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, header};
use orch_machinery::{
    json::{Limits, decode::decode, encode::encode, pretty::pretty},
    negotiate::{self, Negotiated, Offer},
    table::{self, RowObject},
};
use orch_runtime::{Tree, resource_def::Verb};
use orch_storage::Revision;
use serde_json::json;

use crate::{
    app::App,
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
    Table(String, RowObject),
}

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
        let offers = [Offer { media_type: "application/json", streams: watch, forms: &forms }];
        let Some(negotiated) = negotiate::negotiate(accept, &offers) else {
            let stream = if watch { ";stream=watch" } else { "" };
            return Err(ApiError::NotAcceptable(vec![format!("application/json{stream}")]));
        };
        Ok(Representation { form: asked(&negotiated, call)?, pretty: wants_pretty(headers, call, &negotiated) })
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
    let object = match call.query.text("includeObject") {
        "" | "Metadata" => RowObject::Metadata,
        "Object" => RowObject::Object,
        "None" => RowObject::None,
        other => {
            return Err(ApiError::BadRequest(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: \"{other}\": \
                 must be 'Metadata', 'Object', 'None', or empty"
            )));
        }
    };
    Ok(Form::Table(form.api_version(), object))
}

/// An explicit parameter decides, then the media type's, then who asks.
fn wants_pretty(headers: &HeaderMap, call: Call<'_>, negotiated: &Negotiated<'_>) -> bool {
    call.query.optional_flag("pretty").or(negotiated.pretty).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}
