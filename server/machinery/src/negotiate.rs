//! Content negotiation: chooses the representation of an answer by the `Accept` header.
//!
//! The clause with the highest quality wins; among equals one without wildcards, then the first. Besides a
//! media type a clause may ask for another form of the object (`as`, `g`, `v`: a table, or metadata only),
//! for a watch (`stream`) and for indentation (`pretty`). Other parameters are ignored. A clause that asks
//! for something that no offer has is skipped. For resources only `*/*` is a wildcard: the reference server
//! answers `application/*` with 406. For some documents it takes that too.

use std::cmp::Reverse;

use crate::media_type::NamedMediaType;

/// A representation that the server can make.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'o> {
    /// The media type, under the name that clients ask for it by.
    pub media_type: NamedMediaType,
    /// Whether `stream=watch` may be asked for.
    pub streams: bool,
    /// The other forms of objects in this representation.
    pub forms: &'o [Form<'o>],
}

/// A form of an object: `as=Table;g=meta.<suffix>;v=v1`.
#[derive(Clone, Copy, Debug)]
pub struct Form<'o> {
    /// `as`: the kind of the answer.
    pub kind: &'o str,
    /// `g`: the names of its group, one per vocabulary.
    pub groups: &'o [&'o str],
    /// `v`: its versions.
    pub versions: &'o [&'o str],
}

/// The chosen representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated<'o> {
    /// The offer's media type.
    pub media_type: NamedMediaType,
    /// The form that the client asks for, with the client's spelling of its group. None is the object itself.
    pub form: Option<AskedForm<'o>>,
    /// Whether the client asks for a watch with `stream=watch`.
    pub stream: bool,
    /// Whether the client asks for indentation; none if the clause does not say.
    pub pretty: Option<bool>,
}

/// The kind, group and version of an answer that is not the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedForm<'o> {
    /// `Table`.
    pub kind: &'o str,
    /// The group in the client's spelling.
    pub group: &'o str,
    /// `v1`.
    pub version: &'o str,
}

impl AskedForm<'_> {
    /// `<group>/<version>`.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

/// The best offer for an `Accept` header; none means 406. Without a header, or for an empty one, it is the
/// first offer.
pub fn negotiate<'o>(accept: Option<&str>, offers: &'o [Offer<'o>]) -> Option<Negotiated<'o>> {
    among(accept, offers, &["*/*", "*"])
}

/// The same where `application/*` is a wildcard too. The names of all offers begin with `application/`.
pub fn negotiate_ranges<'o>(accept: Option<&str>, offers: &'o [Offer<'o>]) -> Option<Negotiated<'o>> {
    among(accept, offers, &["*/*", "*", "application/*"])
}

fn among<'o>(accept: Option<&str>, offers: &'o [Offer<'o>], wildcards: &[&str]) -> Option<Negotiated<'o>> {
    let accept = accept.unwrap_or_default();
    if accept.is_empty() {
        let first = offers.first()?;
        return Some(Negotiated { media_type: first.media_type, form: None, stream: false, pretty: None });
    }
    let mut clauses: Vec<Clause<'_>> =
        accept.split(',').filter_map(|clause| Clause::parse(clause, wildcards)).collect();
    clauses.sort_by_key(|clause| (Reverse(clause.quality), clause.is_wildcard));
    clauses.iter().find_map(|clause| offers.iter().find_map(|offer| clause.accepts(offer)))
}

struct Clause<'a> {
    media_type: &'a str,
    is_wildcard: bool,
    /// In thousandths.
    quality: u16,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    /// None for a clause that accepts nothing: it is empty, or its quality is 0.
    fn parse(clause: &'a str, wildcards: &[&str]) -> Option<Self> {
        let mut parts = clause.split(';').map(str::trim);
        let media_type = parts.next().filter(|media_type| !media_type.is_empty())?;
        let mut quality = 1000;
        let mut parameters = Vec::new();
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            if name == "q" {
                quality = thousandths(value);
            } else {
                parameters.push((name, value));
            }
        }
        let is_wildcard = wildcards.contains(&media_type);
        (quality > 0).then_some(Clause { media_type, is_wildcard, quality, parameters })
    }

    fn accepts<'o>(&self, offer: &'o Offer<'o>) -> Option<Negotiated<'o>> {
        if !self.is_wildcard && !self.media_type.eq_ignore_ascii_case(offer.media_type.name) {
            return None;
        }
        let stream = match self.parameter("stream") {
            None | Some("") => false,
            Some("watch") if offer.streams => true,
            Some(_) => return None,
        };
        let form = match self.asked_form() {
            None => None,
            Some(asked) => Some(offer.forms.iter().find_map(|form| form.answers(asked))?),
        };
        let pretty = self.parameter("pretty").map(|value| value == "1");
        Some(Negotiated { media_type: offer.media_type, form, stream, pretty })
    }

    /// `as`, `g` and `v`, if any of them is given.
    fn asked_form(&self) -> Option<[&'a str; 3]> {
        let asked = ["as", "g", "v"].map(|name| self.parameter(name));
        asked.iter().any(Option::is_some).then(|| asked.map(Option::unwrap_or_default))
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

impl<'o> Form<'o> {
    fn answers(&'o self, [kind, group, version]: [&str; 3]) -> Option<AskedForm<'o>> {
        let group = self.groups.iter().find(|known| **known == group)?;
        let version = self.versions.iter().find(|known| **known == version)?;
        (self.kind == kind).then_some(AskedForm { kind: self.kind, group, version })
    }
}

/// A quality in thousandths. A value outside 0 to 1 is brought into the range; no number is 0.
fn thousandths(quality: &str) -> u16 {
    let quality: f64 = quality.parse().unwrap_or(0.0);
    (quality.clamp(0.0, 1.0) * 1000.0) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GROUPS: &[&str] = &["meta.example.io", "meta.other.io"];
    const TABLE: Form<'_> = Form { kind: "Table", groups: GROUPS, versions: &["v1", "v1beta1"] };
    const PARTIAL: Form<'_> = Form { kind: "PartialObjectMetadata", groups: GROUPS, versions: &["v1"] };
    const BINARY: NamedMediaType = NamedMediaType { name: "application/x-binary", ..NamedMediaType::YAML };
    const OFFERS: &[Offer<'_>] = &[
        Offer { media_type: NamedMediaType::JSON, streams: true, forms: &[TABLE, PARTIAL] },
        Offer { media_type: NamedMediaType::YAML, streams: false, forms: &[TABLE] },
        Offer { media_type: BINARY, streams: true, forms: &[PARTIAL] },
    ];

    /// The result in one line: media type, form, parameters.
    fn answer(accept: &str) -> String {
        let Some(found) = negotiate(Some(accept), OFFERS) else { return "406".to_owned() };
        let mut line = found.media_type.name.trim_start_matches("application/").to_owned();
        if let Some(form) = found.form {
            line = format!("{line} {} {}", form.kind, form.api_version());
        }
        if found.stream {
            line.push_str(" stream");
        }
        if found.pretty == Some(true) {
            line.push_str(" pretty");
        }
        line
    }

    #[test]
    fn the_best_clause_that_can_be_met_wins() {
        let cases = [
            ("", "json"),
            ("*/*", "json"),
            ("*", "json"),
            ("application/*", "406"),
            ("text/plain", "406"),
            ("text/html,application/json;q=0.5", "json"),
            ("application/yaml", "yaml"),
            ("Application/YAML", "yaml"),
            ("*/*,application/yaml", "yaml"),
            ("*/*;q=0.9, application/yaml;q=0.8", "json"),
            ("application/json;q=0.1,application/yaml", "yaml"),
            ("application/json;q=0", "406"),
            ("application/json;q=x, application/yaml;q=0.1", "yaml"),
            ("application/json;charset=utf-8", "json"),
            ("application/json;pretty=1", "json pretty"),
            ("application/json;stream=watch", "json stream"),
            ("application/yaml;stream=watch", "406"),
            ("application/json;stream=other", "406"),
            ("application/x-binary, */*", "x-binary"),
            (",;,", "406"),
        ];
        for (accept, expected) in cases {
            assert_eq!(answer(accept), expected, "{accept}");
        }
        assert_eq!(negotiate(None, OFFERS).unwrap().media_type, NamedMediaType::JSON);
        assert_eq!(negotiate(None, &[]), None);
        assert_eq!(negotiate(Some("*/*"), &[]), None);
    }

    #[test]
    fn forms_are_given_in_the_spelling_asked_or_passed_over() {
        let cases = [
            ("application/json;as=Table;v=v1;g=meta.example.io", "json Table meta.example.io/v1"),
            ("application/json;as=Table;v=v1;g=meta.other.io", "json Table meta.other.io/v1"),
            (
                "application/json; as=Table; v=v1beta1; g=meta.other.io; profile=x",
                "json Table meta.other.io/v1beta1",
            ),
            ("application/json;as=Table;v=v9;g=meta.other.io", "406"),
            ("application/json;as=Table;v=v9;g=meta.other.io,application/json", "json"),
            ("application/json;as=Picture;v=v1;g=meta.other.io,application/json", "json"),
            ("application/json;as=Table;v=v1", "406"),
            ("application/json;g=meta.other.io;v=v1", "406"),
            ("application/x-binary;as=Table;v=v1;g=meta.other.io,application/yaml", "yaml"),
            (
                "application/json;q=0.1,application/json;as=Table;v=v1;g=meta.other.io;q=0.9",
                "json Table meta.other.io/v1",
            ),
            (
                "*/*;as=PartialObjectMetadata;v=v1;g=meta.other.io",
                "json PartialObjectMetadata meta.other.io/v1",
            ),
        ];
        for (accept, expected) in cases {
            assert_eq!(answer(accept), expected, "{accept}");
        }
    }

    #[test]
    fn ranges_are_taken_where_they_are_asked_for() {
        let name = |accept| negotiate_ranges(Some(accept), OFFERS).map(|found| found.media_type.name);
        for (accept, expected) in [
            ("application/*", Some("application/json")),
            ("application/*;q=0.5,text/html", Some("application/json")),
            ("application/*,application/yaml", Some("application/yaml")),
            ("*/*", Some("application/json")),
            ("text/*", None),
            ("application/*;q=0", None),
        ] {
            assert_eq!(name(accept), expected, "{accept}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_headers_never_panic(accept in r#"[a*/;,=q.0-9" \PC]{0,40}"#) {
            let _ = negotiate(Some(&accept), OFFERS);
        }

        #[test]
        fn order_counts_only_among_equals(q1 in 1_u16..=9, q2 in 1_u16..=9) {
            let best = answer(&format!("application/json;q=0.{q1},application/yaml;q=0.{q2}"));
            prop_assert_eq!(best, if q2 > q1 { "yaml" } else { "json" });
        }
    }
}
