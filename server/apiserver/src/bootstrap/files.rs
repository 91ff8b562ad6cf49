//! Files of the data directory: they are replaced atomically, and have the mode that their content needs.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use crate::start_error::StartError;

/// Read and written by the server's user only.
pub const PRIVATE: u32 = 0o600;
/// Read by everyone.
pub const PUBLIC: u32 = 0o644;

/// Creates a directory that only the server's user may enter, with its parents, where it is missing.
pub fn create_directory(directory: &Path) -> Result<(), StartError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| fault("cannot create the directory", directory, &error))
}

/// Locks the directory for this process, until the returned file is dropped.
pub fn lock(directory: &Path) -> Result<File, StartError> {
    let path = directory.join("lock");
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

/// Makes sure that a file exists that only the server's user may read. What is in it stays.
pub fn ensure_private(path: &Path) -> Result<(), StartError> {
    let created = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path);
    match created {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(fault("cannot create", path, &error))
        }
        _ => Ok(()),
    }
}

/// The content of a text file, or nothing where there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, StartError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault("cannot read", path, &error)),
    }
}

/// Replaces a file atomically: a reader sees the old or the new content, even after a crash.
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
        std::fs::rename(&draft, path)
    };
    replace().map_err(|error| fault("cannot write", path, &error))
}

fn fault(action: &str, path: &Path, error: &io::Error) -> StartError {
    StartError::configuration("--data-dir", format_args!("{action} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{PRIVATE, PUBLIC, create_directory, ensure_private, lock, read, write};

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
