//! The bytes of a stored object in the form of a resource that reads and writes the objects of another one.
//!
//! They are made once for each state of an object, and kept with it.

use std::sync::OnceLock;

use bytes::Bytes;
use orch_machinery::json::encode::encode;
use orch_runtime::resource_def::ResourceDef;
use orch_storage::Object;

use super::tree_of_bytes;
use crate::{catalog::ServedResource, conversion};

/// The bytes in one form, and those in others. There are one or two forms in practice.
struct Kept {
    def: &'static ResourceDef,
    bytes: Result<Bytes, String>,
    others: Others,
}

#[derive(Default)]
struct Others(OnceLock<Box<Kept>>);

/// The bytes of a state of an object in the form of `resource`.
///
/// # Errors
/// Why there are none, for the log.
pub(super) fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o Bytes, &'o str> {
    let mut others = object.memo(|_| Others::default());
    loop {
        let kept = others.0.get_or_init(|| Box::new(Kept::of(resource, object)));
        if std::ptr::eq(kept.def, resource.def) {
            return kept.bytes.as_ref().map_err(String::as_str);
        }
        others = &kept.others;
    }
}

impl Kept {
    fn of(resource: &ServedResource, object: &Object) -> Self {
        Kept { def: resource.def, bytes: convert(resource, object), others: Others::default() }
    }
}

fn convert(resource: &ServedResource, object: &Object) -> Result<Bytes, String> {
    let stored = object.value().map_err(ToString::to_string)?;
    let tree = tree_of_bytes(resource.stored().def, stored)?;
    let tree = conversion::from_stored(resource, tree).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    encode(&tree, resource.def.type_def, &mut text);
    text.push(b'\n');
    Ok(text.into())
}
