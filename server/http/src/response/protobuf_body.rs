//! Answers in protobuf. They are made from the stored objects by their type tables: documents, lists object
//! by object, and the frames of watches.

use std::mem::take;

use bytes::Bytes;
use orch_machinery::{
    meta,
    protobuf::{self, ListFrame, ProtobufError},
};
use orch_meta::meta::v1::{LIST_META_TYPE, STATUS_TYPE};
use orch_registry::{
    answer::List,
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, type_def::TypeDef};
use orch_storage::Object;
use serde_json::json;

use super::{
    chunks::{CHUNK, Chunks, CutOff, READ_BUDGET, ReadBudget},
    representation::{Form, METADATA_LIST},
    typed::{self, Typed},
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
    let Typed { tree, def } = typed::read(form, resource, def, stored)?;
    let written = protobuf::encode(&tree, def, meta::api_version(&tree), meta::kind(&tree));
    written.map_err(|error| unwritable(&error))
}

/// A Status as a document; `json` is its text.
///
/// # Errors
/// 500 where the text is not a Status.
pub fn status(json: &[u8]) -> Result<Vec<u8>> {
    of_json(json, &STATUS_TYPE)
}

/// A document of the server itself, of the version `v1` whether it says so or not; `json` is its text.
///
/// # Errors
/// 500 where the text is none of that type.
pub fn of_json(json: &[u8], def: &'static TypeDef) -> Result<Vec<u8>> {
    let tree: Tree = serde_json::from_slice(json)
        .map_err(|error| ApiError::internal("the answer cannot be written", error))?;
    protobuf::encode(&tree, def, "v1", meta::kind(&tree)).map_err(|error| unwritable(&error))
}

/// The frame of a watch event; `document` is its object.
pub fn frame(word: &str, document: &[u8]) -> Bytes {
    protobuf::watch_event(word, document).into()
}

/// The pieces of a list, and their length together where it is known beforehand. Protobuf writes a length
/// before its content. So the objects are written twice, the first time only to measure them, and memory
/// holds one piece of the list at a time. A long list, and one whose objects are `large`, is measured in
/// slices, while its answer has begun.
///
/// # Errors
/// 500 where an object of a short list, or the list, cannot be written.
pub fn list(form: Form, list: List, large: bool) -> Result<(Chunks, Option<u64>)> {
    let size: usize = list.objects.iter().map(|object| object.size()).sum();
    let is_short = !large && size <= READ_BUDGET && list.objects.len() <= SLICE;
    let frame = ListFrame { start: Vec::new(), end: Vec::new() };
    let mut message = ListMessage {
        form,
        list,
        next: 0,
        items: 0,
        frame,
        budget: ReadBudget::default(),
        state: State::Measures,
    };
    let length = if is_short {
        message.measure()?;
        Some(message.begin()?)
    } else {
        None
    };
    Ok((Box::new(std::iter::from_fn(move || message.chunk())), length))
}

/// So many objects are measured before the task yields.
const SLICE: usize = 256;

/// A list on its way to the client.
struct ListMessage {
    form: Form,
    list: List,
    /// The first object that is not measured, or not written yet.
    next: usize,
    /// The bytes of the items that were measured.
    items: usize,
    /// What stands before and after the items and is not written yet.
    frame: ListFrame,
    budget: ReadBudget,
    state: State,
}

enum State {
    Measures,
    Writes,
    Ended,
}

impl ListMessage {
    fn chunk(&mut self) -> Option<std::result::Result<Bytes, CutOff>> {
        let chunk = match self.state {
            State::Ended => return None,
            _ if self.budget.renew_if_spent() => Ok(Bytes::new()),
            State::Measures if self.next < self.list.objects.len() => self.measure().map(|()| Bytes::new()),
            State::Measures => self.begin().map(|_| Bytes::new()),
            State::Writes => self.write(),
        };
        Some(chunk.map_err(|error| {
            self.state = State::Ended;
            tracing::error!(?error, "a list is cut off: the rest cannot be written");
            CutOff
        }))
    }

    /// Measures the next objects.
    fn measure(&mut self) -> Result<()> {
        for object in self.list.objects[self.next..].iter().take(SLICE) {
            let item = message(&self.form, &self.list, object)?;
            self.items += protobuf::item_head(item.len()).len() + item.len();
            self.next += 1;
            self.budget.reads(object);
            if self.budget.is_spent() {
                break;
            }
        }
        Ok(())
    }

    /// All is measured: makes what stands around the items. Returns the length of the whole.
    fn begin(&mut self) -> Result<u64> {
        let meta = json!({
            "resourceVersion": self.list.revision.to_string(),
            "continue": self.list.continue_token,
            "remainingItemCount": self.list.remaining,
        });
        self.frame = list_frame(&self.form, &self.list.resource, &meta, self.items)?;
        self.next = 0;
        self.state = State::Writes;
        Ok((self.frame.start.len() + self.items + self.frame.end.len()) as u64)
    }

    /// The next piece.
    fn write(&mut self) -> Result<Bytes> {
        let mut out = take(&mut self.frame.start);
        while out.len() < CHUNK && !self.budget.is_spent() {
            let Some(object) = self.list.objects.get(self.next) else {
                out.extend(take(&mut self.frame.end));
                self.state = State::Ended;
                break;
            };
            let item = message(&self.form, &self.list, object)?;
            out.extend(protobuf::item_head(item.len()));
            out.extend(item);
            self.next += 1;
            self.budget.reads(object);
        }
        Ok(out.into())
    }
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
    let Typed { tree, def } = typed::of_list(form, list, object)?;
    protobuf::encode_message(&tree, def).map_err(|error| unwritable(&error))
}

fn unwritable(error: &ProtobufError) -> ApiError {
    ApiError::internal("a stored object cannot be written as protobuf", error)
}
