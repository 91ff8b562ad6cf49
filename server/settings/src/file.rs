//! How a file is read that an operator names: never without end, and never with a wait for somebody else.
//!
//! What stands at a path may be replaced at any time, by a pipe to which nobody writes or a link to a device
//! without an end. Such a path is refused as any other mistake.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rustix::fs::OFlags;

/// How much a file may hold. The largest that has a use is a bundle of authorities, below a megabyte.
const LIMIT: u64 = 16 << 20;

/// The content of a regular file, or of one that a link leads to. For files that are read again while the
/// server runs.
///
/// # Errors
/// Where it cannot be read, is of another kind, or is too large.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Without the flag, a pipe is opened only when another program opens its other end.
    let file =
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    limited(&file)
}

/// As [`read`], of a text.
///
/// # Errors
/// Those of [`read`], and where it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    io::read_to_string(read(path)?.as_slice())
}

/// The content of a text that is read at the start only: it may come from a pipe, as what a shell puts in the
/// place of `<(decrypt policy.yaml)`, and is waited for.
///
/// # Errors
/// Where it cannot be read, is too large, or is no UTF-8.
pub fn read_text_once(path: &Path) -> io::Result<String> {
    io::read_to_string(limited(&File::open(path)?)?.as_slice())
}

fn limited(file: &File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LIMIT {
        let problem = format!("it has more than {} MiB", LIMIT >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _, os::unix::fs::symlink, thread};

    use super::*;

    fn told<T: std::fmt::Debug>(read: io::Result<T>) -> String {
        read.unwrap_err().to_string()
    }

    fn make_pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, zero) = (folder.path().join("pipe"), folder.path().join("zero"));
        make_pipe(&pipe);
        symlink("/dev/zero", &zero).unwrap();
        for path in [&pipe, &zero, Path::new("/dev/null"), folder.path()] {
            assert_eq!(told(read(path)), "it is no regular file", "{}", path.display());
            assert_eq!(told(read_text(path)), "it is no regular file", "{}", path.display());
        }
        assert_eq!(read(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_has_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let file = File::create(&path).unwrap();
        file.set_len(LIMIT).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, LIMIT);
        file.set_len(LIMIT + 1).unwrap();
        assert_eq!(told(read(&path)), "it has more than 16 MiB");
        assert_eq!(told(read_text_once(&path)), "it has more than 16 MiB");
        assert_eq!(told(read_text_once(Path::new("/dev/zero"))), "it has more than 16 MiB");
    }

    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("..data"), folder.path().join("link"));
        fs::write(&file, "text").unwrap();
        symlink("..data", &link).unwrap();
        assert_eq!((read(&link).unwrap(), read_text(&link).unwrap()), (b"text".to_vec(), "text".to_owned()));
        fs::write(&file, b"\xff").unwrap();
        assert_eq!(read_text(&link).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_pipe_may_be_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        let other = pipe.clone();
        let writer = thread::spawn(move || OpenOptions::new().write(true).open(other)?.write_all(b"text"));
        assert_eq!(read_text_once(&pipe).unwrap(), "text");
        writer.join().unwrap().unwrap();
    }
}
