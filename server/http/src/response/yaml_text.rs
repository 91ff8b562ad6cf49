//! Answers in YAML. They are made from the JSON text of the same form; lists item by item, so that memory
//! does not grow with their size.

use std::iter;

use bytes::Bytes;
use orch_machinery::yaml::{encode, encode_item};
use orch_registry::{
    answer::List,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, TreeMap, scalar::Time};

use super::{
    chunks::{CHUNK, Chunks, CutOff, ReadBudget},
    list_body::{self, cut_off, write_item},
    representation::Form,
};

/// The members of lists and of tables that hold the items.
const LISTED: [&str; 2] = ["items", "rows"];

/// A JSON document as YAML.
///
/// # Errors
/// 500 where it is not a JSON document.
pub fn of_json(text: &[u8]) -> Result<Bytes> {
    Ok(encode(&read(text)?).into())
}

/// The pieces of a list's text.
///
/// # Errors
/// 500 where the list cannot be written at all.
pub fn list(form: Form, mut list: List, now: Time) -> Result<Chunks> {
    list_body::sort_rows(&form, &mut list);
    let frame = List { objects: Vec::new(), ..list.clone() };
    let frame = list_body::chunks(form.clone(), frame, now);
    // Only objects are cut off, and the frame has none.
    let frame: Vec<u8> = frame.flatten().flatten().collect();
    let Tree::Object(frame) = read(&frame)? else {
        return Err(ApiError::internal("the list cannot be written", "its frame is no object"));
    };
    let (name, none) = LISTED
        .iter()
        .find_map(|name| frame.get_key_value(*name))
        .map(|(name, none)| (name.clone(), none.clone()))
        .ok_or_else(|| ApiError::internal("the list cannot be written", "its frame lists nothing"))?;
    let members = |of: &dyn Fn(&str) -> bool| {
        let members = frame.iter().filter(|(name, _)| of(name));
        members.map(|(name, value)| (name.clone(), value.clone())).collect::<TreeMap>()
    };
    let [before, after] = [members(&|other| *other < *name), members(&|other| *other > *name)].map(block);
    let (head, tail) = (Some((before, name)), Some((none, after)));
    let mut text = ListText { form, list, now, next: 0, head, tail, budget: ReadBudget::default() };
    Ok(Box::new(iter::from_fn(move || text.chunk())))
}

/// A list on its way to the client.
struct ListText {
    form: Form,
    list: List,
    now: Time,
    /// The first object that is not written yet.
    next: usize,
    /// What comes before the items, and their name; absent when the first item is written.
    head: Option<(String, String)>,
    /// What is written in place of items where there are none, and what comes after them; absent when all is
    /// written.
    tail: Option<(Tree, String)>,
    budget: ReadBudget,
}

impl ListText {
    fn chunk(&mut self) -> Option<std::result::Result<Bytes, CutOff>> {
        self.tail.as_ref()?;
        if self.budget.renew_if_spent() {
            return Some(Ok(Bytes::new()));
        }
        let mut out = String::with_capacity(CHUNK + CHUNK / 8);
        while out.len() < CHUNK && !self.budget.is_spent() {
            let Some(object) = self.list.objects.get(self.next) else {
                self.write_end(&mut out);
                break;
            };
            self.next += 1;
            self.budget.reads(object);
            let mut json = Vec::new();
            let written = write_item(&self.form, &self.list, object, 0, self.now, &mut json);
            let item = written.and_then(|()| read(&json).map_err(|error| cut_off(object, &error)));
            let item = match item {
                Ok(item) => item,
                Err(cut_off) => {
                    self.tail = None;
                    return Some(Err(cut_off));
                }
            };
            if let Some((before, name)) = self.head.take() {
                out.extend([before.as_str(), name.as_str(), ":\n"]);
            }
            out += &encode_item(&item);
        }
        Some(Ok(out.into()))
    }

    fn write_end(&mut self, out: &mut String) {
        let Some((none, after)) = self.tail.take() else { return };
        if let Some((before, name)) = self.head.take() {
            *out += &before;
            *out += &block(TreeMap::from_iter([(name, none)]));
        }
        *out += &after;
    }
}

/// Members, one after the other; empty where there are none.
fn block(members: TreeMap) -> String {
    if members.is_empty() { String::new() } else { encode(&Tree::Object(members)) }
}

fn read(json: &[u8]) -> Result<Tree> {
    serde_json::from_slice(json).map_err(|error| ApiError::internal("the answer cannot be written", error))
}
