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

/// A move that has begun.
#[derive(Debug)]
pub struct Begun {
    /// The version of the identity that the move has written.
    version: u64,
}

/// Makes a prefix that is empty, or to which a move was cut off, ready for data of this identity. All its
/// versions will be above `after`.
pub async fn begin_move(
    config: &EtcdConfig,
    cluster_uid: &str,
    after: Revision,
) -> Result<Begun, StoreError> {
    let (client, keys) = (Client::new(&config.servers, &config.tls)?, Keys::new(&config.prefix));
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let identity = Identity {
        cluster_uid: cluster_uid.into(),
        vocabulary: config.vocabulary.as_str().into(),
        versions: Versions { offset: after.get() },
        is_moving: true,
    };
    let version = match cluster::read(reader, config).await? {
        Some((found, version)) if found.is_moving => {
            // All at once: a server that found no identity would make data of its own.
            let (key, end) = keys.all();
            let behind = [&keys.cluster()[..], &[0]].concat();
            let remove = [Op::DeleteAll { key, end: keys.cluster() }, Op::DeleteAll { key: behind, end }];
            let begin = Op::Put { key: keys.cluster(), value: identity.text().into_bytes() };
            change(reader, config, version, remove.into_iter().chain([begin]).collect()).await?
        }
        Some(_) => return Err(refused(config, "the prefix holds data already")),
        None => {
            let created = cluster::create(reader, config, &identity).await?;
            created.ok_or_else(|| refused(config, "somebody else uses the prefix"))?
        }
    };
    Ok(Begun { version })
}

/// Says that everything has come. From here on, servers use the prefix. Refused where another move has begun
/// since.
pub async fn end_move(config: &EtcdConfig, begun: &Begun) -> Result<(), StoreError> {
    let (client, keys) = (Client::new(&config.servers, &config.tls)?, Keys::new(&config.prefix));
    let reader = Reader { client: &client, keys: &keys, timeout: config.timeout };
    let Some((mut identity, _)) = cluster::read(reader, config).await? else {
        return Err(refused(config, "the data that were moved are gone"));
    };
    identity.is_moving = false;
    let whole = Op::Put { key: keys.cluster(), value: identity.text().into_bytes() };
    change(reader, config, begun.version, vec![whole]).await.map(drop)
}

/// Makes changes at once, while the identity is what it was. Returns their version.
async fn change(
    reader: Reader<'_>,
    config: &EtcdConfig,
    version: u64,
    success: Vec<Op>,
) -> Result<u64, StoreError> {
    let key = reader.keys.cluster();
    let compare = vec![Compare { key, what: Compared::ModRevision(version) }];
    let txn = Txn { compare, success, failure: Vec::new() };
    let done = reader.client.call::<TxnDone, _>(TXN, &txn, reader.timeout).await;
    let done = done.map_err(|failure| failure.of_write())?;
    if !done.succeeded {
        return Err(refused(config, "somebody else uses the prefix"));
    }
    Ok(done.header.revision)
}
