//! Indents JSON for people: two spaces a level, a space after each colon, empty lists and objects on one line.

/// The same document, indented. Works on the text alone, so that the order of names stays. Expects JSON; anything
/// else comes out as something else.
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                let (tail, next) = after.split_at(string_tail(after));
                out.push(byte);
                out.extend_from_slice(tail);
                rest = next;
            }
            b'{' | b'[' => {
                out.push(byte);
                if let Some((close @ (b'}' | b']'), next)) = after.trim_ascii_start().split_first() {
                    out.push(*close);
                    rest = next;
                } else {
                    depth += 1;
                    new_line(depth, &mut out);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(depth, &mut out);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(depth, &mut out);
            }
            b':' => out.extend_from_slice(b": "),
            byte if byte.is_ascii_whitespace() => {}
            byte => out.push(byte),
        }
    }
    out
}

/// The length of a string's text after its opening quote, with the closing quote.
fn string_tail(text: &[u8]) -> usize {
    let mut escaped = false;
    for (index, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
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
        fn never_panics(bytes in prop::collection::vec(prop::sample::select(br#"{}[],:"\ a1"#.to_vec()), 0..64)) {
            pretty(&bytes);
        }
    }
}
