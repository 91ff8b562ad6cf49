//! What the program does instead of serving: it checks, repairs, copies or restores a database, or prints the
//! credentials of its administrator.

use std::{
    fmt::Display,
    fs::File,
    io::{self, BufWriter, ErrorKind, IsTerminal, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use orch_config::{
    DataDir, EncryptionConfig, ExportFlags, FileFlags, RepairFlags, Task, database_in,
    start_error::StartError,
};
use orch_encryption::encryption::Encryption;
use orch_meta::VOCABULARIES;
use orch_registry::feature_gates::UNSAFE_DELETION;
use orch_storage::{Report, StoreError};

use crate::{
    bootstrap::{
        files::{self, PRIVATE},
        kubeconfig::kubeconfig_in,
    },
    encryption,
};

mod export;
mod migrate;
pub mod progress;

pub use export::strip;
use export::{Exported, Newest};

/// Performs a task and prints what came of it to stdout.
///
/// # Errors
/// Where it could not be done, or what was to be checked is damaged.
pub fn perform(task: &Task) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::Runtime(format!("cannot start: {error}")))?;
    let performed = runtime.block_on(async {
        match task {
            Task::Check(at) => Box::pin(check(at)).await,
            Task::Repair(flags) => Box::pin(repair(&flags.at, flags.vocabulary.as_deref())).await,
            Task::Backup(flags) => Box::pin(backup(&flags.at, &flags.file)).await,
            Task::Restore(flags) => Box::pin(restore(&flags.at, &flags.file)).await,
            Task::Compact(at) => Box::pin(compact(at)).await,
            Task::Export(flags) => Box::pin(export(flags)).await,
            Task::Move(flags) => Box::pin(migrate::migrate(flags)).await,
            Task::Kubeconfig(at) => kubeconfig(at),
        }
    });
    if let Task::Repair(RepairFlags { at, .. }) | Task::Restore(FileFlags { at, .. }) | Task::Compact(at) =
        task
    {
        let given = files::give_to_owner(&at.data_dir);
        return performed.and(given);
    }
    performed
}

/// The database of a data directory.
fn database(DataDir { data_dir }: &DataDir) -> PathBuf {
    database_in(data_dir)
}

/// The database of a data directory that must be there.
fn existing(at: &DataDir) -> Result<PathBuf, StartError> {
    must_exist(database(at))
}

/// A database that is only of use where it is there already.
///
/// # Errors
/// Where it is not.
pub fn must_exist(database: PathBuf) -> Result<PathBuf, StartError> {
    if database.exists() {
        return Ok(database);
    }
    Err(StartError::configuration("--data-dir", format_args!("there is no {}", database.display())))
}

/// Refuses to make a database where there is one. Its last writes may be in a log beside it, so all of its
/// files are named.
fn must_be_free(flag: &str, database: &Path) -> Result<(), StartError> {
    if database.metadata().map_or(true, |file| file.len() == 0) {
        return Ok(());
    }
    let files = orch_storage_sqlite::files(database);
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let (shown, names) = (database.display(), names.join(", "));
    Err(StartError::configuration(flag, format_args!("{shown} is there already; move away first: {names}")))
}

async fn check(at: &DataDir) -> Result<(), StartError> {
    let database = existing(at)?;
    let checking = Box::pin(orch_storage_sqlite::check(&database));
    let report = progress::during("checking", checking).await.map_err(|error| match error {
        // It is not known what is in it.
        StoreError::NotWritable { .. } => StartError::caused("--data-dir", &error),
        error => runtime(&error),
    })?;
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
        say("there is nothing to repair");
        say_what_to_do(report.corrupt.len());
        return Ok(());
    }
    let repairing = Box::pin(orch_storage_sqlite::repair(&database, vocabulary));
    let repaired = progress::during("repairing", repairing).await.map_err(|error| match error {
        StoreError::NotADatabase { .. } => StartError::caused("--data-dir", &error),
        error => runtime(&error),
    })?;
    for damaged in &repaired.damaged {
        say(format_args!("damaged: {damaged}"));
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
    say_what_to_do(repaired.damaged.len());
    Ok(())
}

/// What is left of damaged rows, which no repair makes whole.
fn say_what_to_do(damaged: usize) {
    if damaged > 0 {
        say(format_args!(
            "{damaged} damaged rows stay, and a check goes on naming them: an object whose newest row is one is \
             answered with 500; delete such objects with the feature gate {}, then call compact",
            UNSAFE_DELETION.name
        ));
    }
}

async fn backup(at: &DataDir, file: &Path) -> Result<(), StartError> {
    let database = existing(at)?;
    if is_standard(file) {
        let copying = Box::pin(orch_storage_sqlite::backup_unnamed(&database));
        let (_, mut copy) = progress::during("copying", copying).await.map_err(|error| runtime(&error))?;
        let sending = blocking(move || {
            copy.rewind()?;
            let mut out = io::stdout().lock();
            io::copy(&mut copy, &mut out)?;
            out.flush()
        });
        let sent = progress::during("sending", sending).await;
        return sent.map_err(|error| StartError::Runtime(format!("cannot write the copy: {error}")));
    }
    if file.exists() {
        return Err(StartError::configuration(file.display(), "is there already"));
    }
    let copying = Box::pin(orch_storage_sqlite::backup(&database, file));
    write_report(&progress::during("copying", copying).await.map_err(|error| runtime(&error))?);
    Ok(())
}

async fn restore(at: &DataDir, file: &Path) -> Result<(), StartError> {
    // Before anything is made.
    let copy: Box<dyn Read + Send> = if is_standard(file) {
        Box::new(io::stdin())
    } else {
        let copy = File::open(file).and_then(|copy| Ok((copy.metadata()?.is_dir(), copy)));
        match copy {
            Ok((false, copy)) => Box::new(copy),
            Ok((true, _)) => return Err(not_readable(file, &ErrorKind::IsADirectory.into())),
            Err(error) => return Err(not_readable(file, &error)),
        }
    };
    files::create_directory(&at.data_dir)?;
    let _lock = files::lock(&at.data_dir)?;
    let database = database(at);
    must_be_free("--data-dir", &database)?;
    let name = if is_standard(file) { Path::new("stdin") } else { file };
    let restoring = Box::pin(orch_storage_sqlite::restore(copy, name, &database));
    let report = progress::during("restoring", restoring).await.map_err(|error| match error {
        StoreError::NotADatabase { .. } | StoreError::Lost { .. } | StoreError::NotReadable { .. } => {
            StartError::caused("FILE", &error)
        }
        error => runtime(&error),
    })?;
    write_report(&report);
    Ok(())
}

fn not_readable(file: &Path, error: &io::Error) -> StartError {
    StartError::configuration("FILE", format_args!("cannot read {}: {error}", file.display()))
}

/// Whether a file is stdout, or stdin.
fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

/// Work that waits for files, beside the line that says that it goes on.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

async fn compact(at: &DataDir) -> Result<(), StartError> {
    let database = existing(at)?;
    let _lock = files::lock(&at.data_dir)?;
    let size = || database.metadata().map_or(0, |file| file.len());
    let before = size();
    let compacted = Box::pin(orch_storage_sqlite::compact(&database));
    let report = progress::during("compacting", compacted).await.map_err(|error| runtime(&error))?;
    write_report(&report);
    say(format_args!("{} has {} bytes now, {before} before", database.display(), size()));
    Ok(())
}

async fn export(ExportFlags { to, encryption_provider_config }: &ExportFlags) -> Result<(), StartError> {
    let FileFlags { at, file } = to;
    let database = existing(at)?;
    let encryption = encryption(&database, encryption_provider_config.as_deref()).await?;
    let cannot_write = |error: io::Error| StartError::Runtime(format!("cannot write the manifests: {error}"));
    // Objects include secrets.
    let out = || File::options().write(true).create_new(true).mode(PRIVATE).open(file);
    let out = if is_standard(file) { None } else { Some(out()) };
    let out = out.transpose().map_err(|error| StartError::configuration(file.display(), error))?;
    let newest = export::newest(&database, &*encryption);
    let newest = progress::during("exporting", newest).await.map_err(|error| runtime(&error))?;
    let Newest { objects, lost } = newest;
    let is_seen = out.is_none() && io::stdout().is_terminal();
    let writing = blocking(move || match out {
        None => export::write(objects, &mut BufWriter::new(io::stdout().lock())),
        Some(file) => {
            let mut out = BufWriter::new(file);
            let exported = export::write(objects, &mut out)?;
            out.get_ref().sync_all().map(|()| exported)
        }
    });
    // Nothing comes between manifests that are read there.
    let exported = if is_seen { writing.await } else { progress::during("writing", writing).await };
    let Exported { objects, damaged, going, is_cut_off } = exported.map_err(cannot_write)?;
    // Beside manifests on stdout.
    let mut told = if is_cut_off { String::new() } else { format!("{objects} objects are exported\n") };
    for (what, keys) in [("left out, it is being deleted", &going), ("damaged, it cannot be read", &damaged)]
    {
        told.extend(keys.iter().map(|key| printable(&format!("{what}: {key}")) + "\n"));
    }
    let _ = io::stderr().write_all(told.as_bytes());
    if !damaged.is_empty() {
        return Err(StartError::Runtime(format!("{} objects cannot be read", damaged.len())));
    }
    lost.map_or(Ok(()), |lost| Err(runtime(&lost)))
}

/// How values of the database are kept. Groups in the file are read as its vocabulary spells them.
async fn encryption(database: &Path, file: Option<&Path>) -> Result<Arc<Encryption>, StartError> {
    let name = Box::pin(orch_storage_sqlite::vocabulary(database)).await.map_err(|error| runtime(&error))?;
    encryption_of(&name, file)
}

/// How values of data of a vocabulary are kept.
fn encryption_of(vocabulary: &str, file: Option<&Path>) -> Result<Arc<Encryption>, StartError> {
    let found = VOCABULARIES.iter().find(|found| found.name == vocabulary);
    let found = found.ok_or_else(|| {
        StartError::configuration("--data-dir", format_args!("the vocabulary {vocabulary:?} is not known"))
    })?;
    let config = EncryptionConfig { file: file.map(Into::into), is_followed: false };
    Ok(encryption::read(&config, found)?.0)
}

fn kubeconfig(DataDir { data_dir }: &DataDir) -> Result<(), StartError> {
    let file = kubeconfig_in(data_dir);
    match files::read(&file)? {
        Some(text) => io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| StartError::Runtime(format!("cannot write the kubeconfig: {error}"))),
        None => Err(StartError::configuration("--data-dir", format_args!("there is no {}", file.display()))),
    }
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
    let _ = writeln!(io::stdout(), "{}", printable(&line.to_string()));
}

/// Names come from what may be damaged, and a terminal obeys characters that it cannot show.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Why a command failed. A full disk says nothing about the data: nothing was done.
fn runtime(error: &StoreError) -> StartError {
    match error {
        StoreError::DiskFull { .. } => StartError::caused("--data-dir", error),
        _ => StartError::Runtime(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::open_storage;
    use orch_config::{Config, Invocation};
    use orch_test_catalog::{ORCH, catalog};

    fn config(at: &DataDir) -> Config {
        let flags = ["server".to_owned(), format!("--data-dir={}", at.data_dir.display())];
        match orch_config::parse(flags, &[&ORCH]) {
            Ok(Invocation::Serve(config)) => *config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn damaged_names_do_not_command_a_terminal() {
        assert_eq!(printable("a/\u{1b}[2J\0b: \"ü\" is 'new'"), "a/\\u{1b}[2J\\0b: \"ü\" is 'new'");
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
            let (config, catalog) = (config(&at), catalog(&ORCH));
            let storage = open_storage(&config, Arc::new(Encryption::default()), &catalog).await.unwrap();
            storage.shutdown().await.unwrap();
        });
        perform(&check).unwrap();

        std::fs::write(database(&at), b"this is no database").unwrap();
        assert!(perform(&check).is_err());
    }
}
