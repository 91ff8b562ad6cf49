//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the spelling of
//! either vocabulary, and answered in the spelling that was asked.

use http::{HeaderMap, header};
use orch_machinery::{
    negotiate::{self, Negotiated, Offer, media_type},
    table::IncludeObject,
};
use orch_runtime::resource_def::Verb;

use crate::{
    error::{ApiError, Result},
    registry::Call,
};

/// How an answer is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Representation {
    /// What is written.
    pub form: Form,
    /// Whether it is indented.
    pub pretty: bool,
    /// Whether it may be compressed.
    pub gzip: bool,
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
/// The kind of a list of metadata alone.
pub const METADATA_LIST: &str = "PartialObjectMetadataList";
/// Clients that show text to people and cannot be asked what they like.
const PRETTY_AGENTS: &[&str] = &["curl", "Wget", "Mozilla/5.0"];

impl Representation {
    /// Reads what the client accepts.
    ///
    /// # Errors
    /// 406 where nothing that it accepts can be made, 400 for a table with an unknown kind of row objects.
    pub fn negotiate(headers: &HeaderMap, call: Call<'_>) -> Result<Self> {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let gzip = matches!(call.target.verb, Verb::Get | Verb::List) && accepts_gzip(headers);
        if accept.is_none_or(|accept| accept.is_empty() || accept == JSON || accept == "*/*") {
            // What programs ask for; nothing has to be weighed.
            return Ok(Representation { form: Form::Plain, pretty: wants_pretty(headers, call, None), gzip });
        }
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
            pretty: wants_pretty(headers, call, negotiated.pretty),
            gzip,
        })
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
fn wants_pretty(headers: &HeaderMap, call: Call<'_>, negotiated: Option<bool>) -> bool {
    call.query.optional_flag("pretty").or(negotiated).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}

/// Whether the client names gzip and does not rule it out by a weight of zero.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        named && weight.is_none_or(|weight| weight.trim().parse().is_ok_and(|weight: f32| weight > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::accepts_gzip;

    #[test]
    fn gzip_is_for_those_who_name_it() {
        for (value, expected) in [
            ("", false),
            ("gzip", true),
            ("GZIP", true),
            ("deflate, gzip;q=0.5", true),
            ("gzip ; q=1.0, *", true),
            ("gzip;q=0", false),
            ("gzip;q=0.000", false),
            ("gzip;q=x", false),
            ("*", false),
            ("identity, br", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
            assert_eq!(accepts_gzip(&headers), expected, "{value:?}");
        }
    }
}
