//! Values that servers of one state share and that are no objects: their keys, for example.

use bytes::Bytes;
use orch_storage::{Key, Seal, SealError, StoreError};

use crate::client::{Client, TXN};
use crate::cluster;
use crate::config::EtcdConfig;
use crate::form::Form;
use crate::keys::Keys;
use crate::load::Reader;
use crate::message::{Compare, Compared, Op, Txn, TxnDone};

/// The value of this name; none where no server has shared one. It is sealed as objects of the resource in
/// its name are.
pub async fn read_shared(config: &EtcdConfig, name: &Key) -> Result<Option<Bytes>, StoreError> {
    Place::of(config, name)?.read(config).await
}

/// Seals the value of this name anew, where it would be sealed otherwise by now.
pub async fn seal_shared(config: &EtcdConfig, name: &Key) -> Result<(), StoreError> {
    let place = Place::of(config, name)?;
    let Some(found) = place.find(config).await? else { return Ok(()) };
    let sealing = place.form.sealing.as_ref();
    if !sealing.is_some_and(|sealing| sealing.is_stale(&name.resource, found.seal)) {
        return Ok(());
    }
    // Where somebody else has done it meanwhile, this does nothing.
    place.write(config, Compared::ModRevision(found.revision), &found.value).await
}

/// Shares a value, unless there is one of this name. Returns the one that is there then.
pub async fn share(config: &EtcdConfig, name: &Key, value: &[u8]) -> Result<Bytes, StoreError> {
    let place = Place::of(config, name)?;
    if let Some(found) = place.read(config).await? {
        return Ok(found);
    }
    place.write(config, Compared::Exists(false), value).await?;
    let gone = || StoreError::Unavailable { detail: format!("{name} is gone").into() };
    place.read(config).await?.ok_or_else(gone)
}

/// A value that is there.
struct Found {
    value: Bytes,
    /// The key under which it is sealed.
    seal: Option<Seal>,
    revision: u64,
}

struct Place {
    client: Client,
    keys: Keys,
    form: Form,
    /// For sealing.
    object: Key,
    key: Vec<u8>,
}

impl Place {
    fn of(config: &EtcdConfig, name: &Key) -> Result<Self, StoreError> {
        let client = Client::new(&config.servers, &config.tls)?;
        let keys = Keys::new(&config.prefix);
        let form = Form::of(config);
        let (object, key) = (name.clone(), keys.shared(&name.name));
        Ok(Self { client, keys, form, object, key })
    }

    async fn read(&self, config: &EtcdConfig) -> Result<Option<Bytes>, StoreError> {
        Ok(self.find(config).await?.map(|found| found.value))
    }

    async fn find(&self, config: &EtcdConfig) -> Result<Option<Found>, StoreError> {
        let reader = Reader { client: &self.client, keys: &self.keys, timeout: config.timeout };
        // Nothing is shared beside the data of others.
        cluster::identify(reader, config).await?;
        let found = reader.get(self.key.clone()).await.map_err(|failure| failure.of_read())?;
        let Some(kv) = found else { return Ok(None) };
        let opened = self.form.opened(&self.object, &self.shown(), kv.value);
        let (value, seal) = opened.map_err(|error| self.unreadable(&error))?;
        Ok(Some(Found { value, seal, revision: kv.mod_revision }))
    }

    /// Writes a value if this holds for the key.
    async fn write(&self, config: &EtcdConfig, what: Compared, value: &[u8]) -> Result<(), StoreError> {
        let sealed = self.form.kept(&self.object, &self.shown(), value);
        let sealed = sealed.map_err(|error| self.unreadable(&error))?;
        let write = Txn {
            compare: vec![Compare { key: self.key.clone(), what }],
            success: vec![Op::Put { key: self.key.clone(), value: sealed }],
            failure: Vec::new(),
        };
        let written = self.client.call::<TxnDone, _>(TXN, &write, config.timeout).await;
        written.map(drop).map_err(|failure| failure.of_write())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.key).into_owned()
    }

    fn unreadable(&self, error: &SealError) -> StoreError {
        StoreError::Unavailable { detail: format!("{}: {error}", self.shown()).into() }
    }
}
