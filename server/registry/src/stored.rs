//! The stored form of objects. Only this module writes, cuts or reads stored bytes.
//!
//! The stored bytes are exactly the answer to a GET of the resource that is stored: JSON in schema order that
//! begins with `{"kind":...,"apiVersion":...,`, and a newline. The store inserts the revision when a write
//! commits. An item of a list is the stored form without that beginning and without the braces.

pub mod completed;
mod converted;
mod fields;
mod labels;

use std::borrow::Cow;

use bytes::Bytes;
use orch_machinery::{
    json::{
        Limits, check_cost,
        decode::decode_stored,
        encode::{encode, encode_for_store, encode_owned},
    },
    managed_fields,
    meta::MetaMut,
};
use orch_runtime::{Tree, resource_def::ResourceDef, type_def::TypeDef};
use orch_storage::{Body, Object, Revision};

use crate::{
    catalog::ServedResource,
    conversion,
    error::{ApiError, Result},
};

pub use self::{fields::values_at, labels::labels_of};

/// Objects of this size or more, in bytes, are refused. It is the default limit of etcd requests.
const MAX_OBJECT_BYTES: usize = 1_572_864;

/// The values of an object of this size or more, in bytes, are counted when it is stored: those of smaller
/// ones cannot take the memory that [`Limits`] allow.
const COUNTED_BYTES: usize = 16 * 1024;

/// Bytes at its end: the brace and the newline.
const END: usize = 2;

/// The stored form of a tree. `owners` is the JSON text of its managed fields where they are not in the tree.
/// Where the result is too large and `may_shrink` is set, the managed fields are left out.
///
/// # Errors 413 where it is larger than an object may be, or has more values than a body may have; 500 where
/// it has no other form, in which it would be stored.
pub fn encode_body(
    resource: &ServedResource,
    tree: &Tree,
    owners: Option<&str>,
    may_shrink: bool,
) -> Result<Body> {
    let def = resource.stored().def.type_def;
    let converted = resource.stored_as.as_ref().map(|_| conversion::to_stored(resource, tree.clone()));
    let converted = converted.transpose();
    let converted = converted.map_err(|error| ApiError::internal("the object cannot be stored", error))?;
    let tree = converted.as_ref().unwrap_or(tree);
    let (mut bytes, mut revision_at) = encode_for_store(tree, def, owners);
    if let Err(too_large) = check_size(&bytes, tree, def, owners) {
        if !may_shrink {
            return Err(too_large);
        }
        (bytes, revision_at) = encode_for_store(tree, def, Some(""));
        check_size(&bytes, &without_owners(tree), def, None)?;
    }
    bytes.push(b'\n');
    Ok(Body::new(bytes, revision_at))
}

/// Refuses what is too large to be stored, or to be read as a body: a client has to be able to send it back.
fn check_size(bytes: &[u8], tree: &Tree, def: &'static TypeDef, owners: Option<&str>) -> Result<()> {
    if bytes.len() >= MAX_OBJECT_BYTES {
        return Err(ApiError::TooLarge(format!("limit is {MAX_OBJECT_BYTES}")));
    }
    if bytes.len() < COUNTED_BYTES {
        return Ok(());
    }
    check_cost(tree, def, owners, &Limits::default())
        .map_err(|exceeded| ApiError::TooLarge(exceeded.to_string()))
}

fn without_owners(tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    managed_fields::take_entries(&mut tree);
    tree
}

/// Where the revision is in a stored form, or goes in one that is kept without it; none for other bytes.
pub fn revision_at(bytes: &[u8]) -> Option<usize> {
    const FIELD: &[u8] = br#""resourceVersion":""#;
    let is_ours = bytes.starts_with(br#"{"kind":""#) && bytes.ends_with(b"}\n");
    // No string has such text in it, because quotes are escaped there; and what comes before it in the
    // metadata is strings.
    is_ours.then(|| memchr::memmem::find(bytes, FIELD)).flatten().map(|at| at + FIELD.len())
}

/// The text of an object that is not in the store, in the same form.
pub fn transient(def: &'static TypeDef, tree: &Tree, owners: Option<&str>) -> Bytes {
    let mut text = Vec::new();
    match owners {
        Some(owners) => encode_owned(tree, def, owners, &mut text),
        None => encode(tree, def, &mut text),
    }
    text.push(b'\n');
    text.into()
}

/// The structural form of a stored object.
///
/// # Errors
/// 500 where the stored bytes are damaged or not an object of the kind.
pub fn tree_of(resource: &ServedResource, object: &Object) -> Result<Tree> {
    let bytes = bytes_of(resource, object)?;
    tree_of_bytes(resource.def, bytes).map_err(|error| unreadable(resource, object, &error))
}

/// The structural form of stored bytes.
///
/// # Errors
/// Why they are not an object of the kind, for the log.
pub fn tree_of_bytes(def: &ResourceDef, bytes: &[u8]) -> Result<Tree, String> {
    decode_stored(bytes, def.type_def).map_err(|error| error.to_string())
}

/// The stored bytes of an object, in the form of the resource.
///
/// # Errors
/// 500 where they are damaged.
pub fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o Bytes> {
    let stored = object.value().map_err(|error| unreadable(resource, object, &error))?;
    if is_in_form(resource, stored) {
        return Ok(completed::bytes_of(resource, object).unwrap_or(stored));
    }
    converted::bytes_of(resource, object).map_err(|error| unreadable(resource, object, &error))
}

/// Stored bytes in the form of the resource; `None` where they are damaged.
pub fn in_form_of<'b>(resource: &ServedResource, stored: &'b [u8]) -> Option<Cow<'b, [u8]>> {
    if is_in_form(resource, stored) {
        return Some(Cow::Borrowed(stored));
    }
    converted::convert(resource, stored).ok().map(|bytes| Cow::Owned(bytes.into()))
}

/// Whether stored bytes are in the form of the resource. Where there is one form only, they are unless they
/// say otherwise: what is left of a version that is gone must not be read as if it were another one.
fn is_in_form(resource: &ServedResource, stored: &[u8]) -> bool {
    stored.starts_with(resource.prefix.as_bytes())
        || (resource.forms.is_empty()
            && version_of(stored).is_none_or(|version| version == resource.api_version))
}

/// The version that an object is stored in, where the resource has no form of that version.
pub fn unknown_version<'o>(resource: &ServedResource, object: &'o Object) -> Option<&'o str> {
    let stored = object.value().ok().filter(|stored| !is_in_form(resource, stored))?;
    let version = version_of(stored)?;
    let is_known = resource.forms.iter().any(|form| form.api_version == version);
    if is_known { None } else { Some(version) }
}

/// The version that stored bytes begin with.
fn version_of(stored: &[u8]) -> Option<&str> {
    let rest = stored.strip_prefix(br#"{"kind":""#)?;
    let rest = &rest[memchr::memchr(b'"', rest)?..];
    let rest = rest.strip_prefix(br#"","apiVersion":""#)?;
    str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
}

/// An older state of an object with a later version. A watch shows it where an object leaves its selection.
///
/// # Errors
/// 500 where the stored bytes are damaged or not an object of the kind.
pub fn at_revision(resource: &ServedResource, object: &Object, revision: Revision) -> Result<Bytes> {
    let mut tree = tree_of(resource, object)?;
    MetaMut::of(&mut tree).set_resource_version(&revision.to_string());
    Ok(transient(resource.def.type_def, &tree, None))
}

/// Whether an object is stored in the version in which the server writes it now, with all that it writes.
///
/// # Errors
/// 500 where its stored bytes are damaged.
pub fn is_in_storage_version(resource: &ServedResource, object: &Object) -> Result<bool> {
    let stored = object.value().map_err(|error| unreadable(resource, object, &error))?;
    let stored_as = resource.stored();
    Ok(stored.starts_with(stored_as.prefix.as_bytes()) && completed::bytes_of(stored_as, object).is_none())
}

/// The members of a stored object without its type and its braces; `None` for a damaged one.
pub fn list_item<'o>(resource: &ServedResource, object: &'o Object) -> Option<&'o [u8]> {
    let stored: &[u8] = bytes_of(resource, object).ok()?;
    stored.get(resource.prefix.len()..stored.len().checked_sub(END)?)
}

/// The same without a copy, for as long as it is needed.
pub fn shared_list_item(resource: &ServedResource, object: &Object) -> Option<Bytes> {
    let item = list_item(resource, object)?;
    Some(bytes_of(resource, object).ok()?.slice_ref(item))
}

/// Whether an object may have a field of this name anywhere; otherwise it need not be decoded, which costs
/// many times as much as this. A damaged object may.
pub fn may_have_field(object: &Object, field: &str) -> bool {
    object.value().map_or(true, |bytes| mentions(bytes, field))
}

/// Whether a stored text may have a field of this name anywhere.
pub fn mentions(bytes: &[u8], field: &str) -> bool {
    let quoted = format!("\"{field}\":");
    memchr::memmem::find(bytes, quoted.as_bytes()).is_some()
}

/// A stored form without the newline at its end.
pub fn document(stored: &[u8]) -> &[u8] {
    stored.strip_suffix(b"\n").unwrap_or(stored)
}

/// 500 that names an object whose stored form cannot be read.
pub fn unreadable(resource: &ServedResource, object: &Object, error: &dyn std::fmt::Display) -> ApiError {
    let key = object.key();
    let place = match &*key.namespace {
        "" => String::new(),
        namespace => format!(" in namespace \"{namespace}\""),
    };
    let public =
        format!("the stored form of {} \"{}\"{place} cannot be read", resource.group_resource, key.name);
    ApiError::internal(public, format_args!("{key}: {error}"))
}
