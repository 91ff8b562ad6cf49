//! Where a part of an expression stands in the schema file.

use orch_expression::span::{Location, Span as Part};

use crate::{
    diagnostic::{Diagnostics, Span},
    source::Spanned,
};

/// The place of a part of an expression. Where the file writes the text in a way that cannot be followed
/// (folded lines), it is the place of the whole text.
pub(super) fn of(text: &Spanned<String>, part: Part, diagnostics: &Diagnostics) -> Span {
    let whole = &text.span;
    let source = diagnostics.source(&whole.file);
    let found = source.and_then(|source| inside(source, text, part.location(&text.value)));
    let Some((line, column)) = found else { return whole.clone() };
    let part = text.value.get(part.start as usize..part.end as usize).unwrap_or_default();
    let first_line = part.lines().next().unwrap_or_default();
    Span { line, column, length: first_line.trim_end().chars().count().max(1), ..whole.clone() }
}

/// Line and column in the file.
fn inside(source: &str, text: &Spanned<String>, at: Location) -> Option<(usize, usize)> {
    let (line, column) = (text.span.line, text.span.column);
    let written: String = source.lines().nth(line - 1)?.chars().skip(column - 1).collect();
    let before = source.lines().nth(line.checked_sub(2)?)?.trim_end();
    let first_line = text.value.lines().next()?;
    if ["|", "|-", "|+"].iter().any(|mark| before.ends_with(mark)) && written.starts_with(first_line) {
        return Some((line + at.line as usize - 1, column + at.column as usize - 1));
    }
    if at.line > 1 {
        return None;
    }
    let quote = written.chars().next()?;
    if !matches!(quote, '\'' | '"') {
        return written.starts_with(first_line).then_some((line, column + at.column as usize - 1));
    }
    let parts = first_line.chars().take(at.column as usize - 1);
    let escaped = parts.filter(|ch| *ch == quote || quote == '"' && *ch == '\\').count();
    Some((line, column + at.column as usize + escaped))
}
