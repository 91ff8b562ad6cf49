//! Reads the object in a request body. There is one reader per syntax; all have the signature of [`Reader`],
//! so that the table of [media types](crate::media_type) can name them.

use orch_runtime::{Tree, TreeMap, type_def::TypeDef};

use crate::{
    cbor,
    json::{
        Exceeded, Limits,
        decode::{self, DecodeError, Decoded},
    },
    protobuf::{self, ProtobufError},
    yaml,
};

/// Reads a body as an object of a type: the fields of the type, `apiVersion` and `kind`. An absent
/// `apiVersion` or `kind` stays absent or is empty; no reader compares them with anything.
///
/// # Errors
/// Why the body cannot be read. What [`Body::strict`] lists is no error.
pub type Reader = fn(&[u8], &'static TypeDef, &Limits) -> Result<Body, BodyError>;

/// A body that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The object, without the fields that its type does not have.
    pub tree: Tree,
    /// What strict field validation refuses, in words for the client: unknown fields and duplicate names.
    pub strict: Vec<String>,
    /// How many of these, the first ones, are duplicate names that the reader of YAML found.
    pub duplicates: usize,
}

/// Why a body cannot be read. The text is meant for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A body that is no document in its syntax at all: nobody can know what kind it should be.
    #[error("{0}")]
    NoDocument(String),
    /// A body in JSON, YAML or CBOR.
    #[error(transparent)]
    Text(#[from] DecodeError),
    /// A body in protobuf.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
}

impl BodyError {
    /// The limit that the body exceeds, where that is why.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self {
            BodyError::Text(DecodeError::TooLarge(exceeded))
            | BodyError::Protobuf(ProtobufError::TooLarge(exceeded)) => Some(*exceeded),
            _ => None,
        }
    }
}

impl Body {
    fn of(decoded: Decoded) -> Self {
        Body {
            tree: decoded.tree,
            strict: decoded.strict.iter().map(ToString::to_string).collect(),
            duplicates: 0,
        }
    }
}

/// The [`Reader`] of JSON. The document `null` is an object without fields.
///
/// # Errors
/// [`BodyError::NoDocument`], [`BodyError::Text`].
pub fn read_json(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Body, BodyError> {
    if bytes.trim_ascii() == b"null" {
        return Ok(Body { tree: Tree::Object(TreeMap::new()), strict: Vec::new(), duplicates: 0 });
    }
    match decode::decode(bytes, def, limits) {
        Ok(decoded) => Ok(Body::of(decoded)),
        Err(error) if error.is_syntax() => {
            Err(BodyError::NoDocument(format!("couldn't get version/kind; json parse error: {error}")))
        }
        Err(error) => Err(BodyError::Text(error)),
    }
}

/// The [`Reader`] of YAML. Duplicate names are listed before unknown fields. A document that is `null` is an
/// object without fields.
///
/// # Errors
/// [`BodyError::NoDocument`], [`BodyError::Text`].
pub fn read_yaml(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Body, BodyError> {
    let document = yaml::decode(bytes, limits).map_err(|error| {
        if error.is_syntax() { BodyError::NoDocument(error.to_string()) } else { BodyError::Text(error) }
    })?;
    let tree = if document.tree.is_null() { Tree::Object(TreeMap::new()) } else { document.tree };
    let Body { tree, strict: unknown, .. } = Body::of(decode::decode_tree(tree, def, limits)?);
    let duplicates = document.duplicates.len();
    Ok(Body { tree, strict: [document.duplicates, unknown].concat(), duplicates })
}

/// The [`Reader`] of protobuf. Unknown fields are skipped and never listed: the protobuf specification lets
/// senders have fields that receivers do not know.
///
/// # Errors
/// [`BodyError::NoDocument`], [`BodyError::Protobuf`].
pub fn read_protobuf(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Body, BodyError> {
    match protobuf::decode(bytes, def, limits) {
        Ok(tree) => Ok(Body { tree, strict: Vec::new(), duplicates: 0 }),
        Err(error @ ProtobufError::NoMagic) => Err(BodyError::NoDocument(error.to_string())),
        Err(error) => Err(BodyError::Protobuf(error)),
    }
}

/// The [`Reader`] of CBOR. Unknown fields are listed; names that a map has twice are errors. A document that
/// is `null` is an object without fields.
///
/// # Errors
/// [`BodyError::Text`].
pub fn read_cbor(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Body, BodyError> {
    if cbor::is_null(bytes) {
        return Ok(Body { tree: Tree::Object(TreeMap::new()), strict: Vec::new(), duplicates: 0 });
    }
    Ok(Body::of(cbor::decode(bytes, def, limits)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::BAG;

    fn read(reader: Reader, body: &str) -> Result<(Tree, Vec<String>), String> {
        let body = reader(body.as_bytes(), &BAG, &Limits::default());
        body.map(|body| (body.tree, body.strict)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_null_document_is_an_empty_object() {
        for (reader, body) in
            [(read_json as Reader, "null"), (read_json, " null\n"), (read_yaml, "null"), (read_yaml, "~")]
        {
            assert_eq!(read(reader, body), Ok((json!({}), vec![])), "{body:?}");
        }
        let empty = "couldn't get version/kind; json parse error: unexpected end of JSON input";
        assert_eq!(read(read_json, ""), Err(empty.to_owned()));
    }

    #[test]
    fn unknown_and_duplicate_fields_are_listed() {
        let body = r#"{"kind": "Bag", "data": {"a": "1", "a": "2"}, "other": 1}"#;
        let (tree, strict) = read(read_json, body).unwrap();
        assert_eq!(tree, json!({"kind": "Bag", "data": {"a": "2"}}));
        assert_eq!(strict, [r#"duplicate field "data.a""#, r#"unknown field "other""#]);

        let (tree, strict) = read(read_yaml, "kind: Bag\nother: 1\ndata:\n  a: \"1\"\n  a: \"2\"\n").unwrap();
        assert_eq!(tree, json!({"kind": "Bag", "data": {"a": "2"}}));
        assert_eq!(strict, [r#"line 5: key "a" already set in map"#, r#"unknown field "other""#]);
    }

    #[test]
    fn errors_are_those_of_the_syntax() {
        let error = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
        assert_eq!(read(read_protobuf, "{}"), Err(error.to_owned()));
        let error = read(read_yaml, "a: [").unwrap_err();
        assert!(error.starts_with("yaml: "), "{error}");
    }

    #[test]
    fn what_is_no_document_is_told_from_what_is_a_wrong_one() {
        let is_document = |reader: Reader, body: &[u8]| {
            !matches!(reader(body, &BAG, &Limits::default()), Err(BodyError::NoDocument(_)))
        };
        for body in ["", "x", "{", "{}x", "{\"kind\": \"Bag\",}"] {
            assert!(!is_document(read_json, body.as_bytes()), "{body:?}");
        }
        for body in ["[]", "5", "{\"data\": 5}", "{\"other\": 1}"] {
            assert!(is_document(read_json, body.as_bytes()), "{body:?}");
            assert!(is_document(read_yaml, body.as_bytes()), "{body:?}");
        }
        assert!(!is_document(read_yaml, b"a: ["));
        assert!(!is_document(read_protobuf, b"{}"));
        assert!(is_document(read_protobuf, b"k8s\0\x01"));
    }
}
