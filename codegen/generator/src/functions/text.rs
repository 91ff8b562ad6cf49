//! Functions in the text of Rust files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::diagnostic::Span;

/// The Rust files at and below a folder, with their paths in it.
pub fn all(source: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in
            fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push((path.strip_prefix(source).unwrap_or(&path).to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Those of a module: of its file, and of the files in its folder.
pub fn of<'t>(texts: &'t [(PathBuf, String)], module: &str) -> impl Iterator<Item = &'t str> {
    let is_in = move |path: &Path| {
        let first = path.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first) == module
    };
    texts.iter().filter(move |(path, _)| is_in(path)).map(|(_, text)| text.as_str())
}

/// The names of the public functions of a text.
pub fn functions(text: &str) -> impl Iterator<Item = &str> {
    let definitions = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
    definitions.filter_map(|rest| rest.split(['(', '<']).next()).map(str::trim)
}

/// Whether the text has this name somewhere.
pub fn has_word(text: &str, word: &str) -> bool {
    find_word(text, word).is_some()
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric() || ch == '_');
    let is_whole = |at: usize| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    };
    text.match_indices(word).map(|(at, _)| at).find(|at| is_whole(*at))
}

/// What a public function takes, each value as it is written; `None` where the text does not have it.
pub fn parameters(text: &str, name: &str) -> Option<Vec<String>> {
    let head = format!("pub fn {name}");
    let mut starts = text.match_indices(&head).map(|(at, _)| &text[at + head.len()..]);
    let rest = starts.find(|rest| rest.starts_with(['(', '<']))?;
    let list = if rest.starts_with('<') { &rest[closing(rest)?..] } else { rest };
    let list = list.trim_start();
    let inside = list.get(1..closing(list)?.checked_sub(1)?)?;
    let mut depth = 0_usize;
    let parts = inside.split(|ch: char| {
        match ch {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        ch == ',' && depth == 0
    });
    let parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(parts.filter(|part| !part.is_empty()).collect())
}

/// What can be seen of a type in its text.
#[derive(Debug, PartialEq, Eq)]
struct Seen<'t> {
    is_reference: bool,
    is_mutable: bool,
    /// Its name, without the way to it.
    name: &'t str,
}

/// The types that functions of schema files take; all others are the author's.
const KNOWN: &[&str] =
    &["Path", "Validation", "Vocabulary", "Tree", "ColumnContext", "Direction", "Vec", "str", "String"];

/// Whether a value of a function is written so that the caller can give `wanted`. A name that is not known
/// can stand for any type.
pub fn fits(wanted: &str, found: &str) -> bool {
    let (wanted, found) = (seen(wanted), seen(found));
    let is_reference = (wanted.is_reference, wanted.is_mutable) == (found.is_reference, found.is_mutable);
    let is_name = wanted.name == "T" || wanted.name == found.name || !KNOWN.contains(&found.name);
    let is_alias = !found.is_reference && !KNOWN.contains(&found.name);
    is_name && (is_reference || is_alias)
}

fn seen(parameter: &str) -> Seen<'_> {
    let of = parameter.split_once(':').map_or(parameter, |(_, of)| of).trim();
    let behind = of.strip_prefix('&');
    let mut rest = behind.unwrap_or(of).trim_start();
    if rest.starts_with('\'') {
        rest = rest.split_once(' ').map_or(rest, |(_, rest)| rest);
    }
    let mutable = rest.strip_prefix("mut ");
    let rest = mutable.unwrap_or(rest);
    let path = rest.split('<').next().unwrap_or(rest);
    let name = path.rsplit("::").next().unwrap_or(path).trim();
    Seen { is_reference: behind.is_some(), is_mutable: mutable.is_some(), name }
}

/// Where the bracket with which a text begins is closed: the offset behind it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, ch) in text.char_indices() {
        match ch {
            '(' | '[' | '<' => depth += 1,
            // An arrow is no bracket.
            '>' if before == '-' => {}
            ')' | ']' | '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + ch.len_utf8());
        }
        before = ch;
    }
    None
}

/// Where a schema file says this name behind this keyword, from a place on.
pub fn place(text: &str, from: &Span, keyword: &str, name: &str) -> Option<Span> {
    let keyword = format!("{keyword}:");
    text.lines().enumerate().skip(from.line - 1).find_map(|(index, line)| {
        let after = line.find(&keyword)? + keyword.len();
        let at = find_word(&line[after..], name)?;
        let column = line[..after + at].chars().count() + 1;
        Some(Span { line: index + 1, column, length: name.chars().count(), ..from.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::{fits, has_word, parameters};

    #[test]
    fn values_are_counted_between_the_brackets() {
        for (text, expected) in [
            ("pub fn f() {}", Some(0)),
            ("pub fn f( ) {}", Some(0)),
            ("pub fn f(a: &A) {}", Some(1)),
            ("pub fn f(\n    a: BTreeMap<A, B>,\n    b: (C, D),\n) {}", Some(2)),
            ("pub fn f<T: Into<A>, U>(a: T, b: U, c: [u8; 2]) {}", Some(3)),
            ("pub fn ff(a: A) {}\npub fn f(a: A, b: B) {}", Some(2)),
            ("fn f(a: A) {}", None),
            ("pub fn f(a", None),
        ] {
            assert_eq!(parameters(text, "f").map(|found| found.len()), expected, "{text}");
        }
        for (wanted, found, expected) in [
            ("value: &T", "value: &[Part]", true),
            ("value: &T", "value: &'v str", true),
            ("value: &T", "value: Part", true),
            ("value: &T", "value: &mut Part", false),
            ("value: &T", "value: String", false),
            ("value: &mut T", "value: &mut Part", true),
            ("value: &mut T", "value: &Part", false),
            ("path: &Path<'_>", "at: &orch_runtime::path::Path<'_>", true),
            ("path: &Path<'_>", "cx: &mut Validation<'_>", false),
            ("cx: &mut Validation<'_>", "_cx: &mut Report<'_>", true),
            ("value: &str", "value: &String", false),
        ] {
            assert_eq!(fits(wanted, found), expected, "{wanted}, {found}");
        }
        assert!(has_word("use a::{part, b}", "part") && !has_word("part_update apart", "part"));
    }
}
