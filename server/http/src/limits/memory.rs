//! How much memory the process may have before it takes no more objects: a refused write is better than a
//! process that the system kills.
//!
//! Objects are in memory, so writes fill it. Where the limit is reached, creates, updates and
//! patches are refused, and reads and deletions go on.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use orch_registry::error::{ApiError, Result};
use orch_runtime::resource_def::Verb;

/// How long what was seen counts. To look is a system call.
const FRESH: Duration = Duration::from_millis(10);
/// Memory comes back slowly: by deletions, and as history gets too old.
const RETRY_AFTER: u32 = 5;

const MEBIBYTE: u64 = 1024 * 1024;

/// See the module.
#[derive(Debug)]
pub struct MemoryLimit {
    /// Bytes; `None`: no limit.
    limit: Option<u64>,
    began: Instant,
    /// When the memory was looked at, in nanoseconds since `began`.
    seen_at: AtomicU64,
    is_short: AtomicBool,
    used: fn() -> Option<u64>,
}

impl MemoryLimit {
    /// The limit that is configured (0 for none), or else what the system allows this process.
    pub fn new(configured: Option<u64>) -> Self {
        let limit = match configured {
            Some(0) => None,
            Some(bytes) => Some(bytes),
            None => group_limit(Path::new("/")).map(without_margin),
        };
        MemoryLimit::of(limit, own_memory)
    }

    fn of(limit: Option<u64>, used: fn() -> Option<u64>) -> Self {
        MemoryLimit {
            limit,
            began: Instant::now(),
            seen_at: AtomicU64::new(0),
            is_short: AtomicBool::new(false),
            used,
        }
    }

    /// Checks that there is memory for a request.
    ///
    /// # Errors
    /// 429 for what adds or changes objects while memory is short.
    pub fn check(&self, verb: Verb) -> Result<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        if !matches!(verb, Verb::Create | Verb::Update | Verb::Patch) || !self.is_short(limit) {
            return Ok(());
        }
        let message =
            "the server is short of memory: only deletions are taken until there is room; reads go on";
        Err(ApiError::TooManyRequests { message: message.to_owned(), retry_after: RETRY_AFTER })
    }

    fn is_short(&self, limit: u64) -> bool {
        let now = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let seen_at = self.seen_at.load(Relaxed);
        if seen_at != 0 && now.saturating_sub(seen_at) < FRESH.as_nanos() as u64 {
            return self.is_short.load(Relaxed);
        }
        self.seen_at.store(now.max(1), Relaxed);
        let used = (self.used)().unwrap_or(0);
        let is_short = used >= limit;
        if self.is_short.swap(is_short, Relaxed) != is_short {
            if is_short {
                tracing::warn!(used, limit, "memory is short; writes are refused");
            } else {
                tracing::info!(used, limit, "there is memory for writes again");
            }
        }
        is_short
    }
}

/// What the process needs besides what it counts as its own: sockets, page tables, the pages of the database.
fn without_margin(allowed: u64) -> u64 {
    allowed - (allowed / 8).max(16 * MEBIBYTE).min(allowed / 4)
}

/// The memory of this process that the system cannot take back: without the pages of files.
fn own_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

/// The smallest memory limit of the control groups (cgroup v1 and v2) of this process, if one has a limit.
/// `root` is the root of the file system.
fn group_limit(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    groups.lines().filter_map(|line| limit_of(root, line)).min()
}

/// The limit of a group and of all above it. `line` is one of `/proc/self/cgroup`: number, controllers, path;
/// controllers are empty in version 2.
fn limit_of(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (mount, file) = if controllers.is_empty() {
        ("sys/fs/cgroup", "memory.max")
    } else if controllers.split(',').any(|controller| controller == "memory") {
        ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
    } else {
        return None;
    };
    // In a container the mount may begin at the group itself: then its path is not found there.
    let groups = Path::new(path).ancestors();
    let limits = groups.filter_map(|group| {
        let group = group.strip_prefix("/").unwrap_or(group);
        let text = fs::read_to_string(root.join(mount).join(group).join(file)).ok()?;
        text.trim().parse::<u64>().ok()
    });
    // Version 1 writes "no limit" as the largest number of whole pages.
    limits.filter(|limit| *limit < 1 << 62).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_refused_while_memory_is_short() {
        type Used = fn() -> Option<u64>;
        let table: [(Option<u64>, Used, bool); 4] = [
            (None, || Some(u64::MAX), false),
            (Some(100), || Some(99), false),
            (Some(100), || Some(100), true),
            (Some(100), || None, false),
        ];
        for (limit, used, is_refused) in table {
            let limit = MemoryLimit::of(limit, used);
            for verb in [Verb::Create, Verb::Update, Verb::Patch] {
                assert_eq!(limit.check(verb).is_err(), is_refused, "{verb:?} {limit:?}");
            }
            for verb in [Verb::Get, Verb::List, Verb::Watch, Verb::Delete, Verb::DeleteCollection] {
                assert_eq!(limit.check(verb), Ok(()));
            }
        }
        assert!(own_memory().is_some_and(|bytes| (MEBIBYTE / 4..1 << 40).contains(&bytes)));
    }

    #[test]
    fn the_limit_is_the_smallest_of_the_groups() {
        for (groups, files, expected) in [
            ("0::/", &[][..], None),
            ("0::/", &[("memory.max", "max\n")], None),
            ("0::/a/b", &[("a/memory.max", "2000\n"), ("a/b/memory.max", "max\n")], Some(2000)),
            ("0::/a/b", &[("a/memory.max", "2000\n"), ("a/b/memory.max", "1000\n")], Some(1000)),
            ("0::/seen/from/the/host", &[("memory.max", "3000\n")], Some(3000)),
            (
                "5:cpu:/x\n4:hugetlb,memory:/a\n0::/",
                &[("memory/a/memory.limit_in_bytes", "4000\n"), ("memory/memory.limit_in_bytes", "5000\n")],
                Some(4000),
            ),
            ("4:memory:/", &[("memory/memory.limit_in_bytes", "9223372036854771712\n")], None),
        ] {
            let root = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            };
            write("proc/self/cgroup", &format!("{groups}\n"));
            for (path, text) in files {
                write(&format!("sys/fs/cgroup/{path}"), text);
            }
            assert_eq!(group_limit(root.path()), expected, "{groups}");
        }
    }

    #[test]
    fn small_groups_leave_room_too() {
        for (allowed, expected) in [(64, 48), (128, 112), (1024, 896)] {
            assert_eq!(without_margin(allowed * MEBIBYTE), expected * MEBIBYTE);
        }
    }
}
