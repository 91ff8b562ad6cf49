//! However a schema file is broken, reading it ends with a report.

use std::fs;

use orch_codegen::{Inputs, Loaded, load};
use proptest::prelude::*;

const WIDGET: &str = include_str!("fixtures/basic/example.orch.io/v1/widget.yaml");

/// Pieces that mean something to the reader, to be put where they do not belong.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "\n    ",
    "\t",
    "'",
    "\"",
    "&a ",
    "*a",
    "<<: ",
    "!x ",
    "---\n",
    "# ",
    "null",
    "1",
    "1e999",
    ".inf",
    "true",
    "\u{0}",
    "ü",
    "$ref: ",
    "'#/components/schemas/Widget'",
    "'#/components/schemas/WidgetSpec'",
    "meta.v1.ObjectMeta",
    "type: array",
    "items: ",
    "default: ",
    "pattern: '('",
    "required: ",
    "properties: ",
    "additionalProperties: ",
    "x-orch-union: ",
    "x-orch-tag: ",
    "x-orch-list-type: map",
    "x-orch-resource: ",
    "x-orch-validations: ",
    "[{rule: self.size > 1}]",
    "|\n            self.",
];

fn load_text(text: &str) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let version = folder.path().join("example.orch.io/v1");
    fs::create_dir_all(&version).expect("a folder can be made");
    fs::write(version.join("widget.yaml"), text).expect("the file can be written");
    let imports = vec![("orch_api".to_owned(), "tests/fixtures/meta".into())];
    load(&Inputs { schema: folder.path().into(), imports })
}

/// A place in the text, as a share of its length, and what is put there over how many characters.
fn edit() -> impl Strategy<Value = (f64, &'static str, usize)> {
    (0.0..1.0, prop::sample::select(PIECES), 0_usize..12)
}

fn edited(text: &str, (place, piece, removed): (f64, &str, usize)) -> String {
    let chars: Vec<char> = text.chars().collect();
    let start = (chars.len() as f64 * place) as usize;
    let end = (start + removed).min(chars.len());
    chars[..start].iter().copied().chain(piece.chars()).chain(chars[end..].iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_never_panics_and_points_into_the_file(edits in prop::collection::vec(edit(), 1..4)) {
        let text = edits.into_iter().fold(WIDGET.to_owned(), |text, edit| edited(&text, edit));
        let loaded = load_text(&text);
        let lines: Vec<&str> = text.lines().collect();
        for item in loaded.diagnostics.sorted() {
            let span = &item.span;
            prop_assert!(span.line >= 1 && span.column >= 1 && span.length >= 1, "{item:?}");
            prop_assert!(span.line <= lines.len().max(1), "{item:?}");
            prop_assert!(!item.message.contains('\n') && !item.help.is_empty(), "{item:?}");
        }
        loaded.diagnostics.render();
    }

    #[test]
    fn the_same_text_gives_the_same_report(edits in prop::collection::vec(edit(), 1..4)) {
        let text = edits.into_iter().fold(WIDGET.to_owned(), |text, edit| edited(&text, edit));
        let report = |loaded: Loaded| -> Vec<String> {
            let found = loaded.diagnostics.sorted();
            found.iter().map(|item| format!("{:?} {}", item.severity, item.message)).collect()
        };
        prop_assert_eq!(report(load_text(&text)), report(load_text(&text)));
    }
}

#[test]
fn deep_nesting_is_refused() {
    for text in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000)] {
        let loaded = load_text(&text);
        assert!(loaded.diagnostics.has_errors());
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let version = folder.path().join("core/v1");
    fs::create_dir_all(&version).expect("a folder can be made");
    fs::write(version.join("binary.yaml"), [0xff, 0xfe, 0x00]).expect("the file can be written");
    let loaded = load(&Inputs { schema: folder.path().into(), imports: Vec::new() });
    assert!(
        loaded.diagnostics.render().contains("schema files are UTF-8 text"),
        "{}",
        loaded.diagnostics.render()
    );
}
