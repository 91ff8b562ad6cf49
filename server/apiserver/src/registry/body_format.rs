//! The formats in which objects are sent.

use bytes::Bytes;
use orch_machinery::negotiate::media_type;

use crate::error::{ApiError, Result};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// A body with its format.
#[derive(Clone, Debug)]
pub struct Body {
    /// How the bytes are to be read.
    pub format: BodyFormat,
    /// The body, whole.
    pub bytes: Bytes,
}

/// A format in which objects are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// `application/json`, and bodies that name no type.
    Json,
    /// `application/yaml`.
    Yaml,
    /// The protobuf type of any vocabulary.
    Protobuf,
}

impl BodyFormat {
    /// Reads a `Content-Type`.
    ///
    /// # Errors
    /// 415 for any other type.
    pub fn of(content_type: &str) -> Result<Self> {
        let asked = media_type(content_type);
        if asked.is_empty() || asked == JSON {
            return Ok(BodyFormat::Json);
        }
        if asked == YAML {
            return Ok(BodyFormat::Yaml);
        }
        let mut protobuf = orch_api::VOCABULARIES.iter().map(|words| words.protobuf_media_type);
        if protobuf.any(|known| known == asked) {
            return Ok(BodyFormat::Protobuf);
        }
        Err(ApiError::UnsupportedMediaType(vec![JSON.to_owned(), YAML.to_owned()]))
    }
}
