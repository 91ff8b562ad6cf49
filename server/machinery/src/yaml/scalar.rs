//! In which style a text is written: as it is, quoted, or as a block of lines.

use super::plain::means_something_else;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// Between single quotes, which are doubled inside.
    Single,
    /// Between double quotes, with escapes.
    Double,
    /// Line by line, after a mark.
    Literal,
}

/// The style of a text: plain if it reads back as this text, and the least quoting otherwise.
pub(super) fn style(text: &str) -> Style {
    if text.contains('\n') {
        return if fits_block(text) { Style::Literal } else { Style::Double };
    }
    if means_something_else(text) || !text.chars().all(is_shown) {
        return Style::Double;
    }
    if text.starts_with(' ') || text.ends_with(' ') || has_indicators(text) {
        return Style::Single;
    }
    Style::Plain
}

/// Whether a character stands for itself in any style.
pub(super) fn is_printable(ch: char) -> bool {
    matches!(ch, ' '..='~' | '\u{A0}'..='\u{FFFD}') && ch != '\u{FEFF}'
}

/// Lines can be written as a block unless a space would be lost at their end.
fn fits_block(text: &str) -> bool {
    !text.ends_with(' ') && !text.contains(" \n") && text.chars().all(|ch| ch == '\n' || is_shown(ch))
}

/// Printable, and no end of a line to any reader.
fn is_shown(ch: char) -> bool {
    is_printable(ch) && !matches!(ch, '\u{2028}' | '\u{2029}')
}

/// What begins something other than text.
const OPENERS: &str = ",[]{}&*!|>'\"%@`";

/// Whether a character of the text would be read as syntax.
fn has_indicators(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(ch) = chars.next() {
        let ends_word = chars.peek().is_none_or(|next| *next == ' ');
        let is_indicator = match ch {
            '?' | '-' if before.is_none() => ends_word,
            ':' => ends_word,
            '#' => matches!(before, None | Some(' ')),
            ch => before.is_none() && OPENERS.contains(ch),
        };
        if is_indicator {
            return true;
        }
        before = Some(ch);
    }
    false
}
