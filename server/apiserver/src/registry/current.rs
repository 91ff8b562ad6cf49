//! The stored object that a request names, in the forms that a write needs.

use std::sync::Arc;

use orch_machinery::json::{Limits, decode::decode};
use orch_runtime::Tree;
use orch_storage::{Key, Object, Revision};

use super::Call;
use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
};

/// A stored object with its structural form.
#[derive(Debug)]
pub struct Current {
    /// As stored.
    pub object: Arc<Object>,
    /// Decoded.
    pub tree: Tree,
}

impl Current {
    /// The version of the object.
    pub fn revision(&self) -> Revision {
        self.object.revision()
    }
}

/// The store's key of the object that the request names.
pub fn key(call: Call<'_>, name: &str) -> Key {
    Key::new(call.target.resource.storage_name.clone(), call.target.namespace.as_ref(), name)
}

/// Finds the object that the request names.
///
/// # Errors
/// 404 where there is none, 500 where its stored form cannot be read.
pub fn find(call: Call<'_>, name: &str) -> Result<Current> {
    lookup(call, name)?.ok_or_else(|| ApiError::not_found(call.target.resource, name))
}

/// What is stored under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Nothing.
    Absent,
    /// An object of the kind.
    Readable,
    /// Bytes that are damaged, or no object of the kind, under this revision.
    Unreadable(Revision),
}

/// Whether there is anything under the name.
pub fn is_absent(call: Call<'_>, name: &str) -> bool {
    let snapshot = call.app.storage.snapshot(&call.target.resource.storage_name);
    snapshot.get(&call.target.namespace, name).is_none()
}

/// Whether there is an object, and whether it can be read.
pub fn stored(call: Call<'_>, name: &str) -> Stored {
    let resource = call.target.resource;
    let snapshot = call.app.storage.snapshot(&resource.storage_name);
    match snapshot.get(&call.target.namespace, name) {
        None => Stored::Absent,
        Some(object) if tree_of(resource, object).is_ok() => Stored::Readable,
        Some(object) => Stored::Unreadable(object.revision()),
    }
}

/// Like [`find`], but absence is no error.
pub fn lookup(call: Call<'_>, name: &str) -> Result<Option<Current>> {
    let resource = call.target.resource;
    let snapshot = call.app.storage.snapshot(&resource.storage_name);
    let Some(object) = snapshot.get(&call.target.namespace, name) else {
        return Ok(None);
    };
    let tree = tree_of(resource, object)?;
    Ok(Some(Current { object: Arc::clone(object), tree }))
}

/// The structural form of a stored object.
///
/// # Errors
/// 500 where the stored bytes are damaged or are no object of the kind.
pub fn tree_of(resource: &ServedResource, object: &Object) -> Result<Tree> {
    let bytes = bytes_of(resource, object)?;
    match decode(bytes, resource.def.type_def, &Limits::default()) {
        Ok(decoded) => Ok(decoded.tree),
        Err(error) => Err(unreadable(resource, object, &error)),
    }
}

/// The stored bytes of an object.
///
/// # Errors
/// 500 where they are damaged.
pub fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o bytes::Bytes> {
    object.value().map_err(|error| unreadable(resource, object, &error))
}

fn unreadable(resource: &ServedResource, object: &Object, error: &dyn std::fmt::Display) -> ApiError {
    let key = object.key();
    let public = format!("the stored form of {} \"{}\" cannot be read", resource.group_resource, key.name);
    ApiError::internal(public, format_args!("{key}: {error}"))
}
