//! What the program does instead of serving: it checks, repairs, copies or restores a database.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use orch_storage::{Report, StoreError};

use crate::{
    bootstrap::files,
    config::{DataDir, Task, database_in},
    start_error::StartError,
};

/// Performs a task and prints what came of it to stdout.
///
/// # Errors
/// Where it could not be done, or what was to be checked is damaged.
pub fn perform(task: &Task) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::Runtime(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        match task {
            Task::Check(at) => Box::pin(check(at)).await,
            Task::Repair(flags) => Box::pin(repair(&flags.at, flags.vocabulary.as_deref())).await,
            Task::Backup(flags) => Box::pin(backup(&flags.at, &flags.file)).await,
            Task::Restore(flags) => Box::pin(restore(&flags.at, &flags.file)).await,
        }
    })
}

/// The database of a data directory.
fn database(DataDir { data_dir }: &DataDir) -> PathBuf {
    database_in(data_dir)
}

/// The database of a data directory that must be there.
fn existing(at: &DataDir) -> Result<PathBuf, StartError> {
    let database = database(at);
    if database.exists() {
        return Ok(database);
    }
    Err(StartError::configuration("--data-dir", format_args!("there is no {}", database.display())))
}

async fn check(at: &DataDir) -> Result<(), StartError> {
    let database = existing(at)?;
    let report = Box::pin(orch_storage_sqlite::check(&database)).await.map_err(|error| runtime(&error))?;
    write_report(&report);
    if report.is_clean() {
        return Ok(());
    }
    Err(StartError::Runtime(format!("{} is damaged", database.display())))
}

async fn repair(at: &DataDir, vocabulary: Option<&str>) -> Result<(), StartError> {
    let database = database(at);
    let _lock = files::lock(&at.data_dir)?;
    if let Ok(report) = Box::pin(orch_storage_sqlite::check(&database)).await
        && report.problems.is_empty()
    {
        write_report(&report);
        say(format_args!("there is nothing to repair"));
        return Ok(());
    }
    let repaired =
        Box::pin(orch_storage_sqlite::repair(&database, vocabulary)).await.map_err(|error| match error {
            StoreError::NotADatabase { .. } => StartError::caused("--data-dir", &error),
            error => runtime(&error),
        })?;
    for damaged in &repaired.damaged {
        say(format_args!("damaged: {damaged}; the object is served as a damaged one"));
    }
    for lost in &repaired.lost {
        say(format_args!("lost: {lost}"));
    }
    for kept in &repaired.kept {
        say(format_args!("kept: {}", kept.display()));
    }
    say(format_args!(
        "{} objects in {} rows are in the new {}; its history begins at revision {}",
        repaired.objects,
        repaired.rows,
        database.display(),
        repaired.revision
    ));
    Ok(())
}

async fn backup(at: &DataDir, file: &Path) -> Result<(), StartError> {
    let database = existing(at)?;
    let to_stdout = file == Path::new("-");
    let copy = if to_stdout { at.data_dir.join("orch.db.copy") } else { file.to_owned() };
    if to_stdout {
        // What another process left that was killed before all was sent.
        let _ = std::fs::remove_file(&copy);
    } else if copy.exists() {
        return Err(StartError::configuration(copy.display(), "is there already"));
    }
    let copied =
        Box::pin(orch_storage_sqlite::backup(&database, &copy)).await.map_err(|error| runtime(&error));
    if !to_stdout {
        write_report(&copied?);
        return Ok(());
    }
    let sent = copied.and_then(|_| {
        let sent = File::open(&copy).and_then(|mut copy| {
            let mut out = io::stdout().lock();
            io::copy(&mut copy, &mut out)?;
            out.flush()
        });
        sent.map_err(|error| StartError::Runtime(format!("cannot write the copy: {error}")))
    });
    let removed = std::fs::remove_file(&copy);
    sent?;
    removed.map_err(|error| StartError::Runtime(format!("cannot remove {}: {error}", copy.display())))
}

async fn restore(at: &DataDir, file: &Path) -> Result<(), StartError> {
    files::create_directory(&at.data_dir)?;
    let _lock = files::lock(&at.data_dir)?;
    let database = database(at);
    if database.metadata().is_ok_and(|file| file.len() > 0) {
        let problem = format!("{} is there already; move it away first", database.display());
        return Err(StartError::configuration("--data-dir", problem));
    }
    let report =
        Box::pin(orch_storage_sqlite::restore(file, &database)).await.map_err(|error| match error {
            StoreError::NotADatabase { .. } | StoreError::Lost { .. } => StartError::caused("FILE", &error),
            error => runtime(&error),
        })?;
    write_report(&report);
    Ok(())
}

/// Prints what a check found.
pub(super) fn write_report(report: &Report) {
    say(format_args!(
        "{} objects in {} records up to revision {}",
        report.objects, report.records, report.revision
    ));
    for revision in &report.corrupt {
        say(format_args!("damaged: the record of revision {revision}; its object cannot be read"));
    }
    for problem in &report.problems {
        say(format_args!("wrong: {problem}"));
    }
    if report.omitted > 0 {
        say(format_args!("and {} more", report.omitted));
    }
}

/// A line on stdout. A closed pipe is no error: the exit code says the same.
fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn runtime(error: &StoreError) -> StartError {
    StartError::Runtime(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bootstrap::open_storage,
        config::{self, Config, Invocation},
        test_catalog::ORCH,
    };

    fn config(at: &DataDir) -> Config {
        let flags = ["server".to_owned(), format!("--data-dir={}", at.data_dir.display())];
        match config::parse(flags, &[&ORCH]) {
            Ok(Invocation::Serve(config)) => *config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_check_tells_a_sound_database_from_a_missing_and_a_broken_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = DataDir { data_dir: directory.path().to_owned() };
        let check = Task::Check(at.clone());
        let missing = perform(&check).unwrap_err().to_string();
        assert!(missing.starts_with("--data-dir: there is no "), "{missing}");

        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let storage = open_storage(&config(&at)).await.unwrap();
            storage.shutdown().await.unwrap();
        });
        perform(&check).unwrap();

        std::fs::write(database(&at), b"this is no database").unwrap();
        assert!(perform(&check).is_err());
    }
}
