//! Random schemas: types with the fields of `subject.yaml`, which are given and written in other ways.

use std::fmt::Write as _;

use crate::dice::Dice;

/// How many there are; they are called `Random0`, `Random1` ...
pub const SCHEMAS: usize = 4;

/// Fields, what they can be, and what can be said of an optional one that is written although it is empty, or
/// left out because it is.
const FIELDS: &[(&str, &[&str], &[&str])] = &[
    ("least", &["type: integer, format: int32", "type: integer"], &["", TRUE]),
    ("most", &["type: integer", "type: integer, format: int32"], &["", TRUE]),
    ("maybe", &["type: integer, format: int32", "type: integer"], &["", TRUE]),
    ("whole", &["type: number"], &["", TRUE]),
    ("share", &["type: number"], &["", TRUE]),
    ("flag", &["type: boolean"], &["", TRUE]),
    ("maybeFlag", &["type: boolean"], &["", TRUE]),
    ("title", TEXTS, &["", FALSE]),
    ("must", TEXTS, &["", FALSE]),
    ("note", TEXTS, &["", FALSE]),
    ("mode", &["type: string, enum: [a, b, Slow]", "$ref: '#/components/schemas/Mode'"], &[""]),
    ("numbers", &["type: array, items: {type: integer}, maxItems: 4"], &["", FALSE]),
    (
        "texts",
        &[
            "type: array, items: {type: string, maxLength: 5}, x-orch-list-type: set, maxItems: 4",
            "type: array, items: {type: string, maxLength: 5}, maxItems: 4",
        ],
        &["", FALSE],
    ),
    (
        "tags",
        &["type: object, additionalProperties: {type: string, maxLength: 5}, maxProperties: 4"],
        &["", FALSE],
    ),
    (
        "parts",
        &[
            "type: array, items: {$ref: '#/components/schemas/Part'}, x-orch-list-type: map, x-orch-list-map-keys: [name], \
             maxItems: 4",
            "type: array, items: {$ref: '#/components/schemas/Part'}, maxItems: 4",
        ],
        &["", FALSE],
    ),
    ("part", &["$ref: '#/components/schemas/Part'"], &[""]),
    ("amount", &["type: string, format: quantity"], &[""]),
    ("when", &["type: string, format: date-time"], &[""]),
    ("port", &["type: string, format: int-or-string"], &[""]),
    ("data", &["type: string, format: byte"], &[""]),
    ("nothing", &["type: [integer, 'null']", "type: [integer, 'null'], format: int32"], &[""]),
    ("silence", &["type: [string, 'null'], maxLength: 5"], &[""]),
    ("modes", &["type: array, items: {$ref: '#/components/schemas/Mode'}, maxItems: 4"], &["", FALSE]),
    ("about", &["$ref: meta.v1.ObjectMeta"], &[""]),
];

const TEXTS: &[&str] = &["type: string, maxLength: 5"];
const TRUE: &str = ", x-orch-omit-empty: true";
const FALSE: &str = ", x-orch-omit-empty: false";

/// Fields that are always required, because they can be null.
const REQUIRED: &[&str] = &["nothing", "silence"];

/// A random type, up to the rules that it gets.
pub fn schema(dice: &mut Dice, number: usize) -> String {
    let (mut required, mut properties) = (REQUIRED.to_vec(), String::new());
    for (name, shapes, presences) in FIELDS {
        let shape = dice.one(shapes);
        let is_required = REQUIRED.contains(name);
        let presence = dice.one(presences);
        let is_text = shape.starts_with("type: string, maxLength");
        let more = if !is_required && dice.below(3) == 0 {
            required.push(name);
            if is_text { ", minLength: 0" } else { "" }
        } else {
            presence
        };
        let written = writeln!(properties, "        {name}: {{{shape}{more}, description: A field.}}");
        assert!(written.is_ok(), "a text takes any text");
    }
    format!(
        "    Random{number}:\n      description: What random rules are about.\n      type: object\n      required: [{}]\n      \
         properties:\n{properties}      x-orch-validations:\n",
        required.join(", ")
    )
}
