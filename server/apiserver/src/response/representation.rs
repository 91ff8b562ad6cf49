//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the spelling of
//! either vocabulary, and answered in the spelling that was asked.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, header};
use orch_machinery::{
    negotiate::{self, Negotiated, Offer, media_type},
    table::IncludeObject,
};
use orch_runtime::{resource_def::Verb, vocabulary::Vocabulary};

use super::protobuf_body;
use crate::{
    error::{ApiError, Result},
    query::Query,
    registry::Call,
};

/// How an answer is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Representation {
    /// What is written.
    pub form: Form,
    /// In which syntax.
    pub syntax: Syntax,
    /// Whether it is indented; YAML always is.
    pub pretty: bool,
    /// Whether it may be compressed.
    pub gzip: bool,
}

/// The syntax of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
    /// Protobuf, under the media type of one of the vocabularies.
    Protobuf(&'static str),
}

impl Syntax {
    /// The syntax of a media type that was offered.
    pub fn of(media_type: &str) -> Self {
        match protobuf_media_types().find(|known| *known == media_type) {
            Some(known) => Syntax::Protobuf(known),
            None if media_type == YAML => Syntax::Yaml,
            None => Syntax::Json,
        }
    }

    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Syntax::Json => JSON,
            Syntax::Yaml => YAML,
            Syntax::Protobuf(media_type) => media_type,
        }
    }
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
const YAML: &str = "application/yaml";
const TABLE: &str = "Table";
/// The kind of an object's metadata alone.
pub const METADATA: &str = "PartialObjectMetadata";
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
        let accept = all_values(headers, header::ACCEPT);
        let gzip = matches!(call.target.verb, Verb::Get | Verb::List) && accepts_gzip(headers);
        let pretty = |asked| wants_pretty(headers, call.query, asked);
        if is_for_any_program(&accept) {
            return Ok(Representation {
                form: Form::Plain,
                syntax: Syntax::Json,
                pretty: pretty(None),
                gzip,
            });
        }
        let groups = call.app.meta_groups();
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let versions = ["v1", "v1beta1"];
        let form = |kind| negotiate::Form { kind, groups: &groups, versions: &versions };
        let metadata = if call.target.verb == Verb::List { METADATA_LIST } else { METADATA };
        let forms = [form(TABLE), form(metadata)];
        let is_watch = call.target.verb == Verb::Watch;
        let offer = |media_type| Offer { media_type, streams: is_watch, forms: &forms };
        let mut offers = vec![offer(JSON)];
        if !is_watch {
            // There is no way to tell where an event ends in YAML.
            offers.push(offer(YAML));
        }
        let is_own_kind = call.target.subresource.is_none_or(|subresource| subresource.body.is_none());
        if is_own_kind && protobuf_body::is_made_of(call.target.resource) {
            // Tables are for people.
            let offer = |media_type| Offer { media_type, streams: is_watch, forms: &forms[1..] };
            offers.extend(protobuf_media_types().map(offer));
        }
        let negotiated = negotiate::negotiate(Some(&accept), &offers);
        let negotiated =
            negotiated.ok_or_else(|| not_acceptable(&accept, &offers, call.app.catalog.vocabulary))?;
        Ok(Representation {
            form: asked(&negotiated, call)?,
            syntax: Syntax::of(negotiated.media_type),
            pretty: pretty(negotiated.pretty),
            gzip,
        })
    }
}

/// How a Status is to be written, which is the answer to everything that fails: what else the client accepts does not
/// matter then, and whoever accepts nothing gets JSON.
pub fn negotiate_status(headers: &HeaderMap, query: &Query) -> (Syntax, bool) {
    let accept = all_values(headers, header::ACCEPT);
    let accepted = || {
        // A Status has one form, whichever is asked.
        let plain: Vec<String> = accept.split(',').map(without_form).collect();
        let offer = |media_type| Offer { media_type, streams: true, forms: &[] };
        let mut offers = vec![offer(JSON), offer(YAML)];
        offers.extend(protobuf_media_types().map(offer));
        let negotiated = negotiate::negotiate(Some(&plain.join(",")), &offers)?;
        Some((Syntax::of(negotiated.media_type), negotiated.pretty))
    };
    let chosen = if is_for_any_program(&accept) { None } else { accepted() };
    let (syntax, pretty) = chosen.unwrap_or((Syntax::Json, None));
    (syntax, wants_pretty(headers, query, pretty))
}

/// Clients ask for it by the name that they were made with, whichever vocabulary the server speaks.
fn protobuf_media_types() -> impl Iterator<Item = &'static str> {
    orch_api::VOCABULARIES.iter().map(|words| words.protobuf_media_type)
}

/// What programs ask for; nothing has to be weighed.
fn is_for_any_program(accept: &str) -> bool {
    accept.is_empty() || accept == JSON || accept == "*/*"
}

/// A clause without the parameters that ask for another form of an object.
fn without_form(clause: &str) -> String {
    let asks_form = |part: &&str| ["as=", "g=", "v="].iter().any(|name| part.trim().starts_with(name));
    clause.split(';').filter(|part| !asks_form(part)).collect::<Vec<_>>().join(";")
}

/// Clients that name a type which exists, but not in the way they want it, are told so in another way.
fn not_acceptable(accept: &str, offers: &[Offer<'_>], vocabulary: &Vocabulary) -> ApiError {
    let streams = |offer: &Offer<'_>| if offer.streams { ";stream=watch" } else { "" };
    // Of the names for protobuf, one is told.
    let is_foreign = |offer: &&Offer<'_>| {
        offer.media_type != vocabulary.protobuf_media_type
            && protobuf_media_types().any(|known| known == offer.media_type)
    };
    let told = offers.iter().filter(|offer| !is_foreign(offer));
    let accepted = told.map(|offer| format!("{}{}", offer.media_type, streams(offer))).collect();
    let is_known = |clause| offers.iter().any(|offer| media_type(clause) == offer.media_type);
    if accept.split(',').any(is_known) {
        ApiError::NotAcceptable(accepted)
    } else {
        ApiError::UnknownMediaType(accepted)
    }
}

/// The lines of a header that may be written in several, as one.
pub fn all_values(headers: &HeaderMap, name: HeaderName) -> Cow<'_, str> {
    let mut values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    let first = values.next().unwrap_or_default();
    values.fold(Cow::Borrowed(first), |joined, value| Cow::Owned(format!("{joined},{value}")))
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
fn wants_pretty(headers: &HeaderMap, query: &Query, negotiated: Option<bool>) -> bool {
    query.optional_flag("pretty").or(negotiated).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}

/// Whether the client names gzip and does not rule it out by a weight of zero.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    all_values(headers, header::ACCEPT_ENCODING).split(',').any(|coding| {
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
