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

    /// A list of texts, unless it is empty.
    pub(super) fn some_texts(&mut self, name: &'static str, values: &[String]) {
        if !values.is_empty() {
            self.name(name);
            list(self.text, values);
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

    /// An object with a text for each entry, unless there is none.
    pub(super) fn some_map(&mut self, name: &'static str, map: &BTreeMap<String, String>) {
        self.some_entries(name, map, |text, value| string(text, value));
    }

    /// An object with a list of texts for each entry, unless there is none.
    pub(super) fn some_lists(&mut self, name: &'static str, map: &BTreeMap<String, Vec<String>>) {
        self.some_entries(name, map, |text, values| list(text, values));
    }

    fn some_entries<V>(
        &mut self,
        name: &'static str,
        map: &BTreeMap<String, V>,
        write: fn(&mut Vec<u8>, &V),
    ) {
        if !map.is_empty() {
            self.object(name, |members| {
                for (key, value) in map {
                    members.key(key);
                    write(members.text, value);
                }
            });
        }
    }

    /// The name of a member, which has nothing to escape.
    fn name(&mut self, name: &'static str) {
        self.comma();
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    /// The name of a member that somebody else has chosen.
    fn key(&mut self, name: &str) {
        self.comma();
        string(self.text, name);
        self.text.push(b':');
    }

    fn comma(&mut self) {
        if self.text.len() > self.start {
            self.text.push(b',');
        }
    }
}

fn list(text: &mut Vec<u8>, values: &[String]) {
    text.push(b'[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        string(text, value);
    }
    text.push(b']');
}

/// A text with its quotes, and what has to be escaped.
fn string(text: &mut Vec<u8>, value: &str) {
    let special = |byte: u8| u8::from(byte < b' ') | u8::from(byte == b'"') | u8::from(byte == b'\\');
    if value.bytes().fold(0, |any, byte| any | special(byte)) != 0 {
        serde_json::to_writer(text, value).expect("a text has a JSON form");
    } else {
        text.push(b'"');
        text.extend_from_slice(value.as_bytes());
        text.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_a_serializer() {
        let all: String = (0..=0x17f).filter_map(char::from_u32).collect();
        let each = all.chars().map(String::from);
        for value in
            each.chain([String::new(), all.clone(), "plain/text:1".to_owned(), "\u{10ffff}".to_owned()])
        {
            let mut text = Vec::new();
            string(&mut text, &value);
            assert_eq!(text, serde_json::to_vec(&value).unwrap(), "{value:?}");
        }
    }
}
