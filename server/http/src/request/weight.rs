//! How much work a body makes, judged before it is read.
//!
//! Bytes alone do not tell: a list of empty objects has three bytes for each in JSON and two in protobuf, and
//! an alias of YAML stands for as many values as its writer likes. So the signs between values are counted.
//! That is one quick pass over a text; binary formats would have to be read for it, and get less room.

use memchr::memchr;
use orch_machinery::{
    cbor,
    media_type::{PatchKind, patch_type},
    protobuf,
};

/// From this size on, in bytes, a text or the JSON of a stored object is large: it takes some milliseconds.
pub const LARGE: usize = 64 * 1024;
/// The same for a body in a binary format.
const LARGE_BINARY: usize = 4 * 1024;
/// The same for the number of signs between values: an object of some hundred items, or a thousand numbers.
const MANY: usize = 1_000;

/// Whether it takes long to read a body and to do what it says. `content_type` is that of the request.
pub fn is_large(body: &[u8], content_type: &str) -> bool {
    if body.len() > LARGE {
        return true;
    }
    let binary = || body.len() > LARGE_BINARY || has_many_empty(body);
    let text = || has_aliases(body) || copies(body, content_type) || has_many_values(body);
    match form(body) {
        Form::Binary => binary(),
        Form::Text => text(),
        Form::Either => binary() || text(),
    }
}

/// What a body may be by its first bytes. The media type is not asked: a reader refuses another form at once.
enum Form {
    Binary,
    Text,
    Either,
}

fn form(body: &[u8]) -> Form {
    if [protobuf::MAGIC, cbor::SELF_DESCRIBED].iter().any(|magic| body.starts_with(magic)) {
        return Form::Binary;
    }
    // A map of CBOR begins beyond ASCII, and so may a text: with a byte order mark, or a name.
    if body.first().is_none_or(u8::is_ascii) { Form::Text } else { Form::Either }
}

/// A line or a comma comes between two values, and an item that is a list or an object opens it.
fn has_many_values(text: &[u8]) -> bool {
    // No value is shorter than a byte.
    text.len() > MANY && count(text, |byte| matches!(byte, b'{' | b'[' | b',' | b'\n' | b'\r')) > MANY
}

/// An empty message of protobuf is a tag and a zero.
fn has_many_empty(binary: &[u8]) -> bool {
    count(binary, |byte| byte == 0) > MANY / 2
}

/// How many bytes meet the condition. They are cut into pieces of 255, so that the count of a piece fits
/// into a byte: then the processor can compare many bytes at a time.
fn count(bytes: &[u8], condition: impl Fn(u8) -> bool) -> usize {
    let of_piece =
        |piece: &[u8]| piece.iter().fold(0_u8, |n, byte| n.wrapping_add(u8::from(condition(*byte))));
    bytes.chunks(usize::from(u8::MAX)).map(|piece| usize::from(of_piece(piece))).sum()
}

/// Whether a text may have anchors and aliases of YAML. Other texts with these two signs are taken for such.
fn has_aliases(text: &[u8]) -> bool {
    memchr(b'&', text).is_some() && memchr(b'*', text).is_some()
}

/// Whether a JSON patch may have `copy`, also written with escapes: a few of them double a value many times.
fn copies(text: &[u8], content_type: &str) -> bool {
    patch_type(content_type).is_some_and(|patch| patch.kind == PatchKind::Json)
        && (text.windows(4).any(|word| word == b"copy") || text.windows(2).any(|word| word == b"\\u"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "application/json";
    const JSON_PATCH: &str = "application/json-patch+json";

    #[test]
    fn a_body_is_large_by_the_work_that_it_makes() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        for (body, content_type, expected) in [
            (String::new(), JSON, false),
            (list("{}", 100), JSON, false),
            (list("{}", 1_000), JSON, true),
            (list("1", 1_200), JSON, true),
            ("- a: b\n".repeat(100), "application/yaml", false),
            ("- {}\n".repeat(1_200), "application/yaml", true),
            ("- {}\r".repeat(1_200), "application/yaml", true),
            // A long text is one value.
            (format!(r#"{{"data":{{"a":"{}"}}}}"#, "x".repeat(50_000)), JSON, false),
            ("x".repeat(LARGE + 1), JSON, true),
            ("[&a {b: c}, *a]".to_owned(), "application/yaml", true),
            (r#"{"verbs":["*"]}"#.to_owned(), JSON, false),
            (r#"[{"op":"copy","from":"/a","path":"/b"}]"#.to_owned(), JSON_PATCH, true),
            (r#"[{"op":"c\u006fpy","from":"/a","path":"/b"}]"#.to_owned(), JSON_PATCH, true),
            (r#"[{"op":"test","path":"/b","value":1}]"#.to_owned(), JSON_PATCH, false),
            (r#"{"data":{"a":"copy"}}"#.to_owned(), "application/merge-patch+json", false),
            (format!("k8s\0{}", "x".repeat(1_000)), "application/x", false),
            (format!("k8s\0{}", "x".repeat(5_000)), "application/x", true),
            // A text that does not begin with ASCII.
            ("\u{feff}[&a {b: c}, *a]".to_owned(), "application/yaml", true),
            ("é: [&a {b: c}, *a]".to_owned(), "application/yaml", true),
            (format!("{{\"é\":{}}}", list("{}", 1_000)), JSON, true),
            ("[{\"é\":0,\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]".to_owned(), JSON_PATCH, true),
            ("é: b\n".repeat(100), "application/yaml", false),
        ] {
            let shown: String = body.chars().take(60).collect();
            assert_eq!(is_large(body.as_bytes(), content_type), expected, "{shown}");
        }
        assert!(is_large(&[&b"k8s\0"[..], &[0x0a, 0].repeat(1_000)].concat(), "application/x"));
        assert!(is_large(&[&[0xd9, 0xd9, 0xf7, 0xa1][..], &[0x80; 5_000]].concat(), "application/cbor"));
        assert!(is_large(&[&[0xa1][..], &[0x80; 5_000]].concat(), "application/cbor"));
        // In CBOR, the bytes that are signs in a text mean something else.
        assert!(!is_large(
            &[&[0xd9, 0xd9, 0xf7, 0xa1][..], &b"&*{".repeat(500)].concat(),
            "application/cbor"
        ));
    }
}
