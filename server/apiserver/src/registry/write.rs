//! The steps that every write shares, in their order.
//!
//! tree -> typed object -> kind's hook -> defaults -> validation -> tree -> bytes -> commit. The caller has put the
//! server-owned metadata in place before.

use std::sync::Arc;

use bytes::Bytes;
use orch_machinery::json::encode::{encode, encode_for_store};
use orch_runtime::{Tree, field_error::Validation, object::ApiObject};
use orch_storage::{Body, Object, Write};

use super::{Call, body, current::Current, metadata, store_error};
use crate::{
    error::{ApiError, Result},
    kinds::{self, Change},
};

/// Objects larger than this are refused (the limit of the field's usual stores).
const MAX_OBJECT_BYTES: usize = 1_572_864;

/// An object that is ready to be stored.
#[derive(Debug)]
pub struct Ready {
    /// Its structural form.
    pub tree: Tree,
}

/// Takes a new object through hook, defaults and validation.
///
/// # Errors
/// 422 with every violation, 400 where the tree does not fit the type.
pub fn ready_to_create(call: Call<'_>, tree: Tree) -> Result<Ready> {
    let mut object = typed(call, tree.clone())?;
    let vocabulary = call.app.catalog.vocabulary;
    let mut cx = Validation::new(vocabulary);
    kinds::hooks(call.target.resource.def).prepare(&mut *object, None, &change(call));
    object.set_defaults();
    metadata::validate_name(call.target.resource.def, &tree, &mut cx);
    object.validate(&mut cx);
    kinds::hooks(call.target.resource.def).validate(&*object, None, &change(call), &mut cx);
    finish(call, &*object, cx)
}

/// Takes a changed object through hook, defaults and validation.
///
/// # Errors
/// 422 with every violation, 400 where the tree does not fit the type.
pub fn ready_to_update(call: Call<'_>, current: &Current, tree: Tree) -> Result<Ready> {
    let old = typed(call, current.tree.clone())?;
    let vocabulary = call.app.catalog.vocabulary;
    let mut cx = Validation::new(vocabulary);
    metadata::validate_finalizers(&current.tree, &tree, &mut cx);
    let mut object = typed(call, tree)?;
    kinds::hooks(call.target.resource.def).prepare(&mut *object, Some(&*old), &change(call));
    object.set_defaults();
    object.validate(&mut cx);
    object.validate_update(&*old, &mut cx);
    kinds::hooks(call.target.resource.def).validate(&*object, Some(&*old), &change(call), &mut cx);
    finish(call, &*object, cx)
}

/// The stored form of a tree: what a GET answers, to the last byte, which is a newline.
///
/// # Errors
/// 413 where it is larger than an object may be.
pub fn stored_form(call: Call<'_>, tree: &Tree) -> Result<Body> {
    let (mut bytes, revision_at) = encode_for_store(tree, call.target.resource.def.type_def);
    bytes.push(b'\n');
    if bytes.len() > MAX_OBJECT_BYTES {
        return Err(ApiError::TooLarge(format!("limit is {MAX_OBJECT_BYTES}")));
    }
    Ok(Body::new(bytes, revision_at))
}

/// The text of an object that is not stored, as a dry run answers it.
pub fn dry_run_form(call: Call<'_>, tree: &Tree) -> Bytes {
    let mut text = Vec::new();
    encode(tree, call.target.resource.def.type_def, &mut text);
    text.push(b'\n');
    text.into()
}

/// Commits a write.
///
/// # Errors
/// What the store says, in the client's terms; a lost race is [`store_error::Refused::Race`].
pub async fn commit(call: Call<'_>, write: Write) -> Result<Arc<Object>, store_error::Refused> {
    match call.app.storage.commit(write).await {
        Ok(committed) => Ok(committed.object),
        Err(error) => Err(store_error::refused(call.target.resource, error)),
    }
}

fn typed(call: Call<'_>, tree: Tree) -> Result<Box<dyn ApiObject>> {
    let def = call.target.resource.def;
    (def.from_tree)(tree).map_err(|error| {
        let message =
            format!("{0} in version \"{1}\" cannot be handled as a {0}: {error}", def.kind, def.version);
        ApiError::BadRequest(message)
    })
}

fn change<'a>(call: Call<'a>) -> Change<'a> {
    Change {
        vocabulary: call.app.catalog.vocabulary,
        subresource: call.target.subresource.map_or("", |subresource| subresource.name),
    }
}

fn finish(call: Call<'_>, object: &dyn ApiObject, cx: Validation<'_>) -> Result<Ready> {
    let mut tree = object.to_tree().map_err(|error| ApiError::internal("the object cannot be written", error))?;
    if !cx.is_empty() {
        let name = orch_machinery::meta::Meta::of(&tree).name().to_owned();
        return Err(ApiError::invalid(call.target.resource, &name, cx.into_errors()));
    }
    body::set_kind(call.target, &mut tree);
    Ok(Ready { tree })
}
