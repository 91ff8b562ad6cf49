//! A schema file as a whole: an OpenAPI document that only declares schemas.
//!
//! Nothing is required here: a file without its header is reported by `load`, and its types are still read.

use super::{
    reading::{Entries, idl_object},
    schema::{EmptyTexts, Schema},
};
use crate::source::Spanned;

/// Parts of an OpenAPI document that describe an API's paths: here, they follow from the kinds.
const DERIVED: &[(&str, &str)] = &[
    ("paths", "routes follow from `x-orch-resource`: remove it"),
    ("servers", "the server knows its own address: remove it"),
    ("security", "authentication is configured at the server: remove it"),
    ("tags", "published documents are tagged by group and version: remove it"),
    ("webhooks", "there are none: remove it"),
    ("externalDocs", "put the link into a description"),
];

const ONLY_SCHEMAS: &[(&str, &str)] = &[
    ("parameters", "parameters follow from the verbs: remove it"),
    ("responses", "responses follow from the verbs: remove it"),
    ("requestBodies", "bodies follow from the verbs: remove it"),
    ("securitySchemes", "authentication is configured at the server: remove it"),
];

idl_object! {
    /// A schema file: an OpenAPI 3.1 document with one group and version, at most one kind, and its types.
    pub struct Document, "a schema file", refused: DERIVED, {
        /// Version of OpenAPI: 3.1.0.
        #[schemars(required)]
        "openapi" => openapi: Option<Spanned<String>>,
        /// Group and version.
        #[schemars(required)]
        "info" => info: Option<Info>,
        /// Whether required texts may be empty where they do not say `minLength: 1`: `accepted`.
        "x-orch-empty-texts" => empty_texts: Option<Spanned<EmptyTexts>>,
        /// The types.
        #[schemars(required)]
        "components" => components: Option<Components>,
    }
}

idl_object! {
    /// Group and version of everything in the file.
    pub struct Info, "info", refused: &[], {
        /// The group, `example.orch.io`; `core` for the core group.
        #[schemars(required)]
        "title" => title: Option<Spanned<String>>,
        /// The version: `v1`, `v1beta2`.
        #[schemars(required)]
        "version" => version: Option<Spanned<String>>,
        /// A line about the file, for its readers.
        "summary" => summary: Option<Spanned<String>>,
        /// Prose about the file, for its readers.
        "description" => description: Option<Spanned<String>>,
    }
}

idl_object! {
    /// What the file declares.
    pub struct Components, "components", refused: ONLY_SCHEMAS, {
        /// Types by name.
        #[schemars(required)]
        "schemas" => schemas: Option<Entries<Schema>>,
    }
}
