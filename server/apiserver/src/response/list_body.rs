//! The JSON text of a list, written in chunks while it is sent.
//!
//! The text is the stored bytes of the objects, one after the other, so its length is known before the first byte is
//! written and the memory in use is one chunk, whatever the size of the list.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use orch_machinery::partial::ListMeta;
use orch_storage::Object;

use crate::registry::list::List;

/// A chunk is sent when it has this many bytes.
const CHUNK: usize = 64 * 1024;
/// What closes every list.
pub const END: &[u8] = b"]}\n";

/// A list on its way to the client.
pub struct ListBody {
    head: Vec<u8>,
    objects: std::vec::IntoIter<Arc<Object>>,
    /// How much of each object's stored form a list leaves out: its type, and the newline at the end.
    prefix: usize,
    remaining: u64,
    first: bool,
}

impl ListBody {
    /// The text of a list.
    pub fn new(list: List) -> Self {
        let def = list.resource.def;
        let head = head(def.list_kind, &list.resource.api_version, &list);
        let prefix = list.resource.type_prefix.len();
        let items: usize =
            list.objects.iter().map(|object| item(object, prefix).map_or(0, |item| item.len() + 2)).sum();
        let separators = items_present(&list).saturating_sub(1);
        ListBody {
            remaining: (head.len() + items + separators + END.len()) as u64,
            head,
            objects: list.objects.into_iter(),
            prefix,
            first: true,
        }
    }

    /// The whole text at once.
    pub fn into_text(mut self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.remaining as usize);
        while let Some(chunk) = self.chunk() {
            text.extend_from_slice(&chunk);
        }
        text
    }

    fn chunk(&mut self) -> Option<Bytes> {
        if self.remaining == 0 {
            return None;
        }
        let mut chunk = BytesMut::with_capacity((self.remaining as usize).min(CHUNK + CHUNK / 2));
        chunk.put_slice(&std::mem::take(&mut self.head));
        while chunk.len() < CHUNK {
            let Some(object) = self.objects.next() else {
                chunk.put_slice(END);
                break;
            };
            let Some(item) = item(&object, self.prefix) else { continue };
            if !std::mem::take(&mut self.first) {
                chunk.put_u8(b',');
            }
            chunk.put_u8(b'{');
            chunk.put_slice(item);
            chunk.put_u8(b'}');
        }
        self.remaining = self.remaining.saturating_sub(chunk.len() as u64);
        Some(chunk.freeze())
    }
}

impl From<ListBody> for Body {
    fn from(list: ListBody) -> Self {
        Body::new(list)
    }
}

impl HttpBody for ListBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.chunk().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}

/// What opens a list; its items follow, then [`END`]. Neither word needs escapes: both come from the schema.
pub fn head(kind: &str, api_version: &str, list: &List) -> Vec<u8> {
    let mut head =
        format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":").into_bytes();
    meta(list, &list.revision.to_string()).write(&mut head);
    head.extend_from_slice(b",\"items\":[");
    head
}

/// What a list says about itself; `revision` is the text of its version.
pub fn meta<'a>(list: &'a List, revision: &'a str) -> ListMeta<'a> {
    ListMeta {
        resource_version: revision,
        continue_token: &list.continue_token,
        remaining_item_count: list.remaining,
    }
}

fn items_present(list: &List) -> usize {
    list.objects.iter().filter(|object| object.value().is_ok()).count()
}

/// The members of an object without its type and its braces.
fn item(object: &Object, prefix: usize) -> Option<&[u8]> {
    let stored: &[u8] = object.value().ok()?;
    stored.get(prefix..stored.len().checked_sub(2)?)
}
