//! Files that are read again when they change, while the server runs.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    time::{Duration, Instant},
};

/// How long files that were refused rest, before they are read again although none has changed: what spoke
/// against them may be gone, such as a file missing that one of them names. They rest twice as long each time
/// that the reason is the same, up to a minute: reading them may be work.
const FIRST_REST: Duration = Duration::from_secs(5);
const LONGEST_REST: Duration = Duration::from_mins(1);

/// When something of a file changed, its length, and which file it is; none where it is not there. Two
/// changes within one tick of the file system's clock are told apart only by the other two.
type Stamp = Option<((i64, i64), u64, u64)>;

/// Some files, and how they were before they were read.
#[derive(Default)]
pub struct FollowedFiles {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    /// What was wrong with them when they were last read.
    refusal: Option<Refusal>,
}

struct Refusal {
    why: String,
    /// When they are to be read again.
    next: Instant,
    rest: Duration,
}

impl FollowedFiles {
    /// These files, which are to be read after this: what changes while they are read is seen by the next
    /// look.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let stamps = stamps(&paths);
        FollowedFiles { paths, stamps, refusal: None }
    }

    /// Reads files with a function that also returns which files these are. It is called again where they
    /// are not those that are known from before, so that each was looked at before it was read.
    ///
    /// # Errors
    /// Those of the function.
    pub fn read<T, E>(
        mut known: Vec<PathBuf>,
        read: impl Fn() -> Result<(T, Vec<PathBuf>), E>,
    ) -> Result<(T, Self), E> {
        loop {
            let files = Self::new(known);
            let (value, found) = read()?;
            if found == files.paths {
                return Ok((value, files));
            }
            known = found;
        }
    }

    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether they are to be read after this: one has changed, or they were refused a while ago.
    pub fn look(&mut self) -> bool {
        let stamps = stamps(&self.paths);
        let is_changed = stamps != self.stamps;
        self.stamps = stamps;
        is_changed || self.refusal.as_ref().is_some_and(|refusal| refusal.next <= Instant::now())
    }

    /// They were read, and are right.
    pub fn accepted(&mut self) {
        self.refusal = None;
    }

    /// They were read, and cannot be used. Returns whether that is news, and not the same as the last time.
    pub fn refused(&mut self, why: &str) -> bool {
        let before = self.refusal.take().filter(|before| before.why == why);
        let rest = before.as_ref().map_or(FIRST_REST, |before| LONGEST_REST.min(2 * before.rest));
        self.refusal = Some(Refusal { why: why.to_owned(), next: Instant::now() + rest, rest });
        before.is_none()
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let known = fs::metadata(path).ok()?;
        // Not the time of its text, which whoever copies a file may set.
        Some(((known.ctime(), known.ctime_nsec()), known.len(), known.ino()))
    };
    paths.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_changes_while_it_is_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, "a").unwrap();
        fs::write(&two, "a").unwrap();
        let reads = Cell::new(0);
        let read = |known: Vec<PathBuf>, change: &dyn Fn()| {
            let all = || {
                reads.set(reads.get() + 1);
                let text = fs::read_to_string(&two).unwrap();
                change();
                Ok::<_, ()>((text, vec![one.clone(), two.clone()]))
            };
            FollowedFiles::read(known, all).unwrap()
        };
        // The second file is known only when the first one is read.
        let (text, mut files) = read(vec![one.clone()], &|| ());
        assert_eq!((text.as_str(), reads.get(), files.look()), ("a", 2, false));
        let (text, mut files) = read(files.paths().to_vec(), &|| fs::write(&two, "bc").unwrap());
        assert_eq!((text.as_str(), reads.get(), files.look(), files.look()), ("a", 3, true, false));
        fs::remove_file(&one).unwrap();
        assert!(files.look());
    }

    #[test]
    fn what_was_refused_is_read_again() {
        let mut files = FollowedFiles::new(Vec::new());
        let rest = |files: &mut FollowedFiles| {
            let refusal = files.refusal.as_mut().unwrap();
            refusal.next -= refusal.rest;
            refusal.rest.as_secs()
        };
        assert!(!files.look());
        let same = [10, 20, 40, 60, 60].map(|seconds| ("one", false, seconds));
        for (why, is_news, seconds) in [("one", true, 5)].into_iter().chain(same).chain([("two", true, 5)]) {
            assert_eq!(files.refused(why), is_news);
            assert!(!files.look(), "not without end");
            assert_eq!(rest(&mut files), seconds);
            assert!(files.look());
        }
        files.accepted();
        assert!(!files.look());
        assert!(files.refused("two"), "it was right in between");
    }
}
