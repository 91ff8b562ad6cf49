//! Where something stands in the text of an expression.

use std::fmt::{self, Display};

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last one.
    pub end: u32,
}

impl Span {
    /// From the start of this to the end of the other.
    pub(crate) fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// Where it starts, as people count.
    pub fn location(self, text: &str) -> Location {
        let before = text.get(..self.start as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Location {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        }
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::{Location, Span};

    #[test]
    fn lines_and_columns_are_counted_from_one_in_characters() {
        let text = "aé\nb + c";
        for (start, line, column) in [(0, 1, 1), (3, 1, 3), (4, 2, 1), (8, 2, 5), (99, 2, 6)] {
            assert_eq!(Span { start, end: start }.location(text), Location { line, column }, "{start}");
        }
    }
}
