//! The file of `--encryption-provider-config`: read before anything is opened, and again when it changes.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use orch_config::{
    EncryptionConfig,
    start_error::{StartError, with_causes},
};
use orch_encryption::{encryption::Encryption, error::EncryptionError, file, keyring::Keyring};
use orch_http::metrics::Metrics;
use orch_meta::VOCABULARIES;
use orch_registry::catalog::Catalog;
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::followed_files::FollowedFiles;
use orch_storage::{Sealing, Storage};
use tokio::sync::watch;

use crate::followed_files;

const FILE: &str = "--encryption-provider-config";

/// How values are kept, as configured, and the files that say it. Without one they are kept as they are.
pub fn read(
    config: &EncryptionConfig,
    vocabulary: &Vocabulary,
) -> Result<(Arc<Encryption>, FollowedFiles), StartError> {
    let files = FollowedFiles::new(config.file.iter().cloned().collect());
    let Some(path) = &config.file else { return Ok((Arc::default(), files)) };
    let read = if config.is_followed { file::read } else { file::read_once };
    let keyring = read(path, vocabulary, VOCABULARIES);
    let keyring = keyring.map_err(|error| StartError::caused(FILE, &error))?;
    Ok((Arc::new(Encryption::new(keyring)), files))
}

/// A file that is read again.
pub struct FollowedKeys {
    path: PathBuf,
    files: FollowedFiles,
    vocabulary: &'static Vocabulary,
    encryption: Arc<Encryption>,
    seal_shared: SealShared,
}

/// Seals the shared keys of the servers (not an object) with a new keyring. Fails if the keyring cannot open
/// them.
pub type SealShared =
    Box<dyn Fn(Arc<dyn Sealing>) -> BoxFuture<'static, Result<(), StartError>> + Send + Sync>;

impl FollowedKeys {
    /// The configured file, which was read as `files`, where it is to be followed.
    pub fn of(
        config: &EncryptionConfig,
        files: FollowedFiles,
        vocabulary: &'static Vocabulary,
        encryption: &Arc<Encryption>,
        seal_shared: SealShared,
    ) -> Option<Self> {
        let path = config.file.clone().filter(|_| config.is_followed)?;
        Some(FollowedKeys { path, files, vocabulary, encryption: Arc::clone(encryption), seal_shared })
    }

    /// Reads the file again when it changes, until the server stops. A new file that is not right, or that
    /// lacks a key with which an object, or what servers share, is kept, changes nothing; it is told in the
    /// log and in the metrics.
    pub async fn follow(mut self, storage: Storage, metrics: Metrics, mut stopping: watch::Receiver<bool>) {
        while followed_files::changed(&mut self.files, &mut stopping).await {
            let (file, vocabulary, storage) = (self.path.clone(), self.vocabulary, storage.clone());
            let read = move || read_again(&file, vocabulary, &storage);
            let Some(read) = followed_files::apart(&mut stopping, read).await else { return };
            let path = self.path.display();
            match self.seal_shared(read).await {
                Ok(keyring) => {
                    self.encryption.replace(keyring);
                    self.files.accepted();
                    metrics.encryption_reloaded(true);
                    tracing::info!(%path, "the keys of encryption are read again");
                }
                Err(problem) => {
                    metrics.encryption_reloaded(false);
                    if self.files.refused(&problem) {
                        tracing::error!(problem, "the keys of encryption stay as they were read before");
                    }
                }
            }
        }
    }

    /// Makes a keyring that was read the one with which servers seal what they share.
    async fn seal_shared(&self, read: Result<Keyring, String>) -> Result<Arc<Keyring>, String> {
        let encryption = Arc::new(Encryption::new(read?));
        // No server starts that does not open it.
        let sealed = (self.seal_shared)(encryption.clone()).await;
        let path = self.path.display();
        sealed.map_err(|error| format!("{path}: what servers share is not sealed anew: {error}"))?;
        Ok(encryption.keyring())
    }
}

/// The keyring of a file, if it opens every object.
fn read_again(path: &Path, vocabulary: &Vocabulary, storage: &Storage) -> Result<Keyring, String> {
    let keyring = file::read(path, vocabulary, VOCABULARIES);
    let keyring = keyring.map_err(|error: EncryptionError| with_causes(&error))?;
    let (unreadable, path) = (unreadable(storage, &keyring), path.display());
    if unreadable > 0 {
        return Err(format!(
            "{path}: {unreadable} objects could not be read with these keys after a start: write them anew \
             before their key, or identity, is taken away"
        ));
    }
    Ok(keyring)
}

/// Tells the operator what the file names and the server does not serve: it may be misspelt.
pub fn warn_of_unknown(keyring: &Keyring, catalog: &Catalog) {
    let known: Vec<_> = catalog.stored_resources().map(|resource| &resource.storage_name).collect();
    for name in keyring.unmatched(&known) {
        tracing::warn!(name, "{FILE}: no resource of this name is served");
    }
}

/// How many objects are kept in a way that these keys do not open.
fn unreadable(storage: &Storage, keyring: &Keyring) -> usize {
    let count = |resource| {
        let snapshot = storage.snapshot(resource);
        let kept = snapshot.iter().filter(|object| object.value().is_ok());
        kept.filter(|object| !keyring.opens(resource, object.seal())).count()
    };
    storage.resources().iter().map(count).sum()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use orch_test_catalog::ORCH;

    use super::*;

    #[test]
    fn what_changes_after_it_was_read_is_seen() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n\
                    - resources: [secrets]\n  providers:\n  - identity: {}\n";
        fs::write(&file, text).unwrap();
        let config = EncryptionConfig { file: Some(file.path().to_owned()), is_followed: true };
        let (_, mut files) = read(&config, &ORCH).unwrap();
        assert!(!files.look());
        fs::write(&file, format!("{text}\n")).unwrap();
        assert!(files.look());
    }
}
