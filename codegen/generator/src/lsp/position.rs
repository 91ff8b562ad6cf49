//! Places and files as the protocol writes them: lines from 0, columns in units of UTF-16, files as URIs.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::diagnostic::Span;

/// The range of a place in a text. Without the text, columns are taken as they are.
pub fn range(span: &Span, text: Option<&str>) -> Value {
    let line = text.and_then(|text| text.lines().nth(span.line - 1)).unwrap_or_default();
    let unit = |column: usize| {
        let known = line.chars().take(column - 1).map(char::len_utf16).sum::<usize>();
        // Behind the end of the line, each counts one.
        known + (column - 1).saturating_sub(line.chars().count())
    };
    let (begin, end) = (unit(span.column), unit(span.column + span.length));
    let line = span.line - 1;
    json!({"start": {"line": line, "character": begin}, "end": {"line": line, "character": end}})
}

/// The line, from 0, and the offset in it that a position means; the end of the line where it is too short.
pub fn offset(position: &Value, text: &str) -> Option<(usize, usize)> {
    let number = |name: &str| position[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let (line, character) = (number("line")?, number("character")?);
    let mut units = 0;
    let content = text.lines().nth(line).unwrap_or_default();
    let found = content.char_indices().find(|(_, ch)| {
        let is_there = units >= character;
        units += ch.len_utf16();
        is_there
    });
    Some((line, found.map_or(content.len(), |(at, _)| at)))
}

/// The path of a URI of a file.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || left.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    path.is_absolute().then_some(path)
}

/// The URI of a file.
pub fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{offset, path, range, uri};
    use crate::diagnostic::Span;

    #[test]
    fn columns_are_those_of_utf_16() {
        let text = "a\nü😀b: c";
        let span = Span { line: 2, column: 3, length: 1, ..Span::whole_file(Path::new("a")) };
        let expected = json!({"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 4}});
        assert_eq!(range(&span, Some(text)), expected);
        assert_eq!(offset(&expected["start"], text), Some((1, "ü😀".len())));
        assert_eq!(offset(&json!({"line": 1, "character": 99}), text), Some((1, "ü😀b: c".len())));
        assert_eq!(offset(&json!({"line": 99, "character": 1}), text), Some((99, 0)));
        assert_eq!(offset(&json!({"line": -1, "character": 1}), text), None);
    }

    #[test]
    fn files_have_uris() {
        let file = Path::new("/a b/ü.yaml");
        assert_eq!(uri(file), "file:///a%20b/%C3%BC.yaml");
        assert_eq!(path(&uri(file)).as_deref(), Some(file));
        for wrong in ["http://a/b", "file://a", "file:///%zz", "file:///%ff", "file:///%2"] {
            assert_eq!(path(wrong), None, "{wrong}");
        }
    }
}
