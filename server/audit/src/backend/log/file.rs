//! A log file that is rotated.
//!
//! Before a line that would make the file too large, the file gets the time in its name
//! (`audit-2026-11-22T17-30-00.000.log`), and a new one begins. Older files are compressed and removed by a
//! thread, so that no event waits for that.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};
use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
};

use super::Lines;

/// How a time stands in the name of an older file, in UTC.
const NAME_FORMAT: &str = "%Y-%m-%dT%H-%M-%S.%3f";
/// The ending of a compressed file.
const COMPRESSED: &str = ".gz";
/// The ending of one that is being made.
const UNFINISHED: &str = ".gz.unfinished";

/// Where links lead to files that belong to others: `/dev/stdout` may be one.
const FOREIGN: &[&str] = &["/dev", "/proc"];

/// When a file is full, and what happens to older ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The bytes that a file may have.
    pub max_size: u64,
    /// How old a file may become; `None`: no limit.
    pub max_age: Option<Duration>,
    /// How many older files are kept; `None`: no limit.
    pub max_backups: Option<usize>,
    /// Whether older files are compressed.
    pub compress: bool,
}

/// An open log file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    rotation: Rotation,
    file: File,
    /// Whether it may get another name: pipes and devices stay where they are.
    is_rotated: bool,
    /// The bytes in the file; 0 where it is never rotated.
    size: u64,
    /// Compresses and removes older files.
    tidying: Option<JoinHandle<()>>,
}

impl LogFile {
    /// Opens the file; new lines follow those that are there.
    pub(super) fn open(path: PathBuf, rotation: Rotation) -> io::Result<Self> {
        let (file, size) = open_to_follow(&path)?;
        let is_rotated = size.is_some();
        let size = size.unwrap_or(0);
        let mut log = LogFile { path, rotation, file, is_rotated, size, tidying: None };
        if is_rotated {
            log.tidy();
        }
        Ok(log)
    }

    /// Gives the file another name and begins a new one.
    fn rotate(&mut self) -> io::Result<()> {
        let mut time = Timestamp::now();
        let backup = loop {
            let backup = self.path.with_file_name(name_of(&self.path, time));
            if !backup.exists() && !with_ending(&backup, COMPRESSED).exists() {
                break backup;
            }
            time += SignedDuration::from_millis(1);
        };
        match fs::rename(&self.path, &backup) {
            // Somebody else has moved or removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed?,
        }
        self.file = open(&self.path)?;
        self.size = 0;
        self.tidy();
        Ok(())
    }

    /// Compresses and removes older files, unless that is going on: then the next rotation does it.
    fn tidy(&mut self) {
        if self.tidying.as_ref().is_some_and(|tidying| !tidying.is_finished()) {
            return;
        }
        let (path, rotation) = (self.path.clone(), self.rotation.clone());
        let tidying = thread::Builder::new().name("audit-rotation".to_owned()).spawn(move || {
            if let Err(error) = tidy(&path, &rotation, Timestamp::now()) {
                tracing::warn!(%error, "older audit logs cannot be compressed or removed");
            }
        });
        self.tidying = tidying.ok();
    }

    /// Takes back a line that could not be written whole: a part of it would make the line behind it
    /// unreadable. A file that others have made shorter meanwhile does not become longer.
    fn take_back(&self) -> io::Result<()> {
        self.file.set_len(self.size.min(self.file.metadata()?.len()))
    }
}

impl Lines for LogFile {
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_rotated {
            // Others may have made the file shorter, as logrotate does with `copytruncate`.
            self.size = self.size.min(self.file.metadata()?.len());
        }
        if self.size > 0 && lines.len() as u64 > self.room() {
            // Where that fails, the file becomes too large, which is better than no file.
            if let Err(error) = self.rotate() {
                tracing::warn!(%error, "the audit log cannot be rotated");
            }
        }
        let written = self.file.write_all(lines);
        match &written {
            _ if !self.is_rotated => {}
            Ok(()) => self.size += lines.len() as u64,
            Err(_) => self.take_back()?,
        }
        written
    }

    fn room(&self) -> u64 {
        self.rotation.max_size.saturating_sub(self.size)
    }

    fn reopen(&mut self) -> io::Result<bool> {
        if !self.is_rotated {
            return Ok(false);
        }
        let (file, size) = open_to_follow(&self.path)?;
        // Lines could wait there without end, and nothing would bring them back into a file.
        let size = size.ok_or_else(|| io::Error::other("it has become a pipe, a device or a link to one"))?;
        (self.file, self.size) = (file, size);
        Ok(true)
    }
}

/// Opens a file whose lines new ones follow, with its size if it can be rotated.
fn open_to_follow(path: &Path) -> io::Result<(File, Option<u64>)> {
    let file = open(path)?;
    let is_own = || !FOREIGN.iter().any(|root| path.starts_with(root)) || is_no_link(path);
    let is_rotated = file.metadata()?.is_file() && is_own();
    let size = if is_rotated { Some(end_last_line(&file, path)?) } else { None };
    Ok((file, size))
}

fn is_no_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_symlink())
}

/// Its directory is made where it is missing. A pipe must have a reader, who is not waited for.
fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => io::Error::new(error.kind(), "it is a pipe that nobody reads, or a socket"),
        _ => error,
    })?;
    // Whoever reads slowly is waited for when lines are written.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Ends the last line of a file, which a crash may have cut. Returns the size of the file.
fn end_last_line(mut file: &File, path: &Path) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(0);
    }
    let size = metadata.len();
    let mut last = [b'\n'];
    std::os::unix::fs::FileExt::read_at(&File::open(path)?, &mut last, size - 1)?;
    if last == [b'\n'] {
        return Ok(size);
    }
    file.write_all(b"\n")?;
    Ok(size + 1)
}

/// The name of an older file: the time stands before the ending.
fn name_of(path: &Path, time: Timestamp) -> String {
    let (stem, ending) = stem_and_ending(path);
    let time = time.to_zoned(TimeZone::UTC).strftime(NAME_FORMAT);
    format!("{stem}{time}{ending}")
}

/// `audit-` and `.log`.
fn stem_and_ending(path: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let ending = match text(path.extension()) {
        ending if ending.is_empty() => ending,
        ending => format!(".{ending}"),
    };
    (format!("{}-", text(path.file_stem())), ending)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Compresses and removes the older files of a log.
fn tidy(path: &Path, rotation: &Rotation, now: Timestamp) -> io::Result<()> {
    let mut older = older(path)?;
    let max_age = rotation.max_age.map(|age| SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX));
    // The newest first.
    older.sort_by(|one, other| other.cmp(one));
    for (index, (time, file)) in older.into_iter().enumerate() {
        // A clock that was wrong may have dated a file in the future. Such a file is not old.
        let is_too_old = max_age.is_some_and(|age| now.duration_since(time) > age);
        let is_too_many = rotation.max_backups.is_some_and(|max| index >= max);
        if is_too_old || is_too_many {
            fs::remove_file(&file)?;
        } else if rotation.compress && file.is_file() && !file.to_string_lossy().ends_with(COMPRESSED) {
            compress(&file)?;
        }
    }
    Ok(())
}

/// The older files of a log, with the times in their names.
fn older(path: &Path) -> io::Result<Vec<(Timestamp, PathBuf)>> {
    let (stem, ending) = stem_and_ending(path);
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut found = Vec::new();
    for entry in fs::read_dir(directory.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let plain = name.strip_suffix(COMPRESSED).unwrap_or(name);
        let time = plain.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(&ending));
        if let Some(time) = time.and_then(|time| DateTime::strptime(NAME_FORMAT, time).ok())
            && let Ok(time) = time.to_zoned(TimeZone::UTC)
        {
            found.push((time.timestamp(), entry.path()));
        }
    }
    Ok(found)
}

/// Replaces a file by its compressed form, which has its name only when it is whole.
fn compress(file: &Path) -> io::Result<()> {
    let unfinished = with_ending(file, UNFINISHED);
    let out = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&unfinished)?;
    let mut encoder = GzEncoder::new(out, Compression::default());
    io::copy(&mut File::open(file)?, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::rename(&unfinished, with_ending(file, COMPRESSED))?;
    fs::remove_file(file)
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, os::fd::AsRawFd as _, process::Command};

    use flate2::read::GzDecoder;

    use super::*;

    fn rotation() -> Rotation {
        Rotation { max_size: 10, max_age: None, max_backups: None, compress: false }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write_older(path: &Path, time: &str) {
        fs::write(path.with_file_name(format!("audit-{time}.log")), time).unwrap();
    }

    #[test]
    fn a_full_file_gets_the_time_in_its_name_and_no_line_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/audit.log");
        fs::create_dir(directory.path().join("deep")).unwrap();
        fs::write(&path, "cut").unwrap();
        let mut log = LogFile::open(path.clone(), rotation()).unwrap();
        for line in ["12345\n", "6789\n", "a line that is longer than a file\n", "x\n"] {
            log.write_lines(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "x\n");
        let names = names(path.parent().unwrap());
        assert_eq!(names.len(), 4, "{names:?}");
        let texts: Vec<String> =
            names.iter().map(|name| fs::read_to_string(path.with_file_name(name)).unwrap()).collect();
        assert_eq!(texts[..3], ["cut\n12345\n", "6789\n", "a line that is longer than a file\n"]);
        assert!(older(&path).unwrap().len() == 3, "{names:?}");
    }

    #[test]
    fn older_files_are_compressed_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        fs::write(&path, "now").unwrap();
        fs::write(directory.path().join("audit-of-others.log"), "").unwrap();
        for day in ["01", "02", "03", "04"] {
            write_older(&path, &format!("2026-11-{day}T00-00-00.000"));
        }
        let now: Timestamp = "2026-11-05T00:00:00Z".parse().unwrap();
        let rotation = Rotation {
            max_age: Some(Duration::from_hours(73)),
            max_backups: Some(2),
            compress: true,
            ..rotation()
        };
        tidy(&path, &rotation, now).unwrap();
        let left = [
            "audit-2026-11-03T00-00-00.000.log.gz",
            "audit-2026-11-04T00-00-00.000.log.gz",
            "audit-of-others.log",
            "audit.log",
        ];
        assert_eq!(names(directory.path()), left);
        let mut text = String::new();
        let file = File::open(directory.path().join(left[0])).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        assert_eq!(text, "2026-11-03T00-00-00.000");
        // By their age alone.
        let young = Rotation { max_age: Some(Duration::from_hours(30)), max_backups: None, ..rotation };
        tidy(&path, &young, now).unwrap();
        assert_eq!(names(directory.path()), left[1..]);
    }

    #[test]
    fn a_log_that_others_have_removed_begins_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/audit.log");
        let mut log = LogFile::open(path.clone(), rotation()).unwrap();
        log.write_lines(b"12345678\n").unwrap();
        fs::remove_file(&path).unwrap();
        log.write_lines(b"abcdefgh\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "abcdefgh\n");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        log.write_lines(b"ABCDEFGH\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "ABCDEFGH\n");
        assert_eq!(names(path.parent().unwrap()), ["audit.log"]);
    }

    #[test]
    fn a_file_that_others_make_shorter_is_as_long_as_they_leave_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let mut log = LogFile::open(path.clone(), rotation()).unwrap();
        log.write_lines(b"12345678\n").unwrap();
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        log.write_lines(b"abcdefgh\n").unwrap();
        assert_eq!(names(directory.path()), ["audit.log"], "it is not full");
        assert_eq!(log.size, 9);
        // A line that does not fit, after the file was emptied again.
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        log.file.write_all(b"ABC").unwrap();
        log.take_back().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "ABC", "no hole");
    }

    #[test]
    fn a_file_that_others_have_moved_is_left_when_they_say_so() {
        let directory = tempfile::tempdir().unwrap();
        let (path, moved) = (directory.path().join("audit.log"), directory.path().join("moved"));
        let mut log = LogFile::open(path.clone(), rotation()).unwrap();
        log.write_lines(b"1234\n").unwrap();
        fs::rename(&path, &moved).unwrap();
        log.write_lines(b"567\n").unwrap();
        fs::write(&path, "abcdef\n").unwrap();
        assert!(log.reopen().unwrap());
        log.write_lines(b"gh\n").unwrap();
        assert_eq!(fs::read_to_string(&moved).unwrap(), "1234\n567\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "abcdef\ngh\n");
        assert_eq!(log.size, 10);
        fs::remove_file(&path).unwrap();
        log.reopen().unwrap();
        log.write_lines(b"12345678\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "12345678\n");
        assert_eq!(names(directory.path()), ["audit.log", "moved"]);
    }

    #[test]
    fn pipes_and_devices_keep_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("audit.log");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut reader = File::options().read(true).write(true).open(&pipe).unwrap();
        let file = File::create(directory.path().join("out")).unwrap();
        for path in [pipe, format!("/proc/self/fd/{}", file.as_raw_fd()).into()] {
            let mut log = LogFile::open(path, rotation()).unwrap();
            for line in ["12345678\n", "abcdefgh\n", "ABCDEFGH\n"] {
                log.write_lines(line.as_bytes()).unwrap();
                assert!(!log.reopen().unwrap());
            }
            assert_eq!((log.room(), log.tidying.is_none()), (10, true));
        }
        let mut lines = [0; 27];
        reader.read_exact(&mut lines).unwrap();
        assert_eq!(&lines, b"12345678\nabcdefgh\nABCDEFGH\n");
        assert_eq!(fs::read(directory.path().join("out")).unwrap(), lines);
        assert_eq!(names(directory.path()), ["audit.log", "out"]);
    }

    #[test]
    fn a_file_that_becomes_a_pipe_is_kept_until_there_is_a_file_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let mut log = LogFile::open(path.clone(), Rotation { max_size: 100, ..rotation() }).unwrap();
        let kept = directory.path().join("kept");
        fs::rename(&path, &kept).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let told = |refused: io::Result<bool>| refused.unwrap_err().to_string();
        assert_eq!(told(log.reopen()), "it is a pipe that nobody reads, or a socket");
        let error = LogFile::open(path.clone(), rotation()).unwrap_err();
        assert_eq!(error.to_string(), "it is a pipe that nobody reads, or a socket");
        let reader = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(told(log.reopen()), "it has become a pipe, a device or a link to one");
        log.write_lines(b"kept\n").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept\n");

        drop(reader);
        fs::remove_file(&path).unwrap();
        assert!(log.reopen().unwrap());
        log.write_lines(b"again\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "again\n");
    }

    #[test]
    fn a_file_in_shared_memory_is_rotated_as_any_other() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return };
        let path = directory.path().join("audit.log");
        let mut log = LogFile::open(path.clone(), rotation()).unwrap();
        log.write_lines(b"12345678\n").unwrap();
        log.write_lines(b"abcdefgh\n").unwrap();
        assert_eq!(names(directory.path()).len(), 2);
        assert!(log.reopen().unwrap());
        // A link may lead to a file of others.
        let link = directory.path().join("link.log");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!LogFile::open(link, rotation()).unwrap().reopen().unwrap());
    }

    #[test]
    fn a_file_of_the_future_is_not_old() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        write_older(&path, "2026-11-01T00-00-00.000");
        write_older(&path, "2027-11-01T00-00-00.000");
        let rotation = Rotation { max_age: Some(Duration::from_hours(1)), ..rotation() };
        tidy(&path, &rotation, "2026-11-05T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(names(directory.path()), ["audit-2027-11-01T00-00-00.000.log"]);
    }
}
