//! The versions that clients see: revisions of etcd, plus an offset that the data got when they were moved
//! here.
//!
//! Nobody can raise the revision of etcd. So a prefix into which data are moved keeps, with its identity, the
//! newest version of where they came from, and all servers add it: no version is given out again. Messages
//! have versions in them; [`crate::message`] makes revisions of them on their way to etcd, and versions on
//! the way back.

/// A revision that no key has.
const NEVER: u64 = i64::MAX as u64;

/// Versions of one prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Versions {
    /// No version of this prefix is as low.
    pub(crate) offset: u64,
}

impl Versions {
    /// The version of a revision. 0, which means none or the newest, stays.
    pub(crate) fn of(self, revision: u64) -> u64 {
        if revision == 0 { 0 } else { revision.saturating_add(self.offset) }
    }

    /// The revision of a version; one that no key has for a version from before the move.
    pub(crate) fn revision(self, version: u64) -> u64 {
        match version.checked_sub(self.offset) {
            _ if version == 0 => 0,
            Some(revision @ 1..) => revision,
            _ => NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_revisions_behind_those_of_before() {
        for (offset, version, revision) in [
            (0, 0, 0),
            (0, 1, 1),
            (0, 7, 7),
            (100, 0, 0),
            (100, 101, 1),
            (100, 107, 7),
            (100, 100, NEVER),
            (100, 1, NEVER),
        ] {
            let versions = Versions { offset };
            assert_eq!(versions.revision(version), revision, "{version} after {offset}");
            if revision != NEVER {
                assert_eq!(versions.of(revision), version, "{revision} after {offset}");
            }
        }
    }
}
