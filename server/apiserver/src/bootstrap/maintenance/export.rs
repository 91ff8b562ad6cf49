//! The objects of a database as manifests: JSON, one object in each line, first those of no namespace.
//!
//! What belongs to one server is left out: uid, version, times, generation, managed fields and status, and
//! objects that are being deleted.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use orch_runtime::Tree;
use orch_storage::{
    Key, Sealing, StoreError,
    store::{Op, Record},
};

/// The fields of metadata that only the server writes.
const OF_THE_SERVER: &[&str] = &[
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// What came of an export.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many objects were written.
    pub objects: u64,
    /// Objects that cannot be read.
    pub damaged: Vec<String>,
    /// Objects that are being deleted.
    pub going: Vec<String>,
    /// Whether the reader went before the end, as `head` does.
    pub is_cut_off: bool,
}

/// The newest state of an object; `None` if it cannot be read.
type State = Option<Vec<u8>>;

/// The newest state of every object that is there.
pub struct Newest {
    /// By their keys.
    pub objects: BTreeMap<Key, State>,
    /// Whether writes are missing that were acknowledged; [`StoreError::Lost`].
    pub lost: Option<StoreError>,
}

/// Reads the newest state of every object, as they are at one moment, as `sealing` opens them. A server may
/// be writing meanwhile.
pub async fn newest(database: &Path, sealing: &dyn Sealing) -> Result<Newest, StoreError> {
    let mut objects = BTreeMap::new();
    let mut take = |record: Record| match record.op {
        Op::Remove => drop(objects.remove(&record.key)),
        Op::Create | Op::Replace => {
            objects.insert(record.key, record.value.ok().map(|bytes| bytes.to_vec()));
        }
    };
    let lost = match Box::pin(orch_storage_sqlite::read(database, Some(sealing), &mut take)).await {
        Ok(()) => None,
        Err(lost @ StoreError::Lost { .. }) => Some(lost),
        Err(error) => return Err(error),
    };
    Ok(Newest { objects, lost })
}

/// Writes them as manifests. A reader that goes is no error; what cannot be read is named all the same.
pub fn write(objects: BTreeMap<Key, State>, out: &mut impl Write) -> io::Result<Exported> {
    let mut exported = Exported::default();
    // A namespace is there before its content.
    let (first, later): (Vec<_>, Vec<_>) = objects.into_iter().partition(|(key, _)| key.namespace.is_empty());
    for (key, state) in first.into_iter().chain(later) {
        let tree = state.and_then(|bytes| serde_json::from_slice::<Tree>(&bytes).ok());
        let Some(mut tree) = tree else {
            exported.damaged.push(key.to_string());
            continue;
        };
        if tree["metadata"].get("deletionTimestamp").is_some() {
            exported.going.push(key.to_string());
            continue;
        }
        strip(&mut tree);
        if !exported.is_cut_off {
            exported.is_cut_off = is_closed(writeln!(out, "{tree}"))?;
            exported.objects += 1;
        }
    }
    if !exported.is_cut_off {
        exported.is_cut_off = is_closed(out.flush())?;
    }
    Ok(exported)
}

/// Whether what was written found no reader any more.
fn is_closed(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        written => written.map(|()| false),
    }
}

/// Leaves out what belongs to one server.
pub fn strip(tree: &mut Tree) {
    if let Some(object) = tree.as_object_mut() {
        object.remove("status");
        if let Some(metadata) = object.get_mut("metadata").and_then(Tree::as_object_mut) {
            metadata.retain(|name, _| !OF_THE_SERVER.contains(&name.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use orch_storage::ResourceName;
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_written_without_what_belongs_to_one_server() {
        let key = |namespace: &str, name: &str| Key::new(ResourceName::new("things"), namespace, name);
        let object =
            |metadata: Tree| Some(json!({"metadata": metadata, "status": 1}).to_string().into_bytes());
        let objects = BTreeMap::from([
            (key("n", "a"), object(json!({"name": "a", "uid": "u", "labels": {"uid": "kept"}}))),
            (key("n", "broken"), None),
            (key("n", "going"), object(json!({"deletionTimestamp": "now"}))),
            (key("", "z"), object(json!({"name": "z", "managedFields": []}))),
        ]);
        let mut text = Vec::new();
        let exported = write(objects, &mut text).unwrap();
        assert_eq!((exported.objects, exported.damaged.len(), exported.going.len()), (2, 1, 1));
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\"metadata\":{\"name\":\"z\"}}\n{\"metadata\":{\"labels\":{\"uid\":\"kept\"},\"name\":\"a\"}}\n"
        );
    }

    /// Reads so many bytes, and is gone.
    struct Reader(usize);

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let read = bytes.len().min(self.0);
            self.0 -= read;
            Ok(read)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_goes_is_no_error() {
        let key = |name: &str| Key::new(ResourceName::new("things"), "n", name);
        let object = |name: &str| Some(json!({"metadata": {"name": name}}).to_string().into_bytes());
        let objects = || BTreeMap::from([(key("a"), object("a")), (key("b"), object("b")), (key("z"), None)]);
        for (bytes, is_cut_off) in [(0, true), (30, true), (1000, false)] {
            let exported = write(objects(), &mut Reader(bytes)).unwrap();
            assert_eq!((exported.is_cut_off, exported.damaged.len()), (is_cut_off, 1), "{bytes}");
        }
    }
}
