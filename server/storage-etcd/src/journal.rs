//! What a write says beside the object that it changes. It is the value of one key, which every write
//! changes in its transaction, so that watches get it with the change and history keeps it as long:
//!
//! - when it was, because etcd does not know;
//! - which request made it, so that a server whose answer was lost learns that its write was made;
//! - of a removal, the last state, which watches show and etcd does not keep.
//!
//! It is a line `<milliseconds> <id of the write> <where the revision goes>`, and after it the last state.

use bytes::Bytes;
use orch_storage::{Body, Timestamp};

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time: Timestamp,
    /// `<server>.<number>`.
    pub(crate) id: String,
    /// Of a removal: the last state without its revision.
    pub(crate) last: Bytes,
    /// Where the revision goes in it.
    pub(crate) revision_at: usize,
}

impl Entry {
    pub(crate) fn encode(time: Timestamp, id: &str, last: Option<&Body>) -> Vec<u8> {
        let revision_at = last.map_or(0, Body::revision_at);
        let mut text = format!("{} {id} {revision_at}\n", time.0).into_bytes();
        if let Some(last) = last {
            text.extend_from_slice(last.bytes());
        }
        text
    }

    /// `None` for what no server wrote.
    pub(crate) fn decode(value: &Bytes) -> Option<Self> {
        let end = value.iter().position(|byte| *byte == b'\n')?;
        let mut words = str::from_utf8(&value[..end]).ok()?.split(' ');
        let (time, id, revision_at) = (words.next()?, words.next()?, words.next()?);
        let revision_at: usize = revision_at.parse().ok()?;
        let last = value.slice(end + 1..);
        if revision_at > last.len() {
            return None;
        }
        Some(Self { time: Timestamp(time.parse().ok()?), id: id.to_owned(), last, revision_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_written() {
        let body = Body::new(b"a\nb".to_vec(), 2);
        let entry = Entry::decode(&Entry::encode(Timestamp(7), "s.1", Some(&body)).into()).unwrap();
        let want = Entry { time: Timestamp(7), id: "s.1".into(), last: Bytes::from("a\nb"), revision_at: 2 };
        assert_eq!(entry, want);
        let entry = Entry::decode(&Entry::encode(Timestamp(7), "s.2", None).into()).unwrap();
        assert_eq!((entry.id.as_str(), entry.last), ("s.2", Bytes::new()));
    }

    #[test]
    fn nothing_else_is_an_entry() {
        for text in ["", "\n", "7 s.1\n", "x s.1 0\n", "7 s.1 9\nabc", "7 s.1 0"] {
            assert_eq!(Entry::decode(&Bytes::from(text)), None, "{text:?}");
        }
    }
}
