//! The JSON texts of objects in events.

use std::fmt;

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

/// A JSON text in one line, so that it can stand in a log. A text that not every reader of JSON would read
/// becomes a JSON string: one event like that would spoil a whole line, or a list of events.
pub fn one_line(text: &[u8]) -> Bytes {
    let text = text.trim_ascii();
    if serde_json::from_slice::<Readable>(text).is_err() {
        return Value::from(String::from_utf8_lossy(text)).to_string().into();
    }
    // In valid JSON, line breaks stand between tokens alone.
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if !text.iter().any(is_break) {
        return Bytes::copy_from_slice(text);
    }
    without_blanks(text).into()
}

/// Any JSON value, read and dropped. What is only skipped (`serde::de::IgnoredAny`) may be no UTF-8, may be
/// nested without end, and may have halves of characters and numbers that are too large.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Readable)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Readable>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Readable, Readable>()?.is_some() {}
        Ok(self)
    }
}

/// Valid JSON without what stands between its tokens.
fn without_blanks(text: &[u8]) -> Vec<u8> {
    let (mut out, mut in_text, mut is_escaped) = (Vec::with_capacity(text.len()), false, false);
    for byte in text {
        if in_text {
            in_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            continue;
        } else {
            in_text = *byte == b'"';
        }
        out.push(*byte);
    }
    out
}

/// An object, a list or a table without the managed fields of objects. A text that is no JSON stays as it is.
pub fn without_managed_fields(text: Bytes) -> Bytes {
    const NAME: &str = "managedFields";
    // Most texts do not have them, and to look for the name costs much less than to read the text.
    if !std::str::from_utf8(&text).is_ok_and(|text| text.contains(NAME)) {
        return text;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&text) else { return text };
    let remove = |object: &mut Value| {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove(NAME);
        }
    };
    remove(&mut value);
    if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(remove);
    }
    if let Some(rows) = value.get_mut("rows").and_then(Value::as_array_mut) {
        rows.iter_mut().filter_map(|row| row.get_mut("object")).for_each(remove);
    }
    value.to_string().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_stand_in_one_line() {
        for (text, expected) in [
            ("{\"a\": 1}\n", r#"{"a": 1}"#),
            ("{\n  \"a b\": [1,\r\n 2], \"c\": \"x \\\" y \\\\\" }", r#"{"a b":[1,2],"c":"x \" y \\"}"#),
            ("a: 1\nb: 2\n", r#""a: 1\nb: 2""#),
            ("{\"a\":", r#""{\"a\":""#),
            ("", r#""""#),
        ] {
            let line = one_line(text.as_bytes());
            assert_eq!(std::str::from_utf8(&line).unwrap(), expected, "{text:?}");
            let again: Value = serde_json::from_slice(&line).unwrap();
            if let Ok(value) = serde_json::from_str::<Value>(text) {
                assert_eq!(again, value);
            }
        }
    }

    #[test]
    fn what_readers_of_json_refuse_is_a_string() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat().into_bytes();
        for text in [
            b"{\"a\":\"\xff\"}".to_vec(),
            br#"{"a":"\ud800"}"#.to_vec(),
            br#"{"\udc00":1}"#.to_vec(),
            b"[1e999]".to_vec(),
            nested(200),
            nested(100_000),
        ] {
            let line = one_line(&text);
            let value: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(value.as_str(), Some(&*String::from_utf8_lossy(&text)));
        }
        for text in [nested(100), br#"{"a":"\ud83d\ude00","b":[-1,1.5,null,true]}"#.to_vec()] {
            assert_eq!(one_line(&text), text);
        }
    }

    #[test]
    fn managed_fields_go_from_objects_lists_and_tables() {
        let object = |fields| json!({"metadata": {"name": "a", "managedFields": fields}, "data": {}});
        let bare = json!({"metadata": {"name": "a"}, "data": {}});
        for (value, expected) in [
            (object(json!([{}])), bare.clone()),
            (json!({"items": [object(json!([]))], "kind": "L"}), json!({"items": [bare], "kind": "L"})),
            (json!({"rows": [{"object": object(json!([]))}]}), json!({"rows": [{"object": bare}]})),
            (json!({"data": {"managedFields": 1}}), json!({"data": {"managedFields": 1}})),
        ] {
            let text = without_managed_fields(value.to_string().into());
            assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), expected);
        }
        let text = Bytes::from_static(b"managedFields: no JSON");
        assert_eq!(without_managed_fields(text.clone()), text);
    }
}
