//! What the program does instead of serving: subcommands, a row each.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    path::PathBuf,
};

use clap::Args;

/// What to do instead of serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// To check the database of a data directory.
    Check(DataDir),
    /// To make a new database of what can be read of a damaged one.
    Repair(RepairFlags),
    /// To copy the database into a file, or to stdout where the file is `-`.
    Backup(FileFlags),
    /// To make a database of such a copy.
    Restore(FileFlags),
}

/// The directory in which the database is.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    /// Directory of the database.
    #[arg(long, value_name = "DIR", default_value = "orch-data")]
    pub data_dir: PathBuf,
}

/// How to repair.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct RepairFlags {
    /// Where the database is.
    #[command(flatten)]
    pub at: DataDir,
    /// The vocabulary that the database was made with; needed only where it cannot be read any more.
    #[arg(long, value_name = "NAME")]
    pub vocabulary: Option<String>,
}

/// Which file to write or read.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct FileFlags {
    /// Where the database is.
    #[command(flatten)]
    pub at: DataDir,
    /// The copy.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// A name, what it does, and how the arguments behind it are read.
struct Subcommand {
    name: &'static str,
    about: &'static str,
    parse: fn(&Subcommand, &[OsString]) -> Result<Task, clap::Error>,
}

static SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "check",
        about: "Checks the database: its pages, the checksum of every row, and whether everything is there that \
                was acknowledged. Changes nothing. Exit code 0 where all is well, 1 where it is not, 2 where \
                there is no database",
        parse: |this, arguments| read(this, arguments, Task::Check),
    },
    Subcommand {
        name: "repair",
        about: "Makes a new database of every row that can be read, names what is lost, and keeps the old files. \
                The server must not be running",
        parse: |this, arguments| read(this, arguments, Task::Repair),
    },
    Subcommand {
        name: "backup",
        about: "Copies the database into a new file (- for stdout), as it is at one moment, and checks the copy. \
                The server may be running",
        parse: |this, arguments| read(this, arguments, Task::Backup),
    },
    Subcommand {
        name: "restore",
        about: "Makes the database of a copy. The server must not be running, and there must be no database yet. \
                Clients get a new history: no version comes twice",
        parse: |this, arguments| read(this, arguments, Task::Restore),
    },
];

/// The task of a command line whose first argument names one, and nothing where it names none.
pub(super) fn parse(arguments: &[OsString]) -> Option<Result<Task, clap::Error>> {
    let name = arguments.get(1)?;
    let subcommand = SUBCOMMANDS.iter().find(|subcommand| OsStr::new(subcommand.name) == name)?;
    Some((subcommand.parse)(subcommand, &arguments[1..]))
}

/// What `--help` says about them.
pub(super) fn listing() -> String {
    let mut listing = String::from("Subcommands (each has its own --help):\n");
    for Subcommand { name, about, .. } in SUBCOMMANDS {
        let first = about.split([':', '.', ',']).next().unwrap_or(about);
        let _ = writeln!(listing, "  {name:<9}{first}");
    }
    listing
}

fn read<F: Args + clap::FromArgMatches>(
    subcommand: &Subcommand,
    arguments: &[OsString],
    task: fn(F) -> Task,
) -> Result<Task, clap::Error> {
    let command = clap::Command::new(subcommand.name).bin_name(format!("orch-apiserver {}", subcommand.name));
    // Last, because the description of the type of the arguments would take its place.
    let command = F::augment_args(command).about(subcommand.about);
    let matches = command.try_get_matches_from(arguments)?;
    Ok(task(F::from_arg_matches(&matches)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_says_what_a_subcommand_does() {
        for subcommand in SUBCOMMANDS {
            let arguments = ["orch-apiserver", subcommand.name, "--help"].map(OsString::from);
            let help = parse(&arguments).unwrap().unwrap_err().to_string();
            let begin: String = subcommand.about.chars().take(40).collect();
            assert!(help.starts_with(&begin), "{help}");
        }
    }
}
