//! The JSON text of a list in any form, made in pieces while it is sent.
//!
//! In the plain form the text is the stored bytes of the objects, one after the other, so that its length is
//! known before the first byte is written. The other forms are made object by object.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use orch_machinery::{
    partial::{ListMeta, write_partial_object},
    table::{TableWriter, columns_of},
};
use orch_registry::{
    answer::List,
    stored::{bytes_of, list_item, shared_list_item},
};
use orch_runtime::scalar::Time;
use orch_storage::Object;

use super::{
    chunks::{CHUNK, Chunks, CutOff, ReadBudget},
    object_text::{read, write_row},
    representation::{Form, METADATA_LIST},
};

/// A list on its way to the client.
struct ListText {
    form: Form,
    list: List,
    /// The first object that is not written yet.
    next: usize,
    now: Time,
    budget: ReadBudget,
    state: State,
    /// The next piece: a large object in the plain form. Its piece is not copied: who reads slowly would
    /// hold a copy for each of their lists.
    whole: Option<Bytes>,
    /// The brace of the object before it is still to be closed.
    is_open: bool,
}

#[derive(PartialEq)]
enum State {
    Head,
    Items,
    Ended,
}

/// The pieces of a list's text, and their length together where it is known.
pub fn measured(form: Form, list: List, now: Time) -> (Chunks, Option<u64>) {
    let length = (form == Form::Plain).then(|| plain_length(&list));
    (chunks(form, list, now), length)
}

/// The pieces of a list's text. To know their length, objects of other versions would have to be converted.
pub fn chunks(form: Form, mut list: List, now: Time) -> Chunks {
    sort_rows(&form, &mut list);
    let (budget, state) = (ReadBudget::default(), State::Head);
    let mut text = ListText { form, list, next: 0, now, budget, state, whole: None, is_open: false };
    Box::new(std::iter::from_fn(move || text.chunk()))
}

/// Puts the objects into the order of a table's rows. One that cannot be read cuts the list off later.
pub fn sort_rows(form: &Form, list: &mut List) {
    let (Form::Table(..), Some(rank)) = (form, list.resource.behaviour.row_rank()) else { return };
    let resource = Arc::clone(&list.resource);
    let tree = |object: &Object| read(&resource, bytes_of(&resource, object).ok()?).ok();
    // Those of one rank stay in the order of their keys.
    list.objects.sort_by_cached_key(|object| tree(object).map(|tree| rank(&tree)));
}

fn plain_length(list: &List) -> u64 {
    let length = |object: &Arc<Object>| list_item(&list.resource, object).map_or(0, <[u8]>::len) as u64 + 2;
    let (count, bytes) = (list.objects.len() as u64, list.objects.iter().map(length).sum::<u64>());
    let mut head = BytesMut::new();
    write_plain_head(list, &mut head);
    head.len() as u64 + bytes + u64::saturating_sub(count, 1) + PLAIN_END.len() as u64
}

const PLAIN_END: &[u8] = b"]}\n";

impl ListText {
    fn chunk(&mut self) -> Option<Result<Bytes, CutOff>> {
        if self.state == State::Ended {
            return None;
        }
        if self.budget.renew_if_spent() {
            return Some(Ok(Bytes::new()));
        }
        if let Some(whole) = self.whole.take() {
            return Some(Ok(whole));
        }
        let mut out = Vec::with_capacity(CHUNK + CHUNK / 8);
        if self.state == State::Head {
            self.write_head(&mut out);
            self.state = State::Items;
        }
        if std::mem::take(&mut self.is_open) {
            out.push(b'}');
        }
        while out.len() < CHUNK && !self.budget.is_spent() {
            let Some(object) = self.list.objects.get(self.next) else {
                self.write_end(&mut out);
                self.state = State::Ended;
                break;
            };
            if self.form == Form::Plain && object.size() > CHUNK {
                let Some(item) = shared_list_item(&self.list.resource, object) else {
                    self.state = State::Ended;
                    return Some(Err(cut_off(object, &"it is damaged")));
                };
                out.extend_from_slice(if self.next > 0 { b",{" } else { b"{" });
                (self.whole, self.is_open) = (Some(item), true);
                self.next += 1;
                break;
            }
            // An object in another form makes the piece larger, once.
            if let Err(cut_off) = write_item(&self.form, &self.list, object, self.next, self.now, &mut out) {
                self.state = State::Ended;
                return Some(Err(cut_off));
            }
            if self.form != Form::Plain {
                self.budget.reads(object);
            }
            self.next += 1;
        }
        Some(Ok(out.into()))
    }

    fn write_head(&self, out: &mut Vec<u8>) {
        let revision = self.list.revision.to_string();
        match &self.form {
            Form::Plain => write_plain_head(&self.list, out),
            Form::Metadata(api_version) => {
                write_head(METADATA_LIST, api_version, &self.list, out);
                // The reference writes an empty list of this form as null.
                out.extend_from_slice(if self.list.objects.is_empty() { b"null" } else { b"[" });
            }
            Form::Table(api_version, _) if self.list.objects.is_empty() => {
                let columns = columns_of(self.list.resource.def.columns);
                TableWriter::empty(api_version, meta(&self.list, &revision), columns, out);
            }
            Form::Table(api_version, include) => {
                let columns = columns_of(self.list.resource.def.columns);
                TableWriter::start(api_version, *include, meta(&self.list, &revision), Some(columns), out);
            }
        }
    }

    fn write_end(&self, out: &mut Vec<u8>) {
        match &self.form {
            Form::Metadata(_) if self.list.objects.is_empty() => out.extend_from_slice(b"}\n"),
            Form::Table(..) if self.list.objects.is_empty() => out.push(b'\n'),
            Form::Plain | Form::Metadata(_) => out.extend_from_slice(PLAIN_END),
            Form::Table(api_version, include) => {
                TableWriter::resume(api_version, *include, self.next).end(out);
                out.push(b'\n');
            }
        }
    }
}

/// Writes an object with the comma before it.
///
/// # Errors
/// For an object that cannot be read, which is logged: the answer has begun.
pub fn write_item(
    form: &Form,
    list: &List,
    object: &Object,
    written: usize,
    now: Time,
    out: &mut Vec<u8>,
) -> Result<(), CutOff> {
    let resource = &list.resource;
    let comma = if written > 0 { &b","[..] } else { b"" };
    if let Form::Plain = form {
        let item = list_item(resource, object).ok_or_else(|| cut_off(object, &"it is damaged"))?;
        for part in [comma, b"{", item, b"}"] {
            out.extend_from_slice(part);
        }
        return Ok(());
    }
    let stored = bytes_of(resource, object).map_err(|error| cut_off(object, &error))?;
    let tree = read(resource, stored).map_err(|error| cut_off(object, &error))?;
    match form {
        Form::Plain => {}
        Form::Metadata(api_version) => {
            out.extend_from_slice(comma);
            write_partial_object(&tree, resource.def.type_def, api_version, out);
        }
        Form::Table(api_version, include) => {
            let mut table = TableWriter::resume(api_version, *include, written);
            write_row(&mut table, resource, &tree, stored, now, out);
        }
    }
    Ok(())
}

/// Logs why the rest of a list cannot be written.
pub fn cut_off(object: &Object, error: &dyn std::fmt::Debug) -> CutOff {
    tracing::error!(key = %object.key(), ?error, "a list is cut off at an object that cannot be written");
    CutOff
}

fn write_plain_head(list: &List, out: &mut impl BufMut) {
    let mut head = Vec::new();
    write_head(list.resource.def.list_kind, &list.resource.api_version, list, &mut head);
    out.put_slice(&head);
    out.put_slice(b"[");
}

/// Writes a list up to its items. Kind and version need no escapes: both come from the schema.
fn write_head(kind: &str, api_version: &str, list: &List, out: &mut Vec<u8>) {
    let types = format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":");
    out.extend_from_slice(types.as_bytes());
    meta(list, &list.revision.to_string()).write(out);
    out.extend_from_slice(b",\"items\":");
}

/// The metadata of a list; `revision` is the text of its version.
pub fn meta<'a>(list: &'a List, revision: &'a str) -> ListMeta<'a> {
    ListMeta {
        resource_version: revision,
        continue_token: &list.continue_token,
        remaining_item_count: list.remaining,
    }
}
