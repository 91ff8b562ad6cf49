//! Objects as trees with their types, in the form that the client asked for: what the binary formats are
//! written from.

use orch_machinery::json::decode::decode_stored;
use orch_meta::meta::v1::OBJECT_META_TYPE;
use orch_registry::{
    answer::List,
    catalog::ServedResource,
    error::{ApiError, Result},
    stored,
};
use orch_runtime::{
    Tree,
    type_def::{FieldDef, Shape, TypeDef},
};
use orch_storage::Object;
use serde_json::json;

use super::{
    object_text::partial,
    representation::{Form, METADATA},
};

/// An object with its `kind` and `apiVersion`.
pub struct Typed {
    pub tree: Tree,
    /// The type of its fields.
    pub def: &'static TypeDef,
}

/// An object's metadata alone.
static METADATA_TYPE: TypeDef = TypeDef {
    name: "meta.v1.PartialObjectMetadata",
    short_name: METADATA,
    fields: &[FieldDef {
        name: "metadata",
        tag: Some(1),
        shape: Shape::Object(&OBJECT_META_TYPE),
        ..FieldDef::PLAIN
    }],
    by_name: &[],
    atomic: false,
    size: 0,
};

/// The object of a text in the stored form, of type `def`.
///
/// # Errors
/// 500 where it cannot be read.
pub fn read(form: &Form, resource: &ServedResource, def: &'static TypeDef, stored: &[u8]) -> Result<Typed> {
    let read = decode_stored(stored, def);
    let tree = read.map_err(|error| ApiError::internal("a stored object cannot be read", error))?;
    let Form::Metadata(api_version) = form else { return Ok(Typed { tree, def }) };
    let mut whole = partial(resource, tree);
    let metadata = whole.get_mut("metadata").map_or_else(|| json!({}), Tree::take);
    let tree = json!({"kind": METADATA, "apiVersion": api_version, "metadata": metadata});
    Ok(Typed { tree, def: &METADATA_TYPE })
}

/// An object of a list.
///
/// # Errors
/// 500 where it is damaged or cannot be read.
pub fn of_list(form: &Form, list: &List, object: &Object) -> Result<Typed> {
    let resource = &list.resource;
    let unreadable =
        |error: &dyn std::fmt::Debug| stored::unreadable(resource, object, &format_args!("{error:?}"));
    let stored = stored::bytes_of(resource, object)?;
    read(form, resource, resource.def.type_def, stored).map_err(|error| unreadable(&error))
}
