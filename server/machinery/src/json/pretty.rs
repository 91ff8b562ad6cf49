//! Indents JSON for people: two spaces per level, a space after each colon, empty lists and objects on one
//! line.

/// The document, indented. It works on the text alone, so that the order of names stays. The text must be
/// JSON; the result for other text is undefined.
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 2);
    Indenter::default().push(json, &mut out);
    out
}

/// Indents one document that comes in pieces. They may be cut at any byte.
#[derive(Debug, Default)]
pub struct Indenter {
    depth: usize,
    /// Whether the last byte opened a list or an object that may be empty.
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl Indenter {
    /// Indents the next piece.
    pub fn push(&mut self, mut json: &[u8], out: &mut Vec<u8>) {
        while let Some((&byte, rest)) = json.split_first() {
            if self.in_string {
                let (tail, rest) = json.split_at(self.string_tail(json));
                out.extend_from_slice(tail);
                json = rest;
            } else {
                json = rest;
                if !byte.is_ascii_whitespace() {
                    self.token(byte, out);
                }
            }
        }
    }

    fn token(&mut self, byte: u8, out: &mut Vec<u8>) {
        let closes = matches!(byte, b'}' | b']');
        if std::mem::take(&mut self.opened) {
            if closes {
                out.push(byte);
                return;
            }
            self.depth += 1;
            new_line(self.depth, out);
        }
        if closes {
            self.depth = self.depth.saturating_sub(1);
            new_line(self.depth, out);
        }
        out.push(byte);
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.opened = true,
            b',' => new_line(self.depth, out),
            b':' => out.push(b' '),
            _ => {}
        }
    }

    /// The length of the part of `text` that belongs to the string that it begins in, with the closing quote.
    fn string_tail(&mut self, text: &[u8]) -> usize {
        for (index, byte) in text.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    return index + 1;
                }
                _ => {}
            }
        }
        text.len()
    }
}

fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(b"  ");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pretty;

    #[test]
    fn indents_and_leaves_strings_alone() {
        let compact = br#"{"a":[1,{"b":"x: {\"},"}],"c":{},"d":[ ],"e":null}"#;
        let expected = r#"{
  "a": [
    1,
    {
      "b": "x: {\"},"
    }
  ],
  "c": {},
  "d": [],
  "e": null
}"#;
        assert_eq!(String::from_utf8(pretty(compact)).unwrap(), expected);
        assert_eq!(pretty(expected.as_bytes()), expected.as_bytes());
    }

    proptest! {
        #[test]
        fn never_panics(
            bytes in prop::collection::vec(prop::sample::select(br#"{}[],:"\ a1"#.to_vec()), 0..64),
        ) {
            pretty(&bytes);
        }
    }
}
