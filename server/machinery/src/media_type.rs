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
    type_def::{FeatureGate, GateStage, TypeDef},
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
    /// RFC 8949, in the profile of [`cbor`](crate::cbor).
    Cbor,
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
    /// The `Content-Type` of a watch.
    pub content_type: StreamType,
    /// Whether OpenAPI documents list watches as a media type of its own.
    pub is_published: bool,
}

/// How the events of a watch are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Each event is a line.
    Lines,
    /// Each event follows its length: 4 bytes, big-endian.
    Lengths,
    /// Each event is a document that says where it ends (RFC 8742).
    Documents,
}

impl Framing {
    /// How many bytes in front of an event only say where it ends. Messages that end by themselves have none.
    /// A line keeps its end there, as in the reference.
    pub fn prefix(self) -> usize {
        match self {
            Framing::Lengths => 4,
            Framing::Lines | Framing::Documents => 0,
        }
    }
}

/// The `Content-Type` of a watch, beside the name of the media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamType {
    /// The name.
    Name,
    /// The name with [`WATCH`].
    Parameter,
    /// A name of its own, under which clients may also ask for watches.
    Own(&'static str),
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
        stream: Some(Stream { framing: Framing::Lines, content_type: StreamType::Name, is_published: true }),
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
        stream: Some(Stream {
            framing: Framing::Lengths,
            content_type: StreamType::Parameter,
            is_published: false,
        }),
        needs_field_numbers: true,
        has_tables: false,
        feature_gate: None,
    },
    MediaType {
        name: Name::Fixed("application/cbor"),
        syntax: Syntax::Cbor,
        reader: Some(body::read_cbor),
        stream: Some(Stream {
            framing: Framing::Documents,
            content_type: StreamType::Own("application/cbor-seq"),
            is_published: true,
        }),
        needs_field_numbers: false,
        has_tables: false,
        feature_gate: Some(&CBOR_SERVING),
    },
];

/// Reads and writes objects in CBOR (KEP-4222).
pub const CBOR_SERVING: FeatureGate =
    FeatureGate { name: "CBORServingAndStorage", stage: GateStage::Alpha, default: false };

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

/// A row of [`PATCHES`].
#[derive(Debug)]
pub struct PatchType {
    /// What clients call it.
    pub name: &'static str,
    /// What is meant.
    pub kind: PatchKind,
    /// How it is written. YAML may be JSON too.
    pub syntax: Syntax,
    /// The feature without which the row does not exist.
    pub feature_gate: Option<&'static FeatureGate>,
}

/// The media types of patches.
pub const PATCHES: &[PatchType] = &[
    PatchType {
        name: "application/apply-patch+yaml",
        kind: PatchKind::Apply,
        syntax: Syntax::Yaml,
        feature_gate: None,
    },
    PatchType {
        name: "application/json-patch+json",
        kind: PatchKind::Json,
        syntax: Syntax::Json,
        feature_gate: None,
    },
    PatchType {
        name: "application/merge-patch+json",
        kind: PatchKind::Merge,
        syntax: Syntax::Json,
        feature_gate: None,
    },
    PatchType {
        name: "application/strategic-merge-patch+json",
        kind: PatchKind::Strategic,
        syntax: Syntax::Json,
        feature_gate: None,
    },
    PatchType {
        name: "application/apply-patch+cbor",
        kind: PatchKind::Apply,
        syntax: Syntax::Cbor,
        feature_gate: Some(&CBOR_SERVING),
    },
];

/// The patch that a `Content-Type` names, whether its feature is on or not.
pub fn patch_type(content_type: &str) -> Option<&'static PatchType> {
    let name = without_parameters(content_type);
    PATCHES.iter().find(|known| known.name == name)
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
pub struct NamedMediaType {
    /// The name, as clients write it.
    pub name: &'static str,
    /// What is meant.
    pub media_type: &'static MediaType,
}

impl NamedMediaType {
    /// [`JSON`].
    pub const JSON: NamedMediaType = NamedMediaType { name: JSON, media_type: &TABLE[0] };
    /// YAML.
    pub const YAML: NamedMediaType = NamedMediaType { name: YAML, media_type: &TABLE[1] };

    /// How it is written.
    pub const fn syntax(self) -> Syntax {
        self.media_type.syntax
    }

    /// The `Content-Type` of a watch; that of other answers is the name.
    pub fn stream_content_type(self) -> Cow<'static, str> {
        match self.media_type.stream.map(|stream| stream.content_type) {
            Some(StreamType::Parameter) => Cow::Owned(format!("{}{WATCH}", self.name)),
            Some(StreamType::Own(name)) => Cow::Borrowed(name),
            Some(StreamType::Name) | None => Cow::Borrowed(self.name),
        }
    }

    /// How a watch is listed for clients: as its own media type, or with the parameter that asks for it.
    pub fn listed_stream(self) -> Cow<'static, str> {
        match self.media_type.stream.map(|stream| stream.content_type) {
            Some(StreamType::Own(name)) => Cow::Borrowed(name),
            _ => Cow::Owned(format!("{}{WATCH}", self.name)),
        }
    }

    /// The same under the name that all answers have, where this is the name of watches.
    #[must_use]
    pub fn of_any_answer(self) -> NamedMediaType {
        match (self.media_type.name, self.own_stream()) {
            (Name::Fixed(name), Some(_)) => NamedMediaType { name, ..self },
            _ => self,
        }
    }

    /// The same media type under the name that its watches have of their own.
    pub fn own_stream(self) -> Option<NamedMediaType> {
        match self.media_type.stream?.content_type {
            StreamType::Own(name) => Some(NamedMediaType { name, ..self }),
            _ => None,
        }
    }
}

/// A name means one media type only.
impl PartialEq for NamedMediaType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NamedMediaType {}

/// The media types of a server, under all their names, in the order of [`TABLE`]. Made once, at start.
#[derive(Debug)]
pub struct MediaTypes {
    all: Vec<NamedMediaType>,
    patches: Vec<&'static PatchType>,
}

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
        let mut all: Vec<NamedMediaType> = Vec::new();
        for media_type in table.iter().filter(|row| row.feature_gate.is_none_or(&is_on)) {
            for name in vocabularies.iter().map(|vocabulary| media_type.name_in(vocabulary)) {
                if all.iter().all(|known| known.name != name) {
                    all.push(NamedMediaType { name, media_type });
                }
            }
        }
        let is_known = |row: &&PatchType| row.feature_gate.is_none_or(&is_on);
        MediaTypes { all, patches: PATCHES.iter().filter(is_known).collect() }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = NamedMediaType> {
        self.all.iter().copied()
    }

    /// The media types of patches.
    pub fn patches(&self) -> impl Iterator<Item = &'static PatchType> {
        self.patches.iter().copied()
    }

    /// The patch that a `Content-Type` names.
    pub fn patch(&self, content_type: &str) -> Option<&'static PatchType> {
        patch_type(content_type).filter(|named| self.patches().any(|known| known.name == named.name))
    }

    /// All of them, protobuf under its name in one vocabulary only: for lists that are shown to clients.
    pub fn in_vocabulary(&self, vocabulary: &Vocabulary) -> impl Iterator<Item = NamedMediaType> {
        self.iter().filter(|named| named.name == named.media_type.name_in(vocabulary))
    }

    /// What reads a body of this `Content-Type`; an empty one means JSON. Case does not matter, and every
    /// parameter has to have a value.
    pub fn reader(&self, content_type: &str) -> Option<Reader> {
        if content_type.is_empty() {
            return self.reader(JSON);
        }
        let mut parameters = content_type.split(';').skip(1).map(str::trim).filter(|text| !text.is_empty());
        let has_value = |parameter: &str| parameter.split_once('=').is_some_and(|(name, _)| !name.is_empty());
        if !parameters.all(has_value) {
            return None;
        }
        let name = without_parameters(content_type);
        self.iter().find(|named| named.name.eq_ignore_ascii_case(name))?.media_type.reader
    }
}

#[cfg(test)]
mod tests;
