//! JSON text in which names of groups are replaced while it goes by, in pieces that may end anywhere.

use std::mem;

use super::{
    MAX_NAME, Names,
    field::{Fields, Place},
};

/// What is known of an answer between two of its pieces.
#[derive(Debug, Default)]
pub struct Piecewise {
    /// The lists and objects that are open.
    open: Vec<Level>,
    /// The text that is open.
    inside: Option<Text>,
    /// Whether the next byte of the open text stands behind a backslash.
    is_escaped: bool,
    /// The open text so far, where it names a field or may name a group. In the latter case nothing of it was
    /// handed on yet.
    held: Vec<u8>,
}

/// A list or an object.
#[derive(Debug)]
struct Level {
    is_object: bool,
    /// Where it stands.
    place: Place,
    /// Whether the next text is the name of a field.
    expects_name: bool,
    /// Where the value of the last name stands.
    below: Place,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// The name of a field.
    Field,
    /// A value where a group is named.
    Group,
    /// Any other, and names that are longer than those that are known.
    Other,
}

impl Piecewise {
    /// The piece with these names replaced. The end of it may be held until it can be judged.
    pub(super) fn push(&mut self, piece: &[u8], fields: &Fields, names: &Names) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.held.len() + piece.len() + 16);
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = match self.inside {
                None => self.between(rest, &mut out),
                Some(text) => self.within(text, rest, fields, names, &mut out),
            };
            rest = &rest[taken..];
        }
        out
    }

    /// What is held at the end of an answer that ends too early.
    pub fn rest(&mut self) -> Vec<u8> {
        let held = mem::take(&mut self.held);
        if self.inside == Some(Text::Group) { held } else { Vec::new() }
    }

    /// Hands on what stands outside of texts, up to the next one. Returns how much that is.
    fn between(&mut self, rest: &[u8], out: &mut Vec<u8>) -> usize {
        let mut taken = 0;
        for byte in rest {
            taken += 1;
            match byte {
                b'"' => {
                    self.inside = Some(self.next_text());
                    break;
                }
                b'{' | b'[' => {
                    let (is_object, place) = (*byte == b'{', self.place());
                    let level = Level { is_object, place, expects_name: is_object, below: place };
                    self.open.push(level);
                }
                b'}' | b']' => drop(self.open.pop()),
                b',' | b':' => {
                    if let Some(level) = self.open.last_mut() {
                        level.expects_name = level.is_object && *byte == b',';
                    }
                }
                _ => {}
            }
        }
        out.extend_from_slice(&rest[..taken]);
        taken
    }

    /// Where the next value stands.
    fn place(&self) -> Place {
        self.open.last().map_or(Place::Fields, |level| level.below)
    }

    fn next_text(&self) -> Text {
        match self.open.last() {
            Some(level) if level.expects_name => Text::Field,
            _ if self.place() == Place::Group => Text::Group,
            _ => Text::Other,
        }
    }

    /// Goes on with the text that is open, up to its end or the next escape. Returns how much that is.
    fn within(
        &mut self,
        text: Text,
        rest: &[u8],
        fields: &Fields,
        names: &Names,
        out: &mut Vec<u8>,
    ) -> usize {
        if mem::take(&mut self.is_escaped) {
            out.push(rest[0]);
            return 1;
        }
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
        let (plain, end) = (&rest[..length], rest.get(length).copied());
        // No name has an escape, or is longer.
        let is_name = end != Some(b'\\') && self.held.len() + length <= MAX_NAME;
        if text != Text::Group || !is_name {
            out.append(&mut if text == Text::Group { mem::take(&mut self.held) } else { Vec::new() });
            out.extend_from_slice(plain);
        }
        match text {
            Text::Other => {}
            Text::Field | Text::Group if is_name => self.held.extend_from_slice(plain),
            Text::Field => self.ends_field(fields, false),
            Text::Group => self.inside = Some(Text::Other),
        }
        match end {
            None => return length,
            Some(b'"') => self.ends(fields, names, out),
            Some(_) => self.is_escaped = true,
        }
        out.extend(end);
        length + 1
    }

    /// The open text has come to its end.
    fn ends(&mut self, fields: &Fields, names: &Names, out: &mut Vec<u8>) {
        match self.inside.take() {
            Some(Text::Field) => self.ends_field(fields, true),
            Some(Text::Group) => {
                let own = std::str::from_utf8(&self.held).ok().and_then(|name| names.get(name));
                out.extend_from_slice(own.map_or(&self.held, |own| own.as_bytes()));
            }
            Some(Text::Other) | None => {}
        }
        self.held.clear();
    }

    /// The name of a field is known, or known to be none of the schema's.
    fn ends_field(&mut self, fields: &Fields, is_known: bool) {
        let name = mem::take(&mut self.held);
        let name = if is_known { std::str::from_utf8(&name).unwrap_or_default() } else { "" };
        if let Some(level) = self.open.last_mut() {
            level.below = fields.below(level.place, name);
        }
        self.inside = Some(Text::Other).filter(|_| !is_known);
    }
}
