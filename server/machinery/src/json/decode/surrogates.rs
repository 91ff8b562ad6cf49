//! Escapes of half a character: `\ud800` without the other half.
//!
//! RFC 8259 section 8.2 leaves open what a reader does with them. The reference reads U+FFFD, the character
//! that stands for what cannot be shown; the JSON parser here refuses them.

use std::borrow::Cow;

/// The escape of U+FFFD. It is as long as what it replaces, so that positions in messages stay right.
const REPLACEMENT: &str = "\\ufffd";
/// The length of an escape.
const ESCAPE: usize = REPLACEMENT.len();

/// The text with each half that stands alone replaced. Other texts are not copied.
pub(super) fn replaced(text: &str) -> Cow<'_, str> {
    let lone = lone_halves(text);
    if lone.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut whole = text.to_owned();
    for at in lone {
        whole.replace_range(at..at + ESCAPE, REPLACEMENT);
    }
    Cow::Owned(whole)
}

/// Where the escapes of lone halves begin.
fn lone_halves(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut lone, mut at) = (Vec::new(), 0);
    while let Some(offset) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += offset;
        match escaped(bytes, at) {
            Some(0xd800..=0xdbff) => {
                if let Some(0xdc00..=0xdfff) = escaped(bytes, at + ESCAPE) {
                    at += ESCAPE;
                } else {
                    lone.push(at);
                }
                at += ESCAPE;
            }
            Some(0xdc00..=0xdfff) => {
                lone.push(at);
                at += ESCAPE;
            }
            // Another escape: what follows the backslash is not the beginning of one.
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    lone
}

/// The number in an escape `\uXXXX`, if there is one at this place.
fn escaped(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn halves_that_stand_alone_are_replaced() {
        for (text, expected) in [
            ("plain", "plain"),
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"\uD83D\uDE00 \u00e4", r"\uD83D\uDE00 \u00e4"),
            (r"\ud800", r"\ufffd"),
            (r"a\udfffb", r"a\ufffdb"),
            (r"\ud800\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\ud800\n", r"\ufffd\n"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            // The backslash is escaped, so this is no escape of a character.
            (r"\\ud800", r"\\ud800"),
            (r"\\\ud800", r"\\\ufffd"),
            (r"\ud8", r"\ud8"),
            (r"\ud80g", r"\ud80g"),
            ("\\", "\\"),
        ] {
            assert_eq!(replaced(text), expected, "{text}");
        }
    }
}
