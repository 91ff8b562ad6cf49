//! Answers in CBOR. They are made from the stored objects by their type tables: documents, lists object by
//! object, and the events of watches.

use std::mem::take;

use bytes::Bytes;
use orch_machinery::cbor::{self, ListFrame};
use orch_meta::meta::v1::STATUS_TYPE;
use orch_registry::{
    answer::List,
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, type_def::TypeDef};
use serde_json::json;

use super::{
    chunks::{CHUNK, Chunks, CutOff, ReadBudget},
    list_body::meta,
    representation::{Form, METADATA_LIST},
    typed,
};

/// An object of type `def` as a document.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn document(
    form: &Form,
    resource: &ServedResource,
    def: &'static TypeDef,
    stored: &[u8],
) -> Result<Vec<u8>> {
    let object = typed::read(form, resource, def, stored)?;
    Ok(cbor::encode(&object.tree, object.def))
}

/// A Status as a document; `json` is its text.
///
/// # Errors
/// 500 where the text is not JSON.
pub fn status(json: &[u8]) -> Result<Vec<u8>> {
    Ok(cbor::encode(&tree(json)?, &STATUS_TYPE))
}

/// Any JSON document.
///
/// # Errors
/// 500 where the text is not JSON.
pub fn of_json(json: &[u8]) -> Result<Vec<u8>> {
    Ok(cbor::encode_any(&tree(json)?))
}

/// An event of a watch; `document` is its object.
pub fn frame(word: &str, document: &[u8]) -> Bytes {
    cbor::watch_event(word, document).into()
}

/// The pieces of a list. Its length is not known beforehand: CBOR needs the number of items alone.
///
/// # Errors
/// 500 where the list cannot be written at all.
pub fn list(form: Form, list: List) -> Result<Chunks> {
    let mut json = Vec::new();
    meta(&list, &list.revision.to_string()).write(&mut json);
    let frame = list_frame(&form, &list.resource, &tree(&json)?, list.objects.len());
    let mut document =
        ListDocument { form, list, next: 0, frame: Some(frame), budget: ReadBudget::default() };
    Ok(Box::new(std::iter::from_fn(move || document.chunk())))
}

/// A list without objects and without a version.
pub fn empty_list(form: &Form, resource: &ServedResource) -> Vec<u8> {
    let ListFrame { start, end } = list_frame(form, resource, &json!({}), 0);
    [start, end].concat()
}

fn list_frame(form: &Form, resource: &ServedResource, meta: &Tree, items: usize) -> ListFrame {
    match form {
        Form::Metadata(api_version) => {
            // The reference writes an empty list of this form as null.
            cbor::list_frame(meta, Some(items).filter(|count| *count > 0), api_version, METADATA_LIST)
        }
        Form::Plain | Form::Table(..) => {
            cbor::list_frame(meta, Some(items), &resource.api_version, resource.def.list_kind)
        }
    }
}

/// A list on its way to the client.
struct ListDocument {
    form: Form,
    list: List,
    /// The first object that is not written yet.
    next: usize,
    /// What stands around the items; `None` when the end is written.
    frame: Option<ListFrame>,
    budget: ReadBudget,
}

impl ListDocument {
    fn chunk(&mut self) -> Option<std::result::Result<Bytes, CutOff>> {
        let mut out = take(&mut self.frame.as_mut()?.start);
        if self.budget.renew_if_spent() {
            return Some(Ok(out.into()));
        }
        while out.len() < CHUNK && !self.budget.is_spent() {
            let Some(object) = self.list.objects.get(self.next) else {
                out.extend(self.frame.take()?.end);
                break;
            };
            self.next += 1;
            self.budget.reads(object);
            match typed::of_list(&self.form, &self.list, object) {
                Ok(object) => self.write(object, &mut out),
                Err(error) => {
                    self.frame = None;
                    tracing::error!(?error, "a list is cut off: the rest cannot be written");
                    return Some(Err(CutOff));
                }
            }
        }
        Some(Ok(out.into()))
    }

    /// Writes an item. As in JSON, a whole object has no kind and version in a list.
    fn write(&self, mut object: typed::Typed, out: &mut Vec<u8>) {
        if self.form == Form::Plain
            && let Some(fields) = object.tree.as_object_mut()
        {
            fields.retain(|name, _| !matches!(name.as_str(), "kind" | "apiVersion"));
        }
        cbor::item(&object.tree, object.def, out);
    }
}

fn tree(json: &[u8]) -> Result<Tree> {
    serde_json::from_slice(json).map_err(|error| ApiError::internal("the answer cannot be written", error))
}
