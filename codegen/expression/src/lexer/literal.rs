//! Texts and bytes in quotes, with prefixes and escapes.

use super::Lexer;
use crate::{ast::Literal, error::Failure};

const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

impl Lexer<'_> {
    /// A text or bytes, where one begins here: `"..."`, `'''...'''`, with `r` for raw and `b` for bytes
    /// before them, in any case and order.
    pub(super) fn text_or_bytes(&mut self) -> Result<Option<Literal>, Box<Failure>> {
        let rest = self.rest();
        let prefix = rest.len().min(2);
        let Some((prefix, quote)) =
            (0..=prefix).filter(|length| rest.is_char_boundary(*length)).find_map(|length| {
                let (prefix, body) = rest.split_at(length);
                let quote = QUOTES.iter().find(|quote| body.starts_with(**quote))?;
                is_prefix(prefix).then_some((prefix, *quote))
            })
        else {
            return Ok(None);
        };
        let start = self.at;
        self.at += prefix.len() + quote.len();
        let is_raw = prefix.contains(['r', 'R']);
        let is_bytes = prefix.contains(['b', 'B']);
        let mut content = Content { bytes: Vec::new(), is_bytes };
        loop {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                break;
            }
            let at = self.at;
            let Some(ch) = self.next_char() else {
                return Err(Failure::syntax(self.span(start), "a text is not closed"));
            };
            match ch {
                '\n' | '\r' if quote.len() == 1 => {
                    return Err(Failure::syntax(self.span(start), "a text is not closed in its line"));
                }
                '\\' if !is_raw => self.escape(at, &mut content)?,
                // In raw texts a quote behind a backslash does not end the text, and both stay.
                '\\' if self.rest().starts_with(quote) => {
                    content.push_char('\\');
                    let quote = self.next_char();
                    content.bytes.extend(quote.map(|quote| quote as u8));
                }
                _ => content.push_char(ch),
            }
        }
        if is_bytes {
            return Ok(Some(Literal::Bytes(content.bytes)));
        }
        let text = String::from_utf8(content.bytes);
        text.map(|text| Some(Literal::Text(text)))
            .map_err(|_| Failure::syntax(self.span(start), "a text is not valid UTF-8"))
    }

    fn next_char(&mut self) -> Option<char> {
        let ch = self.rest().chars().next()?;
        self.at += ch.len_utf8();
        Some(ch)
    }

    /// What stands behind a backslash at `start`.
    fn escape(&mut self, start: usize, content: &mut Content) -> Result<(), Box<Failure>> {
        let ch = match self.next_char() {
            Some(ch @ ('\\' | '\'' | '"' | '`' | '?')) => ch,
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0C',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\x0B',
            Some('x' | 'X') => return self.numeric_escape(start, 2, 16, content),
            Some('u') if !content.is_bytes => return self.numeric_escape(start, 4, 16, content),
            Some('U') if !content.is_bytes => return self.numeric_escape(start, 8, 16, content),
            Some('0'..='3') => {
                self.at -= 1;
                return self.numeric_escape(start, 3, 8, content);
            }
            _ => return Err(Failure::syntax(self.span(start), "unknown escape")),
        };
        content.push_char(ch);
        Ok(())
    }

    /// Exactly so many digits: a code point in texts, a byte in bytes.
    fn numeric_escape(
        &mut self,
        start: usize,
        digits: usize,
        radix: u32,
        content: &mut Content,
    ) -> Result<(), Box<Failure>> {
        let number =
            self.rest().get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let number = number.and_then(|text| u32::from_str_radix(text, radix).ok());
        self.at += if number.is_some() { digits } else { 0 };
        let is_written = number.is_some_and(|number| content.push_number(number));
        if is_written { Ok(()) } else { Err(Failure::syntax(self.span(start), "not a valid escape")) }
    }
}

/// None, one of `r` and `b`, or both.
fn is_prefix(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "" | "r" | "b" | "rb" | "br")
}

/// What was read of a text so far.
struct Content {
    bytes: Vec<u8>,
    is_bytes: bool,
}

impl Content {
    fn push_char(&mut self, ch: char) {
        self.bytes.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Whether it is a code point or a byte.
    fn push_number(&mut self, number: u32) -> bool {
        if self.is_bytes {
            let byte = u8::try_from(number);
            self.bytes.extend(byte.ok());
            return byte.is_ok();
        }
        let ch = char::from_u32(number);
        ch.inspect(|ch| self.push_char(*ch)).is_some()
    }
}
