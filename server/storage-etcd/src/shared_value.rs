//! Values that servers of one state share and that are no objects: their keys, for example.

use bytes::Bytes;
use orch_storage::{Key, SealError, StoreError};

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

/// Shares a value, unless there is one of this name. Returns the one that is there then.
pub async fn share(config: &EtcdConfig, name: &Key, value: &[u8]) -> Result<Bytes, StoreError> {
    let place = Place::of(config, name)?;
    if let Some(found) = place.read(config).await? {
        return Ok(found);
    }
    let sealed = place.form.kept(&place.object, &place.shown(), value).map_err(|error| unreadable(&error))?;
    let create = Txn {
        compare: vec![Compare { key: place.key.clone(), what: Compared::Exists(false) }],
        success: vec![Op::Put { key: place.key.clone(), value: sealed }],
        failure: Vec::new(),
    };
    let created = place.client.call::<TxnDone>(TXN, &create, config.timeout).await;
    created.map_err(|failure| failure.of_write())?;
    let gone = || StoreError::Unavailable { detail: format!("{name} is gone").into() };
    place.read(config).await?.ok_or_else(gone)
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
        let reader = Reader { client: &self.client, keys: &self.keys, timeout: config.timeout };
        // Nothing is shared beside the data of others.
        cluster::identify(reader, config).await?;
        let found = reader.get(self.key.clone()).await.map_err(|failure| failure.of_read())?;
        let opened = found.map(|kv| self.form.opened(&self.object, &self.shown(), kv.value));
        Ok(opened.transpose().map_err(|error| unreadable(&error))?.map(|(value, _)| value))
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.key).into_owned()
    }
}

fn unreadable(error: &SealError) -> StoreError {
    StoreError::Unavailable { detail: error.to_string().into() }
}
