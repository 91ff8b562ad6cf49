//! The document of one group version.

use std::collections::BTreeMap;

use orch_machinery::media_type::MediaTypes;
use orch_registry::catalog::Catalog;
use orch_runtime::Tree;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Unpublishable,
    paths::{PathItem, Paths},
    schemas,
};
use crate::documents::version;

#[derive(Serialize)]
struct Document {
    openapi: &'static str,
    info: Info,
    paths: BTreeMap<String, PathItem>,
    components: Components,
    security: Value,
}

#[derive(Serialize)]
struct Info {
    title: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Components {
    schemas: BTreeMap<String, Tree>,
    security_schemes: Value,
}

/// Writes the document; the same catalog gives the same bytes.
///
/// # Errors
/// Where the schemas do not fit together.
pub(super) fn render(
    catalog: &Catalog,
    media_types: &MediaTypes,
    group: &str,
    version: &str,
) -> Result<Vec<u8>, Unpublishable> {
    let mut paths = Paths::default();
    for resource in catalog.resources() {
        if resource.group == group && resource.def.version == version {
            paths.add(catalog, media_types, resource);
        }
    }
    let document = Document {
        openapi: "3.0.0",
        info: Info { title: catalog.vocabulary.name, version: version::GIT_VERSION },
        components: Components {
            schemas: schemas::reachable(catalog, paths.schemas)?,
            security_schemes: json!({"BearerToken": {
                "type": "apiKey",
                "in": "header",
                "name": "authorization",
                "description": "Bearer and a token.",
            }}),
        },
        paths: paths.items,
        security: json!([{"BearerToken": []}]),
    };
    serde_json::to_vec(&document).map_err(|error| Unpublishable(error.to_string()))
}
