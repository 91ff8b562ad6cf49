//! Random objects that are made from the type tables: everything that the types allow, even if rules reject
//! it.

use std::slice;

use orch_runtime::{
    Tree, TreeMap,
    scalar::{ByteString, Duration, MicroTime, Quantity, Time},
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde_json::json;

/// Numbers that decide what is made. When they run out, each choice is the first one.
pub struct Choices<'c> {
    rest: slice::Iter<'c, u32>,
}

impl<'c> Choices<'c> {
    /// Uses these numbers, one after the other.
    pub fn new(numbers: &'c [u32]) -> Self {
        Choices { rest: numbers.iter() }
    }

    fn next(&mut self) -> u32 {
        self.rest.next().copied().unwrap_or(0)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.next() as usize % count
    }

    fn wide(&mut self) -> i64 {
        i64::from(self.next()) << 32 | i64::from(self.next())
    }
}

/// An object with some of the fields of its type, and most of those that hold objects. Write-only fields are
/// left out.
pub fn object(def: &TypeDef, choices: &mut Choices<'_>) -> Tree {
    object_of(def.fields.iter(), choices)
}

/// An object with some of these fields.
pub(crate) fn object_of<'d>(fields: impl Iterator<Item = &'d FieldDef>, choices: &mut Choices<'_>) -> Tree {
    let mut made = TreeMap::new();
    for field in fields.filter(|field| !field.write_only) {
        let is_made = match choices.below(3) {
            0 => false,
            1 => true,
            _ => holds_objects(&field.shape),
        };
        if is_made {
            made.insert(field.name.to_owned(), value(&field.shape, choices));
        }
    }
    Tree::Object(made)
}

fn holds_objects(shape: &Shape) -> bool {
    match shape {
        Shape::Object(_) => true,
        Shape::List { item, .. } => holds_objects(item),
        Shape::Map { value, .. } => holds_objects(value),
        Shape::Scalar(_) | Shape::Any => false,
    }
}

/// Lists and maps are not empty, because some encodings cannot represent an empty one.
pub(crate) fn value(shape: &Shape, choices: &mut Choices<'_>) -> Tree {
    let some = |choices: &mut Choices<'_>| 0..=choices.below(3);
    match shape {
        Shape::Scalar(scalar) => single(*scalar, choices),
        Shape::Object(def) => object(def, choices),
        Shape::List { item, .. } => some(choices).map(|_| value(item, choices)).collect(),
        Shape::Map { value: item, .. } => {
            let entries: TreeMap = some(choices).map(|_| (text(choices), value(item, choices))).collect();
            Tree::Object(entries)
        }
        Shape::Any => json!({text(choices): [choices.next(), text(choices), {"inner": true}, null]}),
    }
}

fn single(scalar: Scalar, choices: &mut Choices<'_>) -> Tree {
    const SUFFIXES: [&str; 7] = ["", "n", "m", "k", "Mi", "Ti", "e3"];
    /// Seconds from the year 1 to the year 9999.
    const SECONDS: std::ops::Range<i64> = -62_135_596_799..253_402_300_799;
    let between =
        |choices: &mut Choices<'_>| SECONDS.start + choices.wide().rem_euclid(SECONDS.end - SECONDS.start);
    match scalar {
        Scalar::Boolean => json!(choices.below(2) == 1),
        Scalar::Int64 => json!(choices.wide()),
        Scalar::Double => json!(f64::from(choices.next().cast_signed()) / 8.0),
        Scalar::String => json!(text(choices)),
        Scalar::Bytes => json!(ByteString(text(choices).into_bytes()).to_string()),
        Scalar::Time => json!(Time::from_unix_seconds(between(choices)).to_string()),
        Scalar::MicroTime => {
            let micros = between(choices) * 1_000_000 + choices.below(1_000_000) as i64;
            json!(MicroTime::from_unix_micros(micros).to_string())
        }
        Scalar::Duration => json!(Duration::from_nanos(choices.wide()).to_string()),
        Scalar::Quantity => {
            let amount = choices.wide() >> choices.below(63);
            let text = format!("{amount}{}", SUFFIXES[choices.below(SUFFIXES.len())]);
            let quantity: Quantity = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            json!(quantity.to_string())
        }
        Scalar::IntOrString if choices.below(2) == 1 => json!(text(choices)),
        Scalar::Int32 | Scalar::IntOrString => json!(choices.next().cast_signed()),
    }
}

/// A text that some encoding could mistake for another type, or random characters.
fn text(choices: &mut Choices<'_>) -> String {
    const WORDS: &[&str] = &[
        "",
        "a",
        "true",
        "yes",
        "NO",
        "null",
        "~",
        "0",
        "-1",
        "1e3",
        "0x1F",
        "0o7",
        "010",
        ".5",
        "1:30",
        ".inf",
        "2001-01-01",
        "=",
        "<<",
        "---",
        "...",
        "- a",
        "a: b",
        "a #b",
        "#",
        "!tag",
        "&a",
        "*a",
        "[",
        "{}",
        "%",
        "@",
        "`",
        "'",
        "\"",
        "\\",
        "|",
        ">",
        "? a",
        " lead",
        "trail ",
        "two\nlines\n",
        "\n\nlines",
        "tab\t",
        "\t",
        "\r\n",
        "line\u{85}",
        "line\u{2028}",
        "nul\0",
        "\u{7f}",
        "\u{feff}bom",
        "\u{1f600}",
        "é",
        "a text that is so long that some writers would like to fold it, after eighty columns or so, at one \
         of its spaces",
    ];
    const ODD: &[char] =
        &['a', ' ', ':', '#', '-', '\n', '"', '\'', '\\', 'é', '\u{10ffff}', '{', ',', '%', '\t', '9'];
    if choices.below(2) == 0 {
        return WORDS[choices.below(WORDS.len())].to_owned();
    }
    (0..choices.below(9)).map(|_| ODD[choices.below(ODD.len())]).collect()
}
