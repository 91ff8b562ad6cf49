//! Moving data from another store into a prefix.
//!
//! Who moves begins with an identity that says so, and that holds the newest version of where the data come
//! from; opens the prefix with [`EtcdConfig::is_moving`] and writes every object; and ends with the identity
//! as it stays. In between, servers refuse the prefix. What a move left that was cut off, the next one
//! removes.

use std::sync::Arc;

use orch_storage::{Revision, StoreError};

use crate::client::{Client, TXN};
use crate::cluster::{self, Identity, refused};
use crate::config::EtcdConfig;
use crate::keys::Keys;
use crate::load::Reader;
use crate::message::{Compare, Compared, Op, Txn, TxnDone};
use crate::versions::Versions;

/// What a prefix holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// The identity of the data.
    pub cluster_uid: Arc<str>,
    /// Its vocabulary.
    pub vocabulary: Arc<str>,
    /// No client has seen a version above this one.
    pub newest: Revision,
    /// Data are being moved to it, or a move was cut off.
    pub is_moving: bool,
}

/// What the prefix holds; none where there is no data of this program. Changes nothing.
pub async fn look(config: &EtcdConfig) -> Result<Option<Held>, StoreError> {
    let (client, keys) = (Client::new(&config.servers, &config.tls)?, Keys::new(&config.prefix));
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let Some((identity, _)) = cluster::read(reader, config).await? else { return Ok(None) };
    let newest = reader.newest().await.map_err(|failure| failure.of_read())?;
    let Identity { cluster_uid, vocabulary, versions, is_moving } = identity;
    let newest = Revision::new(versions.of(newest.etcd));
    Ok(Some(Held { cluster_uid, vocabulary, newest, is_moving }))
}

/// Makes a prefix that is empty, or to which a move was cut off, ready for data of this identity. All its
/// versions will be above `after`.
pub async fn begin_move(config: &EtcdConfig, cluster_uid: &str, after: Revision) -> Result<(), StoreError> {
    let (client, keys) = (Client::new(&config.servers, &config.tls)?, Keys::new(&config.prefix));
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    match cluster::read(reader, config).await? {
        Some((found, version)) if found.is_moving => {
            let (key, end) = keys.all();
            let remove_all = Op::DeleteAll { key, end };
            change(reader, config, version, remove_all).await?;
        }
        Some(_) => return Err(refused(config, "the prefix holds data already")),
        None => {}
    }
    let identity = Identity {
        cluster_uid: cluster_uid.into(),
        vocabulary: config.vocabulary.as_str().into(),
        versions: Versions { offset: after.get() },
        is_moving: true,
    };
    if cluster::create(reader, config, &identity).await? {
        return Ok(());
    }
    Err(refused(config, "somebody else uses the prefix"))
}

/// Says that everything has come. From here on, servers use the prefix.
pub async fn end_move(config: &EtcdConfig) -> Result<(), StoreError> {
    let (client, keys) = (Client::new(&config.servers, &config.tls)?, Keys::new(&config.prefix));
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let Some((mut identity, version)) = cluster::read(reader, config).await? else {
        return Err(refused(config, "the data that were moved are gone"));
    };
    identity.is_moving = false;
    let whole = Op::Put { key: keys.cluster(), value: identity.text().into_bytes() };
    change(reader, config, version, whole).await
}

/// Makes a change while the identity is what it was.
async fn change(reader: Reader<'_>, config: &EtcdConfig, version: u64, op: Op) -> Result<(), StoreError> {
    let key = reader.keys.cluster();
    let compare = vec![Compare { key, what: Compared::ModRevision(version) }];
    let txn = Txn { compare, success: vec![op], failure: Vec::new() };
    let done = reader.client.call::<TxnDone, _>(TXN, &txn, reader.timeout).await;
    if done.map_err(|failure| failure.of_write())?.succeeded {
        return Ok(());
    }
    Err(refused(config, "somebody else uses the prefix"))
}
