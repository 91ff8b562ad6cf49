//! Names, readers and watches of media types.

use orch_runtime::{
    type_def::{FieldDef, GateStage},
    vocabulary::EXAMPLE,
};

use super::*;
use crate::{fixture::BAG, json::Limits};

const CBOR: &str = "application/cbor";
const OTHER: Vocabulary = Vocabulary { protobuf_media_type: "application/vnd.other", ..EXAMPLE };

static NUMBERED: TypeDef = TypeDef {
    name: "test.v1.Numbered",
    short_name: "Numbered",
    fields: &[FieldDef { name: "name", tag: Some(1), ..FieldDef::PLAIN }],
    by_name: &[],
    atomic: false,
    size: 0,
};

fn all() -> MediaTypes {
    MediaTypes::new(&[&EXAMPLE, &OTHER], |_| true)
}

fn names(media_types: impl Iterator<Item = NamedMediaType>) -> Vec<&'static str> {
    media_types.map(|named| named.name).collect()
}

#[test]
fn protobuf_has_a_name_in_each_vocabulary() {
    let all = all();
    let every =
        ["application/json", "application/yaml", "application/vnd.example", "application/vnd.other", CBOR];
    assert_eq!(names(all.iter()), every);
    assert_eq!(names(all.in_vocabulary(&EXAMPLE)), [every[0], every[1], every[2], CBOR]);
    assert_eq!(names(all.in_vocabulary(&OTHER)), [every[0], every[1], every[3], CBOR]);
    assert_eq!(names(all.iter()).first(), Some(&NamedMediaType::JSON.name));
    assert_eq!(
        [NamedMediaType::JSON, NamedMediaType::YAML].map(NamedMediaType::syntax),
        [Syntax::Json, Syntax::Yaml]
    );
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
        (";charset=utf-8", None),
        ("application/json", Some(true)),
        ("application/json; charset=utf-8", Some(true)),
        (" application/yaml ", Some(true)),
        ("application/vnd.example", Some(false)),
        ("application/vnd.other", Some(false)),
        ("application/vnd.unknown", None),
        ("Application/Json", Some(true)),
        ("application/json;", Some(true)),
        ("application/json;charset", None),
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
        .map(NamedMediaType::stream_content_type)
        .collect();
    assert_eq!(
        content_types,
        [
            "application/json",
            "application/vnd.example;stream=watch",
            "application/vnd.other;stream=watch",
            "application/cbor-seq"
        ]
    );
    let listed: Vec<_> = all().in_vocabulary(&EXAMPLE).map(NamedMediaType::listed_stream).collect();
    assert_eq!((&*listed[0], &*listed[3]), ("application/json;stream=watch", "application/cbor-seq"));
    assert_eq!(all().iter().filter_map(NamedMediaType::own_stream).count(), 1);
}

#[test]
fn protobuf_is_for_types_with_field_numbers() {
    let fits = |def| all().iter().map(|named| named.media_type.fits(def)).collect::<Vec<_>>();
    assert_eq!(fits(&BAG), [true, true, false, false, true]);
    assert_eq!(fits(&NUMBERED), [true; 5]);
}

#[test]
fn a_content_type_names_a_patch() {
    let kind = |media_types: &MediaTypes, content_type| {
        media_types.patch(content_type).map(|patch| (patch.kind, patch.syntax))
    };
    let (with, without) = (all(), MediaTypes::new(&[&EXAMPLE], |gate| gate.default));
    for (content_type, expected) in [
        ("application/apply-patch+yaml", Some((PatchKind::Apply, Syntax::Yaml))),
        ("application/merge-patch+json; charset=utf-8", Some((PatchKind::Merge, Syntax::Json))),
        ("application/json", None),
        ("", None),
    ] {
        assert_eq!(kind(&with, content_type), expected, "{content_type:?}");
        assert_eq!(kind(&without, content_type), expected, "{content_type:?}");
    }
    let cbor = "application/apply-patch+cbor";
    assert_eq!(kind(&with, cbor), Some((PatchKind::Apply, Syntax::Cbor)));
    assert_eq!(kind(&without, cbor), None);
    assert!(without.reader(CBOR).is_none() && with.reader(CBOR).is_some());
}
