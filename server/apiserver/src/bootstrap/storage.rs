//! Opens the database of the data directory.

use std::io::{self, Write};

use orch_storage::{Report, Storage, StoreError};
use orch_storage_sqlite::SqliteConfig;

use crate::{
    bootstrap::files,
    config::{Config, StorageConfig},
    start_error::StartError,
};

/// Opens the configured database, or creates it. The data directory exists.
pub async fn open_storage(config: &Config) -> Result<Storage, StartError> {
    // SQLite creates its other files with the mode of this one. Stored objects include secrets.
    files::ensure_private(&config.storage.database())?;
    let settings = SqliteConfig {
        retention: config.storage.history_retention,
        history_bytes: config.storage.history_size,
        accept_data_loss: config.storage.accept_data_loss,
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

/// Checks a database, without a server, and prints a report to stdout.
///
/// # Errors
/// Where there is no database to read, or it is damaged.
pub fn self_check(config: &StorageConfig) -> Result<(), StartError> {
    let database = config.database();
    if !database.exists() {
        return Err(StartError::configuration(
            "--data-dir",
            format_args!("there is no {}", database.display()),
        ));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::Runtime(format!("cannot start: {error}")))?;
    let report = runtime
        .block_on(orch_storage_sqlite::check(&database))
        .map_err(|error| StartError::Runtime(error.to_string()))?;
    // A closed pipe is no error: the exit code says the same as the report.
    let _ = write_report(&report, &mut io::stdout());
    if report.is_clean() {
        return Ok(());
    }
    Err(StartError::Runtime(format!("{} is damaged", database.display())))
}

fn write_report(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{} objects in {} records up to revision {}",
        report.objects, report.records, report.revision
    )?;
    for revision in &report.corrupt {
        writeln!(out, "damaged: the record of revision {revision}; its object cannot be read")?;
    }
    for problem in &report.problems {
        writeln!(out, "wrong: {problem}")?;
    }
    if report.omitted > 0 {
        writeln!(out, "and {} more", report.omitted)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{open_storage, self_check};
    use crate::{
        config::{self, Config, Invocation},
        test_catalog::{KUBERNETES, ORCH},
    };

    fn config(flags: &[&str]) -> Config {
        match config::parse(["server"].iter().chain(flags), &[&ORCH, &KUBERNETES]) {
            Ok(Invocation::Serve(config)) => *config,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn only_the_server_reads_its_database() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(&[&format!("--data-dir={}", directory.path().display())]);
        let storage = open_storage(&config).await.unwrap();
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
        let storage = open_storage(&config(&[&data_dir])).await.unwrap();
        storage.shutdown().await.unwrap();

        let other = config(&[&data_dir, "--vocabulary=kubernetes"]);
        let error = open_storage(&other).await.err().expect("must be refused").to_string();
        assert!(error.starts_with("--vocabulary: ") && error.contains("\"orch\""), "{error}");
        open_storage(&config(&[&data_dir])).await.unwrap().shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let config = config(&[&format!("--data-dir={}", directory.path().display())]);
        std::fs::write(config.storage.database(), "something else entirely, and long enough to look at")
            .unwrap();
        let error = open_storage(&config).await.err().expect("must be refused").to_string();
        assert!(error.starts_with("--data-dir: ") && error.contains("is not a database"), "{error}");
    }

    #[test]
    fn a_check_tells_a_sound_database_from_a_missing_and_a_broken_one() {
        let directory = tempfile::tempdir().unwrap();
        let flags = format!("--data-dir={}", directory.path().display());
        let storage_config = config(&[&flags]).storage;
        let missing = self_check(&storage_config).unwrap_err().to_string();
        assert!(missing.starts_with("--data-dir: there is no "), "{missing}");

        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let storage = open_storage(&config(&[&flags])).await.unwrap();
            storage.shutdown().await.unwrap();
        });
        self_check(&storage_config).unwrap();

        std::fs::write(storage_config.database(), b"this is no database").unwrap();
        assert!(self_check(&storage_config).is_err());
    }
}
