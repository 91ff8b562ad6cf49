//! Room that is reserved for deletions: a file of random bytes beside the database, which is released when
//! the disk is full. The first half is for the deletions themselves, the second for dropping history when the
//! first is used up. Without the reserve nothing could be deleted on a full disk, because a log grows by
//! every deletion too.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How much is written at once.
const BLOCK: usize = 1 << 16;

/// The file, whether it is there or not.
#[derive(Debug, Clone)]
pub(crate) struct Reserve {
    database: PathBuf,
    path: PathBuf,
    bytes: u64,
}

impl Reserve {
    /// Of `bytes`, beside `database`. If that is zero, there is no file, and [`is_kept`](Reserve::is_kept) is
    /// true.
    pub(crate) fn beside(database: &Path, bytes: u64) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push(".reserve");
        Self { database: database.into(), path: path.into(), bytes }
    }

    /// Whether the room is taken.
    pub(crate) fn is_kept(&self) -> bool {
        self.bytes == 0 || self.path.metadata().is_ok_and(|file| file.len() >= self.bytes)
    }

    /// Takes the room; where there is not enough, no more than it had.
    pub(crate) async fn keep(&self) -> io::Result<()> {
        let this = self.clone();
        blocking(move || {
            let mut file = File::options().create(true).append(true).open(&this.path)?;
            // It may be read by the same users as the database.
            file.set_permissions(this.database.metadata()?.permissions())?;
            let had = file.metadata()?.len();
            let filled = fill(&mut file, this.bytes.saturating_sub(had));
            if filled.is_err() {
                file.set_len(had)?;
            }
            filled
        })
        .await
    }

    /// Releases the first half of the room, or all of it.
    pub(crate) async fn release(&self, all: bool) -> io::Result<()> {
        let this = self.clone();
        blocking(move || match File::options().write(true).open(&this.path) {
            Ok(file) => file.set_len(if all { 0 } else { file.metadata()?.len().min(this.bytes / 2) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }
}

/// Writes so many bytes. A file with holes, or one that can be compressed, would keep nothing.
fn fill(file: &mut File, mut left: u64) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut state = 1_u64;
    while left > 0 {
        for word in block.as_chunks_mut().0 {
            // Xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *word = state.to_le_bytes();
        }
        let part = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        file.write_all(&block[..part])?;
        left -= part as u64;
    }
    Ok(())
}

async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn is_whole_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("store.db");
        File::create(&database).unwrap();
        let reserve = Reserve::beside(&database, 100_000);
        assert!(!reserve.is_kept());
        reserve.keep().await.unwrap();
        assert!(reserve.is_kept());
        assert_eq!(directory.path().join("store.db.reserve").metadata().unwrap().len(), 100_000);
        assert!(!Reserve::beside(&database, 100_001).is_kept());
        let length = || directory.path().join("store.db.reserve").metadata().unwrap().len();
        for (all, left) in [(false, 50_000), (false, 50_000), (true, 0), (true, 0)] {
            reserve.release(all).await.unwrap();
            assert_eq!(length(), left);
            assert!(!reserve.is_kept());
        }
        reserve.keep().await.unwrap();
        assert_eq!(length(), 100_000);
        assert!(Reserve::beside(&directory.path().join("none").join("store.db"), 1).keep().await.is_err());
        assert!(Reserve::beside(&database, 0).is_kept());
    }
}
