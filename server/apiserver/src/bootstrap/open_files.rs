//! How many files and sockets the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no connections: the database, the log, certificates while they are read, and those that
/// serve the process itself.
const RESERVED: u64 = 100;

/// Raises the limit to what the system allows this process. Many systems start programs with 1,024, because
/// old programs cannot count further.
pub fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, ?current, ?maximum, "cannot raise the limit of open files");
    }
}

/// How many of the `wanted` connections the limit allows; at least 1.
pub fn affordable_connections(wanted: u32) -> u32 {
    let files = getrlimit(Resource::Nofile).current;
    let connections = affordable(wanted, files);
    if connections < wanted {
        tracing::warn!(open_files = files, connections, wanted, "too few open files for all connections");
    }
    connections
}

fn affordable(wanted: u32, files: Option<u64>) -> u32 {
    let Some(files) = files else { return wanted };
    // A third where that is less: somebody who allows a hundred files wants a server all the same.
    let connections = files - RESERVED.min(files / 3);
    u32::try_from(connections).unwrap_or(u32::MAX).clamp(1, wanted)
}

#[cfg(test)]
mod tests {
    use super::affordable;

    #[test]
    fn connections_leave_files_for_the_server() {
        for (wanted, files, expected) in [
            (20_000, None, 20_000),
            (20_000, Some(1 << 20), 20_000),
            (20_000, Some(1024), 924),
            (20, Some(1024), 20),
            (20_000, Some(100), 67),
            (20_000, Some(1), 1),
            (20_000, Some(0), 1),
        ] {
            assert_eq!(affordable(wanted, files), expected, "{wanted} {files:?}");
        }
    }
}
