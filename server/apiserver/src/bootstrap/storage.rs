//! Opens the database of the data directory, or etcd.

use std::sync::Arc;

use orch_config::{Config, EtcdSettings, start_error::StartError};
use orch_registry::{catalog::Catalog, stored};
use orch_storage::{Sealing, Storage, StoreError};
use orch_storage_etcd::{EtcdConfig, OtherForms, TlsFiles};
use orch_storage_sqlite::SqliteConfig;

use crate::bootstrap::{files, other_forms::FormsOfReference};

/// Opens the configured database, or creates it. The data directory exists. Values are kept as `sealing`
/// says; those that others wrote into etcd are read as objects of the catalog.
pub async fn open_storage(
    config: &Config,
    sealing: Arc<dyn Sealing>,
    catalog: &Catalog,
) -> Result<Storage, StartError> {
    if let Some(settings) = etcd_config(config, &sealing) {
        let other_forms: Arc<dyn OtherForms> = Arc::new(FormsOfReference::of(catalog));
        let settings = EtcdConfig { other_forms: Some(other_forms), ..settings };
        return Box::pin(orch_storage_etcd::open(settings)).await.map_err(|error| etcd_fault(&error));
    }
    // SQLite creates its other files with the mode of this one. Stored objects include secrets.
    files::ensure_private(&config.storage.database())?;
    let settings = SqliteConfig {
        retention: config.storage.history_retention,
        history_bytes: config.storage.history_size,
        accept_data_loss: config.storage.accept_data_loss,
        sealing: Some(sealing),
        ..SqliteConfig::new(config.storage.database(), config.vocabulary.name)
    };
    orch_storage_sqlite::open(settings).await.map_err(|error| {
        let flag = match error {
            StoreError::WrongVocabulary { .. } => "--vocabulary",
            _ => "--data-dir",
        };
        StartError::caused(flag, &error)
    })
}

/// How etcd is used, where it keeps the data.
pub fn etcd_config(config: &Config, sealing: &Arc<dyn Sealing>) -> Option<EtcdConfig> {
    let etcd = in_etcd(config.storage.etcd.clone()?, config.vocabulary.name, sealing);
    let (retention, history_bytes) = (config.storage.history_retention, config.storage.history_size);
    Some(EtcdConfig { retention, history_bytes, ..etcd })
}

/// How data of a vocabulary are kept in etcd.
pub fn in_etcd(settings: EtcdSettings, vocabulary: &str, sealing: &Arc<dyn Sealing>) -> EtcdConfig {
    let EtcdSettings { servers, authorities, identity, prefix } = settings;
    EtcdConfig {
        tls: TlsFiles { authorities, identity },
        prefix,
        sealing: Some(Arc::clone(sealing)),
        ..EtcdConfig::new(servers, vocabulary, stored::revision_at)
    }
}

/// Why etcd cannot be used. What passes by itself is no mistake of the configuration: another start may
/// succeed.
pub fn etcd_fault(error: &StoreError) -> StartError {
    let fault = etcd_refusal(error);
    match error {
        StoreError::Unreachable { .. }
        | StoreError::Unknown { .. }
        | StoreError::DiskFull { .. }
        | StoreError::ReadOnly { .. } => StartError::Runtime(fault.to_string()),
        _ => fault,
    }
}

/// The same for a subcommand that has changed nothing yet. No service manager starts it again, so every cause
/// is reported as an error of the configuration, with the flag to look at.
pub fn etcd_refusal(error: &StoreError) -> StartError {
    let flag = match error {
        StoreError::WrongVocabulary { .. } => "--vocabulary",
        StoreError::NotADatabase { .. } => "--etcd-prefix",
        _ => "--etcd-servers",
    };
    StartError::caused(flag, error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use std::sync::Arc;

    use orch_config::{Config, Invocation, start_error::StartError};
    use orch_encryption::encryption::Encryption;
    use orch_storage::Storage;
    use orch_test_catalog::{KUBERNETES, ORCH, catalog};

    use super::open_storage;

    fn config(flags: &[&str]) -> Config {
        match orch_config::parse(["server"].iter().chain(flags), &[&ORCH, &KUBERNETES]) {
            Ok(Invocation::Serve(config)) => *config,
            other => panic!("{other:?}"),
        }
    }

    async fn open(config: &Config) -> Result<Storage, StartError> {
        open_storage(config, Arc::new(Encryption::default()), &catalog(&ORCH)).await
    }

    /// Who starts servers again leaves those alone whose configuration is wrong.
    #[tokio::test]
    async fn an_etcd_that_is_not_there_yet_is_no_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let flags = ["--storage=etcd".to_owned(), format!("--etcd-servers=http://{free}")];
        let data_dir = format!("--data-dir={}", directory.path().display());
        let config = config(&[&flags[0], &flags[1], &data_dir]);
        let error = open(&config).await.err().expect("nobody is there");
        assert!(
            matches!(&error, StartError::Runtime(text) if text.starts_with("--etcd-servers: ")),
            "{error}"
        );
    }

    #[tokio::test]
    async fn only_the_server_reads_its_database() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(&[&format!("--data-dir={}", directory.path().display())]);
        let storage = open(&config).await.unwrap();
        let holding_data = ["orch.db", "orch.db-wal", "orch.db-shm"];
        for file in holding_data {
            let metadata = std::fs::metadata(directory.path().join(file)).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
        }
        storage.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_database_keeps_its_vocabulary() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = format!("--data-dir={}", directory.path().display());
        let storage = open(&config(&[&data_dir])).await.unwrap();
        storage.shutdown().await.unwrap();

        let other = config(&[&data_dir, "--vocabulary=kubernetes"]);
        let error = open(&other).await.err().expect("must be refused").to_string();
        assert!(error.starts_with("--vocabulary: ") && error.contains("\"orch\""), "{error}");
        open(&config(&[&data_dir])).await.unwrap().shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn the_vocabulary_of_a_database_counts_where_none_is_given() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = format!("--data-dir={}", directory.path().display());
        assert_eq!(config(&[&data_dir]).vocabulary.name, "orch");
        let made = config(&[&data_dir, "--vocabulary=kubernetes"]);
        open(&made).await.unwrap().shutdown().await.unwrap();

        let taken = config(&[&data_dir]);
        assert_eq!(taken.vocabulary.name, "kubernetes");
        open(&taken).await.unwrap().shutdown().await.unwrap();
        assert_eq!(config(&[&data_dir, "--vocabulary=orch"]).vocabulary.name, "orch");
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(&[&format!("--data-dir={}", directory.path().display())]);
        std::fs::write(config.storage.database(), "something else entirely, and long enough to look at")
            .unwrap();
        let error = open(&config).await.err().expect("must be refused").to_string();
        assert!(error.starts_with("--data-dir: ") && error.contains("is not a database"), "{error}");
    }
}
