//! Answers in protobuf. They are made from the stored objects by their type tables: documents, lists object
//! by object, and the frames of watches.

use bytes::Bytes;
use orch_machinery::protobuf::{self, ListFrame, ProtobufError};
use orch_meta::meta::v1::{LIST_META_TYPE, OBJECT_META_TYPE, STATUS_TYPE};
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
    chunks::{CHUNK, Chunks},
    list_body::cut_off,
    object_text::read,
    representation::{Form, METADATA, METADATA_LIST},
};

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
    atomic: false,
    size: 0,
};

/// A stored object as a document.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn document(form: &Form, resource: &ServedResource, stored: &[u8]) -> Result<Vec<u8>> {
    let tree = read(resource, stored)?;
    let (def, api_version, kind) = match form {
        Form::Metadata(api_version) => (&METADATA_TYPE, api_version, METADATA),
        Form::Plain | Form::Table(..) => (resource.def.type_def, &resource.api_version, resource.def.kind),
    };
    protobuf::encode(&tree, def, api_version, kind).map_err(|error| unwritable(&error))
}

/// A Status as a document; `json` is its text.
///
/// # Errors
/// 500 where the text is not a Status.
pub fn status(json: &[u8]) -> Result<Vec<u8>> {
    let tree: Tree = serde_json::from_slice(json)
        .map_err(|error| ApiError::internal("the answer cannot be written", error))?;
    protobuf::encode(&tree, &STATUS_TYPE, "v1", "Status").map_err(|error| unwritable(&error))
}

/// The frame of a watch event; `document` is its object.
pub fn frame(word: &str, document: &[u8]) -> Bytes {
    protobuf::watch_event(word, document).into()
}

/// A list, and its length. Protobuf writes a length before its content. So the objects are written twice, the
/// first time only to measure them, and memory holds one piece of the list at a time.
///
/// # Errors
/// 500 where an object or the list cannot be written.
pub fn list(form: Form, list: List) -> Result<(Chunks, u64)> {
    let mut items = 0;
    for object in &list.objects {
        let item = message(&form, &list, object)?;
        items += protobuf::item_head(item.len()).len() + item.len();
    }
    let meta = json!({
        "resourceVersion": list.revision.to_string(),
        "continue": list.continue_token,
        "remainingItemCount": list.remaining,
    });
    let frame = list_frame(&form, &list.resource, &meta, items)?;
    let length = (frame.start.len() + items + frame.end.len()) as u64;
    let mut next = 0;
    let mut start = Some(frame.start);
    let mut end = Some(frame.end);
    let chunks = std::iter::from_fn(move || {
        end.as_ref()?;
        let mut out = start.take().unwrap_or_default();
        while out.len() < CHUNK {
            let Some(object) = list.objects.get(next) else {
                out.extend(end.take().unwrap_or_default());
                break;
            };
            next += 1;
            match message(&form, &list, object) {
                Ok(item) => {
                    out.extend(protobuf::item_head(item.len()));
                    out.extend(item);
                }
                Err(error) => {
                    end = None;
                    return Some(Err(cut_off(object, &error)));
                }
            }
        }
        Some(Ok(Bytes::from(out)))
    });
    Ok((Box::new(chunks), length))
}

/// A list without objects and without a version.
///
/// # Errors
/// 500 where the list cannot be written at all.
pub fn empty_list(form: &Form, resource: &ServedResource) -> Result<Vec<u8>> {
    let ListFrame { mut start, end } = list_frame(form, resource, &json!({}), 0)?;
    start.extend(end);
    Ok(start)
}

fn list_frame(form: &Form, resource: &ServedResource, meta: &Tree, items: usize) -> Result<ListFrame> {
    let (api_version, kind) = match form {
        Form::Metadata(api_version) => (api_version, METADATA_LIST),
        Form::Plain | Form::Table(..) => (&resource.api_version, resource.def.list_kind),
    };
    protobuf::list_frame(meta, &LIST_META_TYPE, items, api_version, kind).map_err(|error| unwritable(&error))
}

/// The message of an object in a list.
///
/// # Errors
/// 500 where the object is damaged or cannot be read.
fn message(form: &Form, list: &List, object: &Object) -> Result<Vec<u8>> {
    let def = if matches!(form, Form::Metadata(_)) { &METADATA_TYPE } else { list.resource.def.type_def };
    let unreadable =
        |error: &dyn std::fmt::Debug| stored::unreadable(&list.resource, object, &format_args!("{error:?}"));
    let stored = object.value().map_err(|error| unreadable(error))?;
    let tree = read(&list.resource, stored).map_err(|error| unreadable(&error))?;
    protobuf::encode_message(&tree, def).map_err(|error| unwritable(&error))
}

fn unwritable(error: &ProtobufError) -> ApiError {
    ApiError::internal("a stored object cannot be written as protobuf", error)
}
