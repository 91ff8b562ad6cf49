//! Reads only `apiVersion` and `kind` of a body, to learn which table the rest belongs to.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::decode::{DecodeError, document};

/// The two fields that name an object's type, as far as they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeMeta {
    /// `v1`, `apps/v1`; empty when absent.
    pub api_version: String,
    /// `ConfigMap`; empty when absent.
    pub kind: String,
}

/// Reads the type of a JSON body. Everything else in it is skipped, but has to be JSON.
pub fn peek(bytes: &[u8]) -> Result<TypeMeta, DecodeError> {
    let mut source = serde_json::Deserializer::from_str(document(bytes)?);
    let found =
        source.deserialize_map(TypeMetaVisitor).map_err(|error| DecodeError::Syntax(error.to_string()))?;
    source.end().map_err(|error| DecodeError::Syntax(error.to_string()))?;
    Ok(found)
}

struct TypeMetaVisitor;

impl<'de> Visitor<'de> for TypeMetaVisitor {
    type Value = TypeMeta;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TypeMeta, A::Error> {
        let mut found = TypeMeta::default();
        // As in the full reading, the last one of duplicate names wins.
        while let Some(name) = entries.next_key::<String>()? {
            match name.as_str() {
                "apiVersion" => {
                    found.api_version = entries.next_value::<Option<String>>()?.unwrap_or_default();
                }
                "kind" => found.kind = entries.next_value::<Option<String>>()?.unwrap_or_default(),
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_type_wherever_it_stands() {
        let cases = [
            (r#"{"kind":"A","apiVersion":"v1"}"#, "v1", "A"),
            (r#"{"x":{"kind":"no"},"apiVersion":"g/v1","kind":"B","y":[1]}"#, "g/v1", "B"),
            (r#"{"kind":"A","kind":"B"}"#, "", "B"),
            (r#"{"kind":null}"#, "", ""),
        ];
        for (body, api_version, kind) in cases {
            let found = peek(body.as_bytes()).unwrap();
            assert_eq!((found.api_version.as_str(), found.kind.as_str()), (api_version, kind), "{body}");
        }
    }

    #[test]
    fn refuses_what_is_not_one_object() {
        assert_eq!(peek(b" \n"), Err(DecodeError::Empty));
        for body in ["[]", "1", "{", "{}{}", r#"{"kind":1}"#] {
            assert!(matches!(peek(body.as_bytes()), Err(DecodeError::Syntax(_))), "{body}");
        }
    }
}
