//! The JSON text of an event, member by member.
//!
//! Most requests make one, so it has to be quick. A general serializer looks at each byte of a text by
//! itself, for what has to be escaped. Nearly no text has such bytes, and here many bytes are checked at a
//! time.

use std::{collections::BTreeMap, fmt::Display, io::Write as _};

/// The members of an object that is being written.
pub(super) struct Members<'t> {
    text: &'t mut Vec<u8>,
    /// Where the members begin.
    start: usize,
}

impl<'t> Members<'t> {
    /// Begins an object.
    pub(super) fn open(text: &'t mut Vec<u8>) -> Self {
        text.push(b'{');
        let start = text.len();
        Members { text, start }
    }

    /// Ends the object.
    pub(super) fn close(self) {
        self.text.push(b'}');
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        string(self.text, value);
    }

    /// A text, unless it is empty.
    pub(super) fn some_text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.text(name, value);
        }
    }

    /// A list of texts.
    pub(super) fn texts<'v>(&mut self, name: &'static str, values: impl IntoIterator<Item = &'v str>) {
        self.name(name);
        list(self.text, values);
    }

    /// A list of texts, unless it is empty.
    pub(super) fn some_texts(&mut self, name: &'static str, values: &[String]) {
        if !values.is_empty() {
            self.texts(name, values.iter().map(String::as_str));
        }
    }

    /// What is a JSON text already, if there is one.
    pub(super) fn some_json(&mut self, name: &'static str, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.name(name);
            self.text.extend_from_slice(value);
        }
    }

    /// What `value` shows, as a text. It must have nothing to escape.
    pub(super) fn shown(&mut self, name: &'static str, value: impl Display) {
        self.name(name);
        write!(self.text, "\"{value}\"").expect("memory takes everything");
    }

    /// An object with the members that `write` adds.
    pub(super) fn object(&mut self, name: &'static str, write: impl FnOnce(&mut Members<'_>)) {
        self.name(name);
        let mut members = Members::open(self.text);
        write(&mut members);
        members.close();
    }

    /// An object with a list of texts for each entry, unless there is none.
    pub(super) fn some_lists(&mut self, name: &'static str, map: &BTreeMap<String, Vec<String>>) {
        if !map.is_empty() {
            self.object(name, |members| {
                for (key, values) in map {
                    members.comma();
                    string(members.text, key);
                    members.text.push(b':');
                    list(members.text, values.iter().map(String::as_str));
                }
            });
        }
    }

    /// A text with a name of several parts.
    pub(super) fn text_of(&mut self, name: &[&'static str], value: &str) {
        self.comma();
        self.text.push(b'"');
        for part in name {
            self.text.extend_from_slice(part.as_bytes());
        }
        self.text.extend_from_slice(b"\":");
        string(self.text, value);
    }

    /// The name of a member, which has nothing to escape.
    fn name(&mut self, name: &'static str) {
        self.comma();
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    fn comma(&mut self) {
        if self.text.len() > self.start {
            self.text.push(b',');
        }
    }
}

fn list<'v>(text: &mut Vec<u8>, values: impl IntoIterator<Item = &'v str>) {
    text.push(b'[');
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        string(text, value);
    }
    text.push(b']');
}

/// A text with its quotes, and what has to be escaped, as `serde_json` escapes it.
fn string(text: &mut Vec<u8>, value: &str) {
    text.push(b'"');
    let mut rest = value.as_bytes();
    while let Some(at) = special_byte(rest) {
        text.extend_from_slice(&rest[..at]);
        escape(text, rest[at]);
        rest = &rest[at + 1..];
    }
    text.extend_from_slice(rest);
    text.push(b'"');
}

/// Writes a byte that cannot stand for itself.
fn escape(text: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            text.extend_from_slice(b"\\u00");
            text.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
            return;
        }
    };
    text.extend_from_slice(&[b'\\', short]);
}

/// Whether nothing has to be escaped.
fn is_plain(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    if words.is_empty() {
        return rest.iter().all(|byte| is_plain_byte(*byte));
    }
    // The last word has bytes of the one before it again, which costs less than going on byte by byte.
    words.iter().chain(text.last_chunk()).all(|word| is_plain_word(u64::from_ne_bytes(*word)))
}

/// Where the first byte is that has to be escaped.
fn special_byte(text: &[u8]) -> Option<usize> {
    if is_plain(text) {
        return None;
    }
    let (words, _) = text.as_chunks::<8>();
    let plain = 8 * words.iter().take_while(|word| is_plain_word(u64::from_ne_bytes(**word))).count();
    text[plain..].iter().position(|byte| !is_plain_byte(*byte)).map(|at| plain + at)
}

fn is_plain_byte(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// The same for eight bytes at a time. Subtracting `n` from a byte that is less sets its highest bit, which
/// was not set before; what it borrows from the next byte does not matter where one is found anyway.
fn is_plain_word(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word;
    let equal = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    (less(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHEST == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_a_serializer() {
        let all: Vec<char> = (0..=0x17f).chain([0x10_ffff]).filter_map(char::from_u32).collect();
        for (before, after, special) in (0..18)
            .flat_map(|before| [0, 1, 6, 7, 8, 9].map(|after| (before, after)))
            .flat_map(|(before, after)| all.iter().map(move |special| (before, after, special)))
        {
            let value = format!("{}{special}{}", "~".repeat(before), " ".repeat(after));
            let mut text = Vec::new();
            string(&mut text, &value);
            assert_eq!(text, serde_json::to_vec(&value).unwrap(), "{value:?}");
        }
        let several = "a \"role\" of\n\"somebody\" with \\ and \u{1f}\u{1f}";
        let mut text = Vec::new();
        string(&mut text, several);
        assert_eq!(text, serde_json::to_vec(several).unwrap());
    }
}
