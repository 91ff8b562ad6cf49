//! What a write says beside the object that it changes. It is the value of one key, which every write
//! changes in its transaction, so that watches get it with the change and history keeps it as long:
//!
//! - when it was, because etcd does not know;
//! - which request made it, so that a server whose answer was lost learns that its write was made;
//! - of a removal, the last state, which watches show and etcd does not keep; without it where the request
//!   would be too large, and watches show the state before.
//!
//! It is a line `<milliseconds> <id of the write> <where the revision goes>`, and after it the last state.

use bytes::Bytes;
use orch_storage::Timestamp;

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time: Timestamp,
    /// `<server>.<number>`.
    pub(crate) id: String,
    /// Of a removal: what is kept of the last state, without its revision. Empty where it is not said.
    pub(crate) last: Bytes,
    /// Where the revision goes in it.
    pub(crate) revision_at: usize,
}

impl Entry {
    /// `last` is empty for what is no removal, and where it is not said.
    pub(crate) fn encode(time: Timestamp, id: &str, last: &[u8], revision_at: usize) -> Vec<u8> {
        let mut text = format!("{} {id} {revision_at}\n", time.0).into_bytes();
        text.extend_from_slice(last);
        text
    }

    /// `None` for what no server wrote.
    pub(crate) fn decode(value: &Bytes) -> Option<Self> {
        let end = value.iter().position(|byte| *byte == b'\n')?;
        let mut words = str::from_utf8(&value[..end]).ok()?.split(' ');
        let (time, id, revision_at) = (words.next()?, words.next()?, words.next()?);
        let (revision_at, last) = (revision_at.parse().ok()?, value.slice(end + 1..));
        Some(Self { time: Timestamp(time.parse().ok()?), id: id.to_owned(), last, revision_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_written() {
        let entry = Entry::decode(&Entry::encode(Timestamp(7), "s.1", b"a\nb", 2).into()).unwrap();
        let want = Entry { time: Timestamp(7), id: "s.1".into(), last: Bytes::from("a\nb"), revision_at: 2 };
        assert_eq!(entry, want);
        let entry = Entry::decode(&Entry::encode(Timestamp(7), "s.2", b"", 0).into()).unwrap();
        assert_eq!((entry.id.as_str(), entry.last), ("s.2", Bytes::new()));
    }

    #[test]
    fn nothing_else_is_an_entry() {
        for text in ["", "\n", "7 s.1\n", "x s.1 0\n", "7 s.1 -1\nabc", "7 s.1 0"] {
            assert_eq!(Entry::decode(&Bytes::from(text)), None, "{text:?}");
        }
    }
}
