//! The keys that all servers over one etcd have in common: that of the authority, that of service account
//! tokens and that of continue tokens. The first server makes them and shares them through etcd; the others
//! put them into their data directories before anything reads these.
//!
//! They are sealed as secrets are. Whoever can read etcd without that can sign as the servers do, as it could
//! read the secrets.

use std::{fs, path::Path, sync::Arc, time::SystemTime};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use orch_config::{Config, start_error::StartError};
use orch_storage::{Key, ResourceName, Sealing};
use orch_storage_etcd::EtcdConfig;

use super::{continue_key, files, pki::Authority, storage, token_key};

/// What the keys are called in etcd.
fn name() -> Key {
    Key::new(ResourceName::new(orch_kinds::SECRETS), "", "keys")
}

/// The one that is no secret.
const CERTIFICATE: &str = "pki/ca.crt";

/// The files, in the data directory.
const FILES: &[&str] = &[CERTIFICATE, "pki/ca.key", "pki/service-account.key", "continue.key"];

/// Puts the shared keys into the data directory; shares those that are there, or makes new ones, where none
/// are shared yet. Does nothing without etcd.
///
/// # Errors
/// Where the directory has other keys.
pub async fn share(config: &Config, sealing: &Arc<dyn Sealing>) -> Result<(), StartError> {
    let Some(etcd) = storage::etcd_config(config, sealing) else { return Ok(()) };
    let directory = std::path::absolute(&config.storage.data_dir)
        .map_err(|error| StartError::configuration("--data-dir", error))?;
    files::create_directory(&directory)?;
    super::check_access(&directory)?;
    let _lock = files::lock(&directory)?;
    share_in(&directory, &etcd).await
}

/// Seals the shared keys as secrets are sealed by now. To be called when a start has succeeded: one that
/// fails leaves them as they were, for those who do not know the new key. Does nothing without etcd.
pub async fn seal(config: &Config, sealing: &Arc<dyn Sealing>) -> Result<(), StartError> {
    let Some(etcd) = storage::etcd_config(config, sealing) else { return Ok(()) };
    let sealed = Box::pin(orch_storage_etcd::seal_shared(&etcd, &name())).await;
    sealed.map_err(|error| storage::etcd_fault(&error))
}

/// Does what [`share`] does, between a directory, which nobody else uses, and etcd.
pub async fn share_in(directory: &Path, etcd: &EtcdConfig) -> Result<(), StartError> {
    let shared = Box::pin(orch_storage_etcd::read_shared(etcd, &name())).await;
    if let Some(shared) = shared.map_err(|error| storage::etcd_fault(&error))? {
        return write(directory, &shared);
    }
    let missing: Vec<_> = FILES.iter().filter(|file| !directory.join(file).exists()).collect();
    Authority::ensure(&directory.join("pki"), SystemTime::now())?;
    token_key::ensure(&directory.join("pki"))?;
    continue_key::ensure(directory)?;
    let own = read(directory)?;
    let shared = Box::pin(orch_storage_etcd::share(etcd, &name(), own.as_bytes())).await;
    let shared = shared.map_err(|error| storage::etcd_fault(&error))?;
    if shared != own.as_bytes() {
        // Another server was faster. What was made just now, nobody has seen.
        for file in missing {
            let path = directory.join(file);
            fs::remove_file(&path).map_err(|error| StartError::configuration(path.display(), error))?;
        }
    }
    write(directory, &shared)
}

/// A line for each file: its name, and what is in it.
fn read(directory: &Path) -> Result<String, StartError> {
    let line = |file: &&str| {
        let text = files::read(&directory.join(file))?.unwrap_or_default();
        Ok(format!("{file} {}\n", BASE64_STANDARD.encode(text)))
    };
    FILES.iter().map(line).collect()
}

fn write(directory: &Path, shared: &[u8]) -> Result<(), StartError> {
    let damaged = || StartError::configuration("--etcd-prefix", "the keys that servers share cannot be read");
    let lines = str::from_utf8(shared).map_err(|_| damaged())?;
    for line in lines.lines() {
        let (name, text) = line.split_once(' ').ok_or_else(damaged)?;
        let file = FILES.iter().find(|file| **file == name).ok_or_else(damaged)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(|_| damaged())?;
        let text = String::from_utf8(bytes).map_err(|_| damaged())?;
        let path = directory.join(file);
        match files::read(&path)? {
            Some(own) if own == text => {}
            Some(_) => {
                let problem = format!(
                    "{} is not the one that the servers over this etcd share: start with another directory",
                    path.display()
                );
                return Err(StartError::configuration("--data-dir", problem));
            }
            None => {
                files::create_directory(&directory.join("pki"))?;
                let mode = if name == CERTIFICATE { files::PUBLIC } else { files::PRIVATE };
                files::write(&path, &text, mode)?;
            }
        }
    }
    Ok(())
}
