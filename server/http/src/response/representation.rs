//! The forms that an answer can take, and which of them a client asked for.
//!
//! Besides the object itself there are its metadata alone and a table for people. Both are named in the
//! spelling of either vocabulary, and answered in the spelling that was asked.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, header};
use orch_machinery::{
    media_type::{JSON, MediaTypes, NamedMediaType, Syntax, without_parameters},
    negotiate::{self, Negotiated, Offer},
    table::IncludeObject,
};
use orch_registry::{
    error::{ApiError, Result},
    request::Target,
};
use orch_runtime::resource_def::Verb;

use crate::request::{RequestHead, query::Query};

/// How an answer is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Representation {
    /// What is written.
    pub form: Form,
    /// In which media type.
    pub media_type: NamedMediaType,
    /// Whether it is indented; YAML always is.
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

const TABLE: &str = "Table";
/// The kind of an object's metadata alone.
pub const METADATA: &str = "PartialObjectMetadata";
/// The kind of a list of metadata alone.
pub const METADATA_LIST: &str = "PartialObjectMetadataList";
/// User agents that show the text to people but cannot ask for indentation.
const PRETTY_AGENTS: &[&str] = &["curl", "Wget", "Mozilla/5.0"];

impl Representation {
    /// Reads what the client accepts.
    ///
    /// # Errors
    /// 406 where nothing that it accepts is offered, 400 for a table with an unknown `includeObject`.
    pub fn negotiate(
        head: &RequestHead<'_>,
        verb: Verb,
        target: &Target<'_>,
        media_types: &MediaTypes,
        meta_groups: &[String],
        compresses: bool,
    ) -> Result<Self> {
        let headers = &head.parts.headers;
        let accept = all_values(headers, header::ACCEPT);
        let is_respelled = head.info.spelling.is_some();
        let gzip =
            compresses && !is_respelled && matches!(verb, Verb::Get | Verb::List) && accepts_gzip(headers);
        let pretty = |asked| wants_pretty(headers, head.query, asked);
        if is_for_any_program(&accept) {
            let (form, media_type) = (Form::Plain, NamedMediaType::JSON);
            return Ok(Representation { form, media_type, pretty: pretty(None), gzip });
        }
        let groups: Vec<&str> = meta_groups.iter().map(String::as_str).collect();
        let form = |kind| negotiate::Form { kind, groups: &groups, versions: &["v1", "v1beta1"] };
        let forms: Vec<_> = forms_of(verb).iter().copied().map(form).collect();
        let offered = Offered { media_types, is_respelled, verb, target };
        let has_rows = offered.has_rows(head.query);
        let offer = |media_type: NamedMediaType| {
            let forms = if has_rows && media_type.media_type.has_tables { &forms[..] } else { &forms[1..] };
            Offer { media_type, streams: media_type.media_type.stream.is_some(), forms }
        };
        let mut offers: Vec<_> = offered.made().map(offer).collect();
        if verb == Verb::Watch {
            offers.extend(offered.made().filter_map(NamedMediaType::own_stream).map(offer));
        }
        let negotiated = negotiate::negotiate(Some(&accept), &offers);
        let negotiated = negotiated.ok_or_else(|| offered.refusal(&accept, form))?;
        Ok(Representation {
            form: asked(&negotiated, head.query)?,
            media_type: negotiated.media_type.of_any_answer(),
            pretty: pretty(negotiated.pretty),
            gzip,
        })
    }

    /// Whether an object is written as it is stored, byte for byte.
    pub fn is_as_stored(&self) -> bool {
        self.form == Form::Plain && !self.pretty && self.media_type.syntax() == Syntax::Json
    }

    /// The same for a client whose body names groups in another spelling, which its path does not tell: in
    /// JSON if the client takes that too, because only JSON text is put into another spelling.
    pub fn for_other_spelling(mut self, headers: &HeaderMap) -> Self {
        let plain: Vec<String> = all_values(headers, header::ACCEPT).split(',').map(without_form).collect();
        let offer = Offer { media_type: NamedMediaType::JSON, streams: false, forms: &[] };
        if negotiate::negotiate(Some(&plain.join(",")), &[offer]).is_some() {
            self.media_type = NamedMediaType::JSON;
        }
        self
    }
}

/// The forms besides the object itself; a table comes first.
fn forms_of(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::List => &[TABLE, METADATA_LIST],
        // A client may use one header for its list and its watch.
        Verb::Watch => &[TABLE, METADATA, METADATA_LIST],
        _ => &[TABLE, METADATA],
    }
}

/// In which media types a request can be answered.
struct Offered<'a> {
    media_types: &'a MediaTypes,
    /// Whether the request names its group in the other spelling.
    is_respelled: bool,
    verb: Verb,
    target: &'a Target<'a>,
}

impl Offered<'_> {
    /// Those that go with the kind.
    fn known(&self) -> impl Iterator<Item = NamedMediaType> {
        self.media_types.iter().filter(|named| {
            let row = named.media_type;
            // Only JSON text is put into another spelling.
            (!self.is_respelled || row.syntax == Syntax::Json) && row.fits(self.target.body_type())
        })
    }

    /// Those that go with the verb too.
    fn made(&self) -> impl Iterator<Item = NamedMediaType> {
        let is_watch = self.verb == Verb::Watch;
        self.known().filter(move |named| !is_watch || named.media_type.stream.is_some())
    }

    /// Whether there is a table. Nobody looks at a question or an operation in a list. And a table cannot
    /// carry the mark that ends the initial events: a client that asks for both would wait for it for ever.
    fn has_rows(&self, query: &Query) -> bool {
        let is_own_kind = self.target.subresource.is_none_or(|subresource| subresource.body.is_none());
        let is_streamed_list =
            self.verb == Verb::Watch && query.optional_flag("sendInitialEvents") == Some(true);
        self.target.resource.def.stored && is_own_kind && !is_streamed_list
    }

    /// The error of a client that accepts nothing of all this.
    fn refusal<'f>(&self, accept: &str, form: impl Fn(&'f str) -> negotiate::Form<'f>) -> ApiError {
        let Offered { verb, target, .. } = *self;
        let other = if verb == Verb::List { METADATA } else { METADATA_LIST };
        let forms = [form(other)];
        let offer = |media_type| Offer { media_type, streams: false, forms: &forms };
        let offers: Vec<_> = self.made().map(offer).collect();
        if verb != Verb::Watch && negotiate::negotiate(Some(accept), &offers).is_some() {
            return not_of_that_form(other, verb, target);
        }
        let known: Vec<_> = self.known().collect();
        not_acceptable(accept, &known, verb, target)
    }
}

/// The media type of a Status, and whether it is indented. A Status has one form, so clauses that ask for
/// another one do not count; a client that accepts nothing else gets JSON.
pub fn negotiate_status(
    media_types: &MediaTypes,
    headers: &HeaderMap,
    query: &Query,
) -> (NamedMediaType, bool) {
    let accept = all_values(headers, header::ACCEPT);
    let accepted = || {
        let streams = |named: NamedMediaType| named.media_type.stream.is_some();
        let offer = |media_type| Offer { media_type, streams: streams(media_type), forms: &[] };
        let offers: Vec<_> = media_types.iter().map(offer).collect();
        let negotiated = negotiate::negotiate(Some(&accept), &offers)?;
        Some((negotiated.media_type, negotiated.pretty))
    };
    let chosen = if is_for_any_program(&accept) { None } else { accepted() };
    let (media_type, pretty) = chosen.unwrap_or((NamedMediaType::JSON, None));
    (media_type, wants_pretty(headers, query, pretty))
}

/// The usual values of `Accept`, for which no negotiation is needed.
fn is_for_any_program(accept: &str) -> bool {
    accept.is_empty() || accept == JSON || accept == "*/*"
}

/// A clause without the parameters that ask for another form of an object.
fn without_form(clause: &str) -> String {
    let asks_form = |part: &&str| ["as=", "g=", "v="].iter().any(|name| part.trim().starts_with(name));
    clause.split(';').filter(|part| !asks_form(part)).collect::<Vec<_>>().join(";")
}

/// 406 with details where `Accept` names no known media type, and without where a known one is not offered in
/// the form that is asked for. The reference answers these two cases differently.
fn not_acceptable(accept: &str, known: &[NamedMediaType], verb: Verb, target: &Target<'_>) -> ApiError {
    let vocabulary = target.resource.vocabulary;
    // Of the names of one media type, only that of the vocabulary is listed.
    let own = || known.iter().filter(move |named| named.name == named.media_type.name_in(vocabulary));
    let plain = || own().map(|named| named.name.to_owned());
    let streams = || {
        let streams = own().filter(|named| named.media_type.stream.is_some());
        streams.map(|named| named.listed_stream().into_owned())
    };
    let is_known = |clause| known.iter().any(|named| without_parameters(clause) == named.name);
    if !accept.split(',').any(is_known) {
        let lists = matches!(verb, Verb::List | Verb::Watch);
        return ApiError::UnknownMediaType(plain().chain(streams().filter(|_| lists)).collect());
    }
    ApiError::NotAcceptable(if verb == Verb::Watch { streams().collect() } else { plain().collect() })
}

/// 406 where the metadata of a list is asked for by the name for that of an object, or the other way round.
/// The text names the type as the reference does.
fn not_of_that_form(asked: &str, verb: Verb, target: &Target<'_>) -> ApiError {
    let def = target.resource.def;
    let package = if def.group.is_empty() { "core" } else { def.group.split('.').next().unwrap_or_default() };
    let what = if verb == Verb::List {
        format!("a list (*{package}.{})", def.list_kind)
    } else {
        format!("not a list (*{package}.{})", def.kind)
    };
    ApiError::NotOfThatForm(format!("you requested {asked}, but the requested object is {what}"))
}

/// All values of a header that may have several lines, joined by commas.
pub fn all_values(headers: &HeaderMap, name: HeaderName) -> Cow<'_, str> {
    let mut values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    let first = values.next().unwrap_or_default();
    values.fold(Cow::Borrowed(first), |joined, value| Cow::Owned(format!("{joined},{value}")))
}

fn asked(negotiated: &Negotiated<'_>, query: &Query) -> Result<Form> {
    let Some(form) = negotiated.form else { return Ok(Form::Plain) };
    if form.kind != TABLE {
        return Ok(Form::Metadata(form.api_version()));
    }
    let asked = query.text("includeObject");
    match IncludeObject::parse(asked) {
        Some(include) => Ok(Form::Table(form.api_version(), include)),
        None => Err(ApiError::BadRequest(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: \"{asked}\": \
             must be 'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

/// Whether JSON is indented: the query parameter decides, then the parameter of the media type
/// (`negotiated`), then the user agent.
pub fn wants_pretty(headers: &HeaderMap, query: &Query, negotiated: Option<bool>) -> bool {
    query.strict_flag("pretty").or(negotiated).unwrap_or_else(|| {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        PRETTY_AGENTS.iter().any(|known| agent.starts_with(known))
    })
}

/// Whether the client names gzip and does not rule it out by a weight of zero.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
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
