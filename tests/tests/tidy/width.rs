//! Lines of Rust files are no wider than the formatter's configuration says, comments and macros included.

use crate::{
    rust_text::{TokenKind, tokens},
    source::{SOURCES, none, read, root},
};

/// A text that is at least so long may stand on one line, whatever its width: broken, it could not be
/// searched for.
const LONG_TEXT: usize = 50;

#[test]
fn lines_fit_the_configured_width() {
    let configuration = read(&root().join("rustfmt.toml"));
    let width = configuration.lines().find_map(|line| line.strip_prefix("max_width = ")).expect("it is set");
    let width = width.parse().expect("it is a number");
    let lines = SOURCES.iter().flat_map(|source| {
        too_wide(&source.text, width)
            .into_iter()
            .map(|line| format!("{}:{line}: wider than {width}", source.name))
    });
    none(&lines.collect::<Vec<_>>());
}

/// The numbers of the lines that are too wide. Excepted are lines inside of a text, lines with a long text,
/// and those that hold a URL.
fn too_wide(text: &str, width: usize) -> Vec<usize> {
    let mut excepted = Vec::new();
    for token in tokens(text).iter().filter(|token| token.kind == TokenKind::Text) {
        let lines = token.text.lines().count().max(1);
        if lines > 1 || token.text.chars().count() >= LONG_TEXT {
            excepted.extend(token.line..token.line + lines);
        }
    }
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let wide = lines.filter(|(number, line)| {
        line.chars().count() > width && !line.contains("://") && !excepted.contains(number)
    });
    wide.map(|(number, _)| number).collect()
}

#[test]
fn wide_lines_are_found() {
    let text = format!(
        "// short\n// {0}\nlet x = 1; // {0}\nlet y = \"{0}{0}\";\nlet z = r\"\n{0}\n{0}\";\n/// <https://{0}>\n",
        "word ".repeat(10)
    );
    assert_eq!(too_wide(&text, 40), [2, 3]);
    assert_eq!(too_wide(&text, 60), [3]);
    assert_eq!(too_wide("json!({\"a\": \"b\", \"c\": \"d\"})", 20), [1]);
}
