//! The steps that every write shares, in their order.
//!
//! tree -> typed object -> kind's hook -> defaults -> validation -> tree -> bytes -> commit. The caller has put the
//! server-owned metadata in place before.

use std::sync::Arc;

use bytes::Bytes;
use orch_machinery::{
    json::encode::{encode, encode_for_store, encode_owned},
    managed_fields,
    meta::{self, Meta, MetaMut},
    nullable,
    tree::at,
};
use orch_runtime::{Tree, field_error::Validation, object::ApiObject, resource_def::FieldPath};
use orch_storage::{Body, Key, Object, Write};
use tokio::sync::OwnedMutexGuard;

use super::{Call, body, current::Current, metadata, options::WriteOptions, store_error};
use crate::{
    error::{ApiError, Result},
    kinds::{self, Change},
};

/// Objects larger than this are refused (the limit of the field's usual stores).
const MAX_OBJECT_BYTES: usize = 1_572_864;

/// A changed object before its rules are run.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its structural form, with the server's metadata in place.
    pub tree: Tree,
    /// Who comes to own its fields.
    pub ownership: Ownership,
}

/// How a write comes by the managed fields of its object.
#[derive(Clone, Debug)]
pub enum Ownership {
    /// From what the write changes. What the client gave as managed fields has rules of its own.
    Tracked {
        /// What the client gave.
        given: Option<Tree>,
    },
    /// They were settled when the configuration was merged.
    Applied {
        /// `metadata.managedFields`; absent where nobody owns anything.
        entries: Option<Tree>,
    },
}

/// A new object that is ready to be stored.
#[derive(Debug)]
pub struct Fresh {
    /// Its structural form.
    pub tree: Tree,
    /// `metadata.managedFields` as JSON; where it is absent, the tree has them.
    pub owners: Option<String>,
}

/// Takes a new object through hook, defaults, validation and field ownership. What is doubtful about a correct object
/// is added to `warnings`.
///
/// # Errors
/// 422 with every violation, 400 where the tree does not fit the type.
pub fn ready_to_create(
    call: Call<'_>,
    mut draft: Draft,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Fresh> {
    let resource = call.target.resource;
    let hooks = kinds::hooks(resource.def);
    let mut cx = Validation::new(call.app.catalog.vocabulary);
    metadata::validate_name(resource.def, &draft.tree, &mut cx);
    let mut unset = unset_fields(call);
    unset.extend(hooks.added_fields().iter().filter(|path| at(&draft.tree, path).is_none()));
    let name = Meta::of(&draft.tree).name().to_owned();
    drop_gated(call, &mut draft.tree, None);
    let mut object = typed(call, draft.tree)?;
    hooks.admit(call.app, &mut *object).map_err(|why| ApiError::not_admitted(resource, &name, &why))?;
    hooks.prepare(&mut *object, None, &change(call));
    object.set_defaults();
    object.validate(&mut cx);
    hooks.validate(&*object, None, &change(call), &mut cx);
    if cx.is_empty() {
        hooks.allocate(call.app, &mut *object, None, &mut cx);
    }
    let doubts = cx.take_warnings();
    let mut tree = finish(call, &*object, cx)?;
    warnings.extend(doubts);
    let owners = match draft.ownership {
        Ownership::Tracked { .. } => {
            let time = call.app.now().to_string();
            let write = ownership(call, options, &time, &unset);
            let empty = empty_object(call)?;
            Some(managed_fields::owners_of_new(&write, empty, &tree, resource.def.type_def))
        }
        Ownership::Applied { entries } => {
            MetaMut::of(&mut tree).set("managedFields", entries);
            None
        }
    };
    nullable::empty_to_null(&mut tree, resource.def.type_def);
    Ok(Fresh { tree, owners })
}

/// Takes a changed object through hook, defaults, validation and field ownership, whose entries are taken out of the current
/// one. What is doubtful about a correct object is added to `warnings`. Returns also whether it differs from the current
/// one in anything but times of entries.
///
/// # Errors
/// 422 with every violation, 400 where the tree does not fit the type.
pub fn ready_to_update(
    call: Call<'_>,
    current: &mut Current,
    mut draft: Draft,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<(Tree, bool)> {
    let def = call.target.resource.def;
    let hooks = kinds::hooks(def);
    let mut cx = Validation::new(call.app.catalog.vocabulary);
    metadata::validate_update(&current.tree, &draft.tree, &mut cx)?;
    // Who owns what comes back at the end; no rule looks at it.
    let old = typed(call, meta::without_managed_fields(&current.tree))?;
    drop_gated(call, &mut draft.tree, Some(&current.tree));
    let mut object = typed(call, draft.tree)?;
    hooks.prepare(&mut *object, Some(&*old), &change(call));
    object.set_defaults();
    if let Some(fault) = hooks.bad_change(&*object, &*old) {
        let (kind, name) = (&call.target.resource.group_kind, &call.target.name);
        return Err(ApiError::BadRequest(format!("{kind} \"{name}\" is invalid: {fault}")));
    }
    object.validate(&mut cx);
    object.validate_update(&*old, &mut cx);
    hooks.validate(&*object, Some(&*old), &change(call), &mut cx);
    if cx.is_empty() {
        hooks.allocate(call.app, &mut *object, Some(&*old), &mut cx);
    }
    let doubts = cx.take_warnings();
    let mut tree = finish(call, &*object, cx)?;
    metadata::count_generation(def, &current.tree, &mut tree);
    if warns_of_update(call, current, &tree) {
        warnings.extend(doubts);
    }
    let owners_differ = match draft.ownership {
        Ownership::Tracked { given } => {
            let (time, unset) = (call.app.now().to_string(), unset_fields(call));
            let write = ownership(call, options, &time, &unset);
            managed_fields::track_update(&write, &mut current.tree, given.as_ref(), &mut tree, def.type_def)
        }
        Ownership::Applied { entries } => {
            let stored = managed_fields::take_entries(&mut current.tree);
            MetaMut::of(&mut tree).set("managedFields", entries);
            managed_fields::owners_differ(&stored, Meta::of(&tree).managed_fields())
        }
    };
    nullable::empty_to_null(&mut tree, def.type_def);
    let differs = owners_differ || !managed_fields::same_but_owners(&current.tree, &tree);
    Ok((tree, differs))
}

/// Drops what is behind feature gates that are off, unless the stored object uses it.
pub fn drop_gated(call: Call<'_>, tree: &mut Tree, old: Option<&Tree>) {
    let resource = call.target.resource;
    resource.gated_fields(&call.app.feature_gates).drop_from(tree, old, resource.def.type_def);
}

/// Only who writes the object itself hears of doubts, and where generations are counted, only who begins one.
fn warns_of_update(call: Call<'_>, current: &Current, new: &Tree) -> bool {
    let begins = Meta::of(new).generation() != Meta::of(&current.tree).generation();
    call.target.subresource.is_none() && (begins || !call.target.resource.def.counts_generation)
}

/// The object of the kind with nothing set.
///
/// # Errors
/// 500 where the kind cannot be built from nothing.
pub fn empty_object(call: Call<'_>) -> Result<&Tree> {
    let empty = call.target.resource.empty_object();
    empty.map_err(|error| ApiError::internal("the kind cannot be empty", error))
}

/// The fields that a write on this path does not set, whatever is in the object.
fn unset_fields(call: Call<'_>) -> Vec<FieldPath> {
    let own = kinds::hooks(call.target.resource.def).own_fields(change(call).subresource);
    [own, &reset_fields(call)].concat()
}

/// The fields that this path of the API leaves alone, whatever a client sends.
pub fn reset_fields(call: Call<'_>) -> Vec<FieldPath> {
    let (def, subresource) = (call.target.resource.def, change(call).subresource);
    let other: &[FieldPath] = match subresource {
        "status" => &[&["spec"]],
        _ if def.has_status() => &[&["status"]],
        _ => &[],
    };
    [other, kinds::hooks(def).kept_metadata(subresource)].concat()
}

/// Under whose name a write is recorded.
pub fn ownership<'a>(
    call: Call<'a>,
    options: &'a WriteOptions,
    time: &'a str,
    reset: &'a [FieldPath],
) -> managed_fields::Write<'a> {
    managed_fields::Write {
        manager: &options.field_manager,
        api_version: &call.target.resource.api_version,
        subresource: change(call).subresource,
        time,
        reset,
    }
}

/// The stored form of a tree: what a GET answers, to the last byte, which is a newline. Where it is too large and
/// `may_shrink` says so, the managed fields are left out: data before bookkeeping.
///
/// # Errors
/// 413 where it is larger than an object may be.
pub fn stored_form(call: Call<'_>, tree: &Tree, may_shrink: bool) -> Result<Body> {
    stored_form_owned(call, tree, None, may_shrink)
}

/// The same of a new object.
///
/// # Errors
/// As [`stored_form`].
pub fn stored_form_of_new(call: Call<'_>, new: &Fresh, may_shrink: bool) -> Result<Body> {
    stored_form_owned(call, &new.tree, new.owners.as_deref(), may_shrink)
}

fn stored_form_owned(call: Call<'_>, tree: &Tree, owners: Option<&str>, may_shrink: bool) -> Result<Body> {
    let def = call.target.resource.def.type_def;
    let (mut bytes, mut revision_at) = encode_for_store(tree, def, owners);
    if bytes.len() >= MAX_OBJECT_BYTES && may_shrink {
        (bytes, revision_at) = encode_for_store(tree, def, Some(""));
    }
    if bytes.len() >= MAX_OBJECT_BYTES {
        return Err(ApiError::TooLarge(format!("limit is {MAX_OBJECT_BYTES}")));
    }
    bytes.push(b'\n');
    Ok(Body::new(bytes, revision_at))
}

/// The text of an object that is not in the store.
pub fn transient_form(call: Call<'_>, tree: &Tree) -> Bytes {
    let mut text = Vec::new();
    encode(tree, call.target.resource.def.type_def, &mut text);
    text.push(b'\n');
    text.into()
}

/// The same of a new object.
pub fn transient_form_of_new(call: Call<'_>, new: &Fresh) -> Bytes {
    let Some(owners) = &new.owners else { return transient_form(call, &new.tree) };
    let mut text = Vec::new();
    encode_owned(&new.tree, call.target.resource.def.type_def, owners, &mut text);
    text.push(b'\n');
    text.into()
}

/// How an object is replaced. One that is being deleted and has fewer finalizers than before is on its way out.
pub fn replacement(current: &Current, tree: &Tree, key: Key, body: Body) -> Write {
    let expected = current.revision();
    let meta = Meta::of(tree);
    if meta.deletion_timestamp().is_some()
        && meta.finalizers().count() < Meta::of(&current.tree).finalizers().count()
    {
        Write::Retire { key, expected, body }
    } else {
        Write::Replace { key, expected, body }
    }
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

/// Commits a write, and keeps others waiting until it is stored: when the client leaves, too.
///
/// # Errors
/// As [`commit`].
pub async fn commit_holding(
    call: Call<'_>,
    write: Write,
    held: impl Send + 'static,
) -> Result<Arc<Object>, store_error::Refused> {
    match call.app.storage.commit_holding(write, held).await {
        Ok(committed) => Ok(committed.object),
        Err(error) => Err(store_error::refused(call.target.resource, error)),
    }
}

/// Held while something is allocated to an object, until the object is stored.
pub type Allocating = OwnedMutexGuard<()>;

/// Waits until nobody else is given what the server has to give, for kinds that are given something.
pub async fn allocating(call: Call<'_>) -> Option<Allocating> {
    let allocates = kinds::hooks(call.target.resource.def).allocates();
    if allocates { Some(Arc::clone(&call.app.allocation).lock_owned().await) } else { None }
}

fn typed(call: Call<'_>, tree: Tree) -> Result<Box<dyn ApiObject>> {
    let def = call.target.resource.def;
    (def.from_tree)(tree).map_err(|error| {
        let message =
            format!("{0} in version \"{1}\" cannot be handled as a {0}: {error}", def.kind, def.version);
        ApiError::BadRequest(message)
    })
}

fn change(call: Call<'_>) -> Change<'_> {
    Change {
        vocabulary: call.app.catalog.vocabulary,
        subresource: call.target.subresource.map_or("", |subresource| subresource.name),
        now: call.app.now(),
    }
}

fn finish(call: Call<'_>, object: &dyn ApiObject, cx: Validation<'_>) -> Result<Tree> {
    let mut tree =
        object.to_tree().map_err(|error| ApiError::internal("the object cannot be written", error))?;
    if !cx.is_empty() {
        let name = Meta::of(&tree).name().to_owned();
        return Err(ApiError::invalid(call.target.resource, &name, cx.into_errors()));
    }
    body::set_kind(call.target, &mut tree);
    Ok(tree)
}
