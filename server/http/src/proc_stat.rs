//! What Linux says of a process or a thread in a file `stat` (`proc_pid_stat(5)`).

use std::{fs, path::Path};

/// Linux counts processor time in these, whatever the machine.
const TICKS_PER_SECOND: f64 = 100.0;

/// So many ticks in seconds.
pub fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_SECOND
}

/// A process or a thread.
#[derive(Debug, PartialEq)]
pub struct Stat {
    /// Its name.
    pub name: String,
    /// One letter.
    pub state: String,
    /// Its time in the program and in the system.
    pub ticks: [u64; 2],
}

impl Stat {
    /// Reads the file in the directory of a process or of a thread, unless it has ended meanwhile.
    pub fn read(directory: &Path) -> Option<Self> {
        Stat::parse(&fs::read_to_string(directory.join("stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name may hold anything, also brackets.
        let (head, rest) = stat.rsplit_once(") ")?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let ticks = |index: usize| fields.get(index)?.parse().ok();
        Some(Stat {
            name: name.to_owned(),
            state: (*fields.first()?).to_owned(),
            ticks: [ticks(11)?, ticks(12)?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_read_whatever_its_name() {
        let stat = "7 (a) (b) S 1 7 7 0 -1 4194560 1 0 0 0 31 12 0 0 20 0 4 0 99 1 2 3\n";
        let expected = Stat { name: "a) (b".to_owned(), state: "S".to_owned(), ticks: [31, 12] };
        assert_eq!(Stat::parse(stat), Some(expected));
        for stat in ["", "7 (a", "7 (a) S 1 2"] {
            assert_eq!(Stat::parse(stat), None, "{stat}");
        }
    }
}
