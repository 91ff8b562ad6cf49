//! The identity of the data, and whose it is.

use std::path::PathBuf;
use std::sync::Arc;

use orch_storage::StoreError;

use crate::client::TXN;
use crate::load::Reader;
use crate::message::{Compare, Compared, Op, Range, Txn, TxnDone};

/// Reads the identity that the data got when it was created; creates it where there is no data. Refuses data
/// of another vocabulary and of other programs.
pub(crate) async fn identify(
    reader: Reader<'_>,
    prefix: &str,
    vocabulary: &str,
) -> Result<Arc<str>, StoreError> {
    let path = PathBuf::from(format!("etcd:{prefix}"));
    loop {
        let found = reader.get(reader.keys.cluster()).await.map_err(|failure| failure.of_read())?;
        if let Some(found) = found {
            let text = String::from_utf8_lossy(&found.value).into_owned();
            let Some((uid, of)) = text.split_once(' ') else {
                return Err(StoreError::NotADatabase { path, detail: "its identity cannot be read".into() });
            };
            if of != vocabulary {
                let (found, expected) = (of.into(), vocabulary.into());
                return Err(StoreError::WrongVocabulary { path, found, expected });
            }
            return Ok(uid.into());
        }
        let (key, end) = reader.keys.all();
        let range = Range { key, end, limit: 1, keys_only: true, ..Range::default() };
        let other = reader.range(range).await.map_err(|failure| failure.of_read())?;
        // Another server may have created it just now: then the identity is there.
        if other.kvs.first().is_some_and(|kv| !kv.key.starts_with(&reader.keys.own_begin())) {
            let detail = "the prefix holds data of another program".into();
            return Err(StoreError::NotADatabase { path, detail });
        }
        let identity = format!("{} {vocabulary}", uuid::Uuid::new_v4());
        let key = reader.keys.cluster();
        let create = Txn {
            compare: vec![Compare { key: key.clone(), what: Compared::Exists(false) }],
            success: vec![Op::Put { key, value: identity.into_bytes() }],
            failure: Vec::new(),
        };
        let created = reader.client.call::<TxnDone>(TXN, create.encode(), reader.timeout).await;
        created.map_err(|failure| failure.of_write())?;
    }
}
