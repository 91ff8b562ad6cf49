//! The media types of the API, and what can be done with each.
//!
//! [`TABLE`] has one row per media type. Negotiation, request bodies, answers, watches and the published
//! OpenAPI read it; none of them spells a media type of its own. [`PATCHES`] is the same for the bodies of
//! PATCH.
//!
//! Protobuf has a name of its own in every vocabulary. All of them are accepted, and an answer bears the name
//! that the client used. [`MediaTypes`] lists every row under every name.

use std::borrow::Cow;

use orch_runtime::{
    type_def::{FeatureGate, TypeDef},
    vocabulary::Vocabulary,
};

use crate::body::{self, Reader};

/// How bytes are read and written. Code that must branch by media type branches by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// RFC 8259.
    Json,
    /// YAML 1.2, with the booleans and octal numbers of YAML 1.1.
    Yaml,
    /// The envelope and messages of [`protobuf`](crate::protobuf).
    Protobuf,
}

/// A row of [`TABLE`].
#[derive(Debug)]
pub struct MediaType {
    /// What clients call it.
    pub name: Name,
    /// How answers are written.
    pub syntax: Syntax,
    /// Reads request bodies; none where they are not taken.
    pub reader: Option<Reader>,
    /// How watches are written; none where they cannot be.
    pub stream: Option<Stream>,
    /// Whether only objects whose types have field numbers can be written.
    pub needs_field_numbers: bool,
    /// Whether tables can be written.
    pub has_tables: bool,
    /// The feature without which the row does not exist.
    pub feature_gate: Option<&'static FeatureGate>,
}

/// The name of a media type.
#[derive(Clone, Copy, Debug)]
pub enum Name {
    /// The same in all vocabularies.
    Fixed(&'static str),
    /// Each vocabulary has its own.
    OfVocabulary(fn(&Vocabulary) -> &'static str),
}

/// How the events of a watch are written one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// How the events are separated.
    pub framing: Framing,
    /// What follows the name in the `Content-Type` of a watch: `;stream=watch`, or nothing.
    pub parameter: &'static str,
    /// Whether OpenAPI documents list `<name>;stream=watch` as a media type of its own.
    pub is_published: bool,
}

/// How the events of a watch are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Each event is a line.
    Lines,
    /// Each event follows its length: 4 bytes, big-endian.
    Lengths,
}

/// The media type of JSON. It is also meant where a header names none.
pub const JSON: &str = "application/json";

/// The media type of YAML.
const YAML: &str = "application/yaml";

/// All media types. If a client accepts several with the same quality, the first is used.
pub const TABLE: &[MediaType] = &[
    MediaType {
        name: Name::Fixed(JSON),
        syntax: Syntax::Json,
        reader: Some(body::read_json),
        stream: Some(Stream { framing: Framing::Lines, parameter: "", is_published: true }),
        needs_field_numbers: false,
        has_tables: true,
        feature_gate: None,
    },
    MediaType {
        name: Name::Fixed(YAML),
        syntax: Syntax::Yaml,
        reader: Some(body::read_yaml),
        stream: None,
        needs_field_numbers: false,
        has_tables: true,
        feature_gate: None,
    },
    MediaType {
        name: Name::OfVocabulary(|vocabulary| vocabulary.protobuf_media_type),
        syntax: Syntax::Protobuf,
        reader: Some(body::read_protobuf),
        stream: Some(Stream { framing: Framing::Lengths, parameter: WATCH, is_published: false }),
        needs_field_numbers: true,
        has_tables: false,
        feature_gate: None,
    },
];

/// The parameter with which a client asks for a watch. Some watches have it in their `Content-Type`.
pub const WATCH: &str = ";stream=watch";

/// What a patch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Server-side apply: a configuration in YAML or JSON.
    Apply,
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// A partial object that is merged by the list rules of the type.
    Strategic,
}

/// The media types of patches.
pub const PATCHES: &[(&str, PatchKind)] = &[
    ("application/apply-patch+yaml", PatchKind::Apply),
    ("application/json-patch+json", PatchKind::Json),
    ("application/merge-patch+json", PatchKind::Merge),
    ("application/strategic-merge-patch+json", PatchKind::Strategic),
];

/// The kind of patch that a `Content-Type` names.
pub fn patch_kind(content_type: &str) -> Option<PatchKind> {
    let name = without_parameters(content_type);
    PATCHES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// A `Content-Type`, or a clause of `Accept`, without its parameters.
pub fn without_parameters(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

impl MediaType {
    /// Its name in a vocabulary.
    pub fn name_in(&self, vocabulary: &Vocabulary) -> &'static str {
        match self.name {
            Name::Fixed(name) => name,
            Name::OfVocabulary(name) => name(vocabulary),
        }
    }

    /// Whether objects of a type can be read and written.
    pub fn fits(&self, def: &TypeDef) -> bool {
        !self.needs_field_numbers || def.fields.iter().all(|field| field.tag.is_some())
    }
}

/// A media type under one of its names.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The name, as clients write it.
    pub name: &'static str,
    /// What is meant.
    pub media_type: &'static MediaType,
}

impl Named {
    /// [`JSON`].
    pub const JSON: Named = Named { name: JSON, media_type: &TABLE[0] };
    /// YAML.
    pub const YAML: Named = Named { name: YAML, media_type: &TABLE[1] };

    /// How it is written.
    pub const fn syntax(self) -> Syntax {
        self.media_type.syntax
    }

    /// The `Content-Type` of a watch; that of other answers is the name.
    pub fn stream_content_type(self) -> Cow<'static, str> {
        match self.media_type.stream {
            Some(Stream { parameter, .. }) if !parameter.is_empty() => {
                Cow::Owned(format!("{}{parameter}", self.name))
            }
            _ => Cow::Borrowed(self.name),
        }
    }
}

/// A name means one media type only.
impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Named {}

/// The media types of a server, under all their names, in the order of [`TABLE`]. Made once, at start.
#[derive(Debug)]
pub struct MediaTypes(Vec<Named>);

impl MediaTypes {
    /// The rows whose feature gates are on, under their names in all of these vocabularies.
    pub fn new(vocabularies: &[&Vocabulary], is_on: impl Fn(&FeatureGate) -> bool) -> Self {
        MediaTypes::of_table(TABLE, vocabularies, is_on)
    }

    fn of_table(
        table: &'static [MediaType],
        vocabularies: &[&Vocabulary],
        is_on: impl Fn(&FeatureGate) -> bool,
    ) -> Self {
        let mut all: Vec<Named> = Vec::new();
        for media_type in table.iter().filter(|row| row.feature_gate.is_none_or(&is_on)) {
            for name in vocabularies.iter().map(|vocabulary| media_type.name_in(vocabulary)) {
                if all.iter().all(|known| known.name != name) {
                    all.push(Named { name, media_type });
                }
            }
        }
        MediaTypes(all)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Named> {
        self.0.iter().copied()
    }

    /// All of them, protobuf under its name in one vocabulary only: for lists that are shown to clients.
    pub fn in_vocabulary(&self, vocabulary: &Vocabulary) -> impl Iterator<Item = Named> {
        self.iter().filter(|named| named.name == named.media_type.name_in(vocabulary))
    }

    /// What reads a body of this `Content-Type`; an empty one means JSON.
    pub fn reader(&self, content_type: &str) -> Option<Reader> {
        let name = without_parameters(content_type);
        let name = if name.is_empty() { JSON } else { name };
        self.iter().find(|named| named.name == name)?.media_type.reader
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::{
        type_def::{FieldDef, GateStage},
        vocabulary::EXAMPLE,
    };

    use super::*;
    use crate::{fixture::BAG, json::Limits};

    const OTHER: Vocabulary = Vocabulary { protobuf_media_type: "application/vnd.other", ..EXAMPLE };

    static NUMBERED: TypeDef = TypeDef {
        name: "test.v1.Numbered",
        short_name: "Numbered",
        fields: &[FieldDef { name: "name", tag: Some(1), ..FieldDef::PLAIN }],
        atomic: false,
        size: 0,
    };

    fn all() -> MediaTypes {
        MediaTypes::new(&[&EXAMPLE, &OTHER], |_| true)
    }

    fn names(media_types: impl Iterator<Item = Named>) -> Vec<&'static str> {
        media_types.map(|named| named.name).collect()
    }

    #[test]
    fn protobuf_has_a_name_in_each_vocabulary() {
        let all = all();
        let every =
            ["application/json", "application/yaml", "application/vnd.example", "application/vnd.other"];
        assert_eq!(names(all.iter()), every);
        assert_eq!(names(all.in_vocabulary(&EXAMPLE)), every[..3]);
        assert_eq!(names(all.in_vocabulary(&OTHER)), [every[0], every[1], every[3]]);
        assert_eq!(names(all.iter()).first(), Some(&Named::JSON.name));
        assert_eq!([Named::JSON, Named::YAML].map(Named::syntax), [Syntax::Json, Syntax::Yaml]);
    }

    #[test]
    fn a_row_behind_a_feature_gate_exists_where_the_gate_is_on() {
        const GATE: FeatureGate = FeatureGate { name: "Test", stage: GateStage::Alpha, default: false };
        static GATED: &[MediaType] = &[MediaType {
            name: Name::Fixed("application/gated"),
            syntax: Syntax::Json,
            reader: None,
            stream: None,
            needs_field_numbers: false,
            has_tables: false,
            feature_gate: Some(&GATE),
        }];
        for (is_on, expected) in [(true, &["application/gated"][..]), (false, &[])] {
            let gated = MediaTypes::of_table(GATED, &[&EXAMPLE], |gate| gate.name == "Test" && is_on);
            assert_eq!(names(gated.iter()), expected);
            assert!(gated.reader("application/gated").is_none());
        }
    }

    #[test]
    fn a_content_type_finds_the_reader_of_its_syntax() {
        let all = all();
        let read = |content_type: &str| {
            let read = all.reader(content_type)?(b"{}", &NUMBERED, &Limits::default());
            Some(read.is_ok())
        };
        for (content_type, is_json) in [
            ("", Some(true)),
            (";charset=utf-8", Some(true)),
            ("application/json", Some(true)),
            ("application/json; charset=utf-8", Some(true)),
            (" application/yaml ", Some(true)),
            ("application/vnd.example", Some(false)),
            ("application/vnd.other", Some(false)),
            ("application/vnd.unknown", None),
            ("Application/Json", None),
            ("text/plain", None),
        ] {
            assert_eq!(read(content_type), is_json, "{content_type:?}");
        }
    }

    #[test]
    fn the_content_type_of_a_watch_has_its_parameter() {
        let content_types: Vec<_> = all()
            .iter()
            .filter(|named| named.media_type.stream.is_some())
            .map(Named::stream_content_type)
            .collect();
        assert_eq!(
            content_types,
            [
                "application/json",
                "application/vnd.example;stream=watch",
                "application/vnd.other;stream=watch"
            ]
        );
    }

    #[test]
    fn protobuf_is_for_types_with_field_numbers() {
        let fits = |def| all().iter().map(|named| named.media_type.fits(def)).collect::<Vec<_>>();
        assert_eq!(fits(&BAG), [true, true, false, false]);
        assert_eq!(fits(&NUMBERED), [true; 4]);
    }

    #[test]
    fn a_content_type_names_a_kind_of_patch() {
        assert_eq!(patch_kind("application/apply-patch+yaml"), Some(PatchKind::Apply));
        assert_eq!(patch_kind("application/merge-patch+json; charset=utf-8"), Some(PatchKind::Merge));
        assert_eq!(patch_kind("application/json"), None);
        assert_eq!(patch_kind(""), None);
    }
}
