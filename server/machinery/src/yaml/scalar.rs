//! The style of a text in YAML: plain, quoted, or as a block of lines.

use super::plain::means_something_else;

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes, which are doubled inside.
    Single,
    /// In double quotes, with escapes.
    Double,
    /// Line by line, after `|`.
    Literal,
}

/// Chooses the style of a text: plain if it is read as the same text, otherwise the style with the least
/// quoting.
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

/// Whether a character needs no escape in any style.
pub(super) fn is_printable(ch: char) -> bool {
    matches!(ch, ' '..='~' | '\u{A0}'..='\u{FFFD}') && ch != '\u{FEFF}'
}

/// Whether lines can be written as a block: no line may end with a space.
fn fits_block(text: &str) -> bool {
    !text.ends_with(' ') && !text.contains(" \n") && text.chars().all(|ch| ch == '\n' || is_shown(ch))
}

/// Whether a character is printable and ends no line in any reader.
fn is_shown(ch: char) -> bool {
    is_printable(ch) && !matches!(ch, '\u{2028}' | '\u{2029}')
}

/// Characters that begin something other than text.
const OPENERS: &str = ",[]{}&*!|>'\"%@`";

/// Whether some character in the text would be read as syntax.
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
