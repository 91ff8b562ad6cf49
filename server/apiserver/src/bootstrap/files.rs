//! Files of the data directory: they are replaced atomically and durably, belong to the server's user, and
//! have the mode that their content needs.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::Path,
};

use orch_config::{DATABASE, start_error::StartError};

/// The file that is locked while a process uses the directory.
const LOCK: &str = "lock";

/// Read and written by the server's user only.
pub const PRIVATE: u32 = 0o600;
/// Read by everyone.
pub const PUBLIC: u32 = 0o644;

/// What a directory or a file keeps from others than the server's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Others may look at it, and not change it.
    Unchanged,
    /// Others may not even read it.
    Unread,
}

/// Creates a directory that only the server's user may enter, with its parents, where it is missing.
pub fn create_directory(directory: &Path) -> Result<(), StartError> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = directory.ancestors().take_while(is_missing).collect();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| missing.into_iter().try_for_each(sync_entry))
        .map_err(|error| fault("cannot create the directory", directory, &error))
}

/// Refuses a directory or a file that another user owns, or that others can change or read. One that is
/// missing is not refused, and root may own anything: it can do everything anyway.
pub fn check_access(path: &Path, secrecy: Secrecy) -> Result<(), StartError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault("cannot read", path, &error)),
    };
    let (shown, owner, mode) = (path.display(), metadata.uid(), metadata.mode() & 0o777);
    let refused = |problem: String| Err(StartError::configuration("--data-dir", problem));
    if let Some(user) = user().filter(|user| owner != *user && owner != 0) {
        return refused(format!(
            "{shown} belongs to user {owner}, who can change it, and the server runs as user {user}; \
             use a directory of its own, or give it this one: chown -R {user} {shown}"
        ));
    }
    let mended = if metadata.is_dir() { 0o700 } else { 0o600 };
    let what = match secrecy {
        Secrecy::Unchanged if mode & 0o022 != 0 => "changed",
        Secrecy::Unread if mode & 0o022 != 0 => "changed and perhaps read",
        Secrecy::Unread if mode & 0o077 != 0 => "read",
        _ => return Ok(()),
    };
    refused(format!(
        "{shown} can be {what} by other users (mode {mode:03o}); mend it: chmod {mended:o} {shown}"
    ))
}

/// The user that the server runs as; not known where the system has no `/proc`.
fn user() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, saved, of the file system.
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Makes the name of a file durable, where it was made or renamed just now.
fn sync_entry(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

/// Locks the directory for this process, until the returned file is dropped.
pub fn lock(directory: &Path) -> Result<File, StartError> {
    let path = directory.join(LOCK);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .open(&path)
        .map_err(|error| fault("cannot open", &path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let problem = format!("{} is in use by another server", directory.display());
            Err(StartError::configuration("--data-dir", problem))
        }
        Err(TryLockError::Error(error)) => Err(fault("cannot lock", &path, &error)),
    }
}

/// Gives the files that root has made in a data directory of another user to that user, whose server could
/// not read them. Files of a database and locks only: root makes no others.
pub fn give_to_owner(directory: &Path) -> Result<(), StartError> {
    let owner = match std::fs::metadata(directory) {
        Ok(metadata) if metadata.uid() != 0 && user() == Some(0) => (metadata.uid(), metadata.gid()),
        _ => return Ok(()),
    };
    let given = || {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == LOCK || name.to_string_lossy().starts_with(DATABASE) {
                give(&entry.path(), owner)?;
            }
        }
        Ok(())
    };
    given().map_err(|error| fault("cannot give to its owner what is in", directory, &error))
}

/// Gives away a file of root. The owner of the directory may put anything there at any time, so neither a
/// link to another file nor a second name of one is followed.
fn give(path: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    let named = std::fs::symlink_metadata(path)?;
    if !named.is_file() || named.uid() != 0 {
        return Ok(());
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    let is_same = (opened.dev(), opened.ino()) == (named.dev(), named.ino());
    if is_same && opened.uid() == 0 && opened.nlink() == 1 {
        fchown(&file, Some(user), Some(group))?;
    }
    Ok(())
}

/// Makes sure that a file exists that only the server's user may read. What is in it stays.
pub fn ensure_private(path: &Path) -> Result<(), StartError> {
    let created = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path);
    let ensured = match created {
        Ok(_) => sync_entry(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => close_to_others(path),
        Err(error) => Err(error),
    };
    ensured.map_err(|error| fault("cannot create", path, &error))
}

/// Takes a file away from others who may read it, as a copy that was put back often allows.
fn close_to_others(path: &Path) -> io::Result<()> {
    let file = std::fs::metadata(path)?;
    if !file.is_file() {
        // The mode of a device, to which a link leads, is not this server's to change.
        return Err(io::Error::other("it is no regular file"));
    }
    let mode = file.permissions().mode() & 0o777;
    if mode % 0o100 == 0 {
        return Ok(());
    }
    tracing::warn!(file = %path.display(), "others could read or change this file: closing it to them");
    std::fs::set_permissions(path, Permissions::from_mode(PRIVATE))
}

/// The content of a text file; `None` if there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, StartError> {
    match orch_settings::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault("cannot read", path, &error)),
    }
}

/// Replaces a file atomically: a reader sees the old or the new content, even after a crash. When it returns,
/// the new content survives one.
pub fn write(path: &Path, content: &str, mode: u32) -> Result<(), StartError> {
    let draft = path.with_added_extension("new");
    let replace = || {
        // A draft that a crash left may have another mode.
        match std::fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, path)?;
        sync_entry(path)
    };
    replace().map_err(|error| fault("cannot write", path, &error))
}

fn fault(action: &str, path: &Path, error: &io::Error) -> StartError {
    StartError::configuration("--data-dir", format_args!("{action} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{
        PRIVATE, PUBLIC, Permissions, Secrecy, check_access, create_directory, ensure_private, lock, read,
        user, write,
    };

    #[test]
    fn a_file_is_replaced_with_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.txt");
        assert_eq!(read(&path).unwrap(), None);
        // As if a crash had left a draft that everyone may read.
        std::fs::write(directory.path().join("file.txt.new"), "half").unwrap();
        for (content, mode) in [("one", PRIVATE), ("two", PUBLIC), ("three", PRIVATE)] {
            write(&path, content, mode).unwrap();
            assert_eq!(read(&path).unwrap().as_deref(), Some(content));
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_private_file_is_created_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        ensure_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, PRIVATE);
        std::fs::write(&path, "content").unwrap();
        ensure_private(&path).unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("content"));
        ensure_private(&directory.path().join("no/such")).unwrap_err();

        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        ensure_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn what_others_can_change_or_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        for (mode, secrecy, refused) in [
            (0o644, Secrecy::Unchanged, None),
            (0o664, Secrecy::Unchanged, Some("can be changed by other users (mode 664)")),
            (0o646, Secrecy::Unchanged, Some("can be changed by other users (mode 646)")),
            (0o600, Secrecy::Unread, None),
            (0o400, Secrecy::Unread, None),
            (0o640, Secrecy::Unread, Some("can be read by other users (mode 640)")),
            (0o604, Secrecy::Unread, Some("can be read by other users (mode 604)")),
            (0o666, Secrecy::Unread, Some("can be changed and perhaps read by other users (mode 666)")),
        ] {
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let said = check_access(&file, secrecy).err().map(|error| error.to_string());
            let expected = refused
                .map(|refused| format!("--data-dir: {0} {refused}; mend it: chmod 600 {0}", file.display()));
            assert_eq!(said, expected, "{mode:o} {secrecy:?}");
            std::fs::remove_file(&file).unwrap();
        }
        check_access(&file, Secrecy::Unread).unwrap();
        if user() == Some(0) {
            std::fs::write(&file, "").unwrap();
            std::os::unix::fs::chown(&file, Some(12_345), None).unwrap();
            let said = check_access(&file, Secrecy::Unchanged).unwrap_err().to_string();
            assert!(said.contains("belongs to user 12345") && said.contains("chown -R 0 "), "{said}");
        } else {
            eprintln!("SKIPPED: a file of another user: only root can make one");
        }
    }

    #[test]
    fn a_data_directory_is_private_and_has_one_server() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("a/b");
        create_directory(&directory).unwrap();
        create_directory(&directory).unwrap();
        assert_eq!(std::fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);

        let first = lock(&directory).unwrap();
        let error = lock(&directory).unwrap_err().to_string();
        assert!(error.ends_with("a/b is in use by another server"), "{error}");
        drop(first);
        lock(&directory).unwrap();
    }

    #[test]
    fn faults_name_the_flag_and_the_file() {
        let parent = tempfile::tempdir().unwrap();
        let blocked = parent.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let directory = blocked.join("below");
        for error in [
            create_directory(&directory).unwrap_err(),
            lock(&directory).unwrap_err(),
            write(&directory, "", PRIVATE).unwrap_err(),
            read(&directory).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.starts_with("--data-dir: cannot ") && text.contains("below"), "{text}");
        }
    }
}
