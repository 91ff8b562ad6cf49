//! What the program does instead of serving: subcommands, a row each.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::{etcd::EtcdAccess, flag_file, subcommand::Subcommand};

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
    /// To forget the history of the database, and to make its file small.
    Compact(DataDir),
    /// To write the objects of the database as manifests into a file, or to stdout where the file is `-`.
    Export(ExportFlags),
    /// To move the data from SQLite to etcd, or back.
    Move(MoveFlags),
    /// To print the administrator's kubeconfig.
    Kubeconfig(DataDir),
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
    /// The file; - is stdout, or stdin where it is read.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// What to export, and how it is read.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ExportFlags {
    /// Where the database is, and the file to write.
    #[command(flatten)]
    pub to: FileFlags,
    /// The file with the keys of what is kept sealed, as the server has it.
    #[arg(long, value_name = "FILE")]
    pub encryption_provider_config: Option<PathBuf>,
}

/// From where to where the data are moved.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct MoveFlags {
    /// Where the data are: `sqlite:` and the data directory, or `etcd:` and the addresses of members with
    /// commas in between.
    #[arg(long, value_name = "PLACE", value_parser = move_place)]
    pub from: MovePlace,
    /// Where they go, written in the same way. One of the two is etcd. The keys of the servers go with the
    /// data.
    #[arg(long, value_name = "PLACE", value_parser = move_place)]
    pub to: MovePlace,
    /// How etcd is reached.
    #[command(flatten)]
    pub access: EtcdAccess,
    /// The file with the keys of what is kept sealed, as the servers have it.
    #[arg(long, value_name = "FILE")]
    pub encryption_provider_config: Option<PathBuf>,
}

/// A place that has data or gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MovePlace {
    /// The database in a data directory.
    Sqlite(DataDir),
    /// The members of an etcd.
    Etcd(Vec<String>),
}

fn move_place(text: &str) -> Result<MovePlace, &'static str> {
    match text.split_once(':') {
        Some(("sqlite", directory)) if !directory.is_empty() => {
            Ok(MovePlace::Sqlite(DataDir { data_dir: directory.into() }))
        }
        Some(("etcd", servers)) if !servers.is_empty() => {
            Ok(MovePlace::Etcd(servers.split(',').map(str::to_owned).collect()))
        }
        _ => Err("must be sqlite:DIR or etcd:URL,URL"),
    }
}

static SUBCOMMANDS: &[Subcommand<Task>] = &[
    Subcommand {
        name: "check",
        does: "Checks the database",
        details: "its pages, the checksum of every row, and whether everything is there that was acknowledged. \
                  Changes nothing. Exit code 0 where all is well, 1 where it is not, 2 where there is no \
                  database",
        arguments: DataDir::augment_args,
        read: |matches| DataDir::from_arg_matches(matches).map(Task::Check),
    },
    Subcommand {
        name: "repair",
        does: "Makes a new database of every row that can be read",
        details: "names what is lost, and keeps the old files. Rows stay damaged whose object is known and \
                  whose value is not; `check` names them afterwards too. The server must not be running. Exit \
                  code 0 where there is a database of what could be read now, 1 where there is not, 2 where \
                  nothing was done",
        arguments: RepairFlags::augment_args,
        read: |matches| RepairFlags::from_arg_matches(matches).map(Task::Repair),
    },
    Subcommand {
        name: "backup",
        does: "Copies the database into a new file (- for stdout)",
        details: "as it is at one moment, and checks the copy. The server may be running. Exit code 0 where \
                  there is a sound copy now, 1 where there is not, 2 where nothing was done",
        arguments: FileFlags::augment_args,
        read: |matches| FileFlags::from_arg_matches(matches).map(Task::Backup),
    },
    Subcommand {
        name: "restore",
        does: "Makes the database of a copy",
        details: "of the server, which must not be running; there must be no database yet. Clients get a new \
                  history: no version comes twice. Exit code 0 where there is a database now, 1 where there \
                  is not, 2 where nothing was done",
        arguments: FileFlags::augment_args,
        read: |matches| FileFlags::from_arg_matches(matches).map(Task::Restore),
    },
    Subcommand {
        name: "compact",
        does: "Forgets the history of the database and makes its file small",
        details: "objects and their versions stay, and clients that know earlier versions list again. The server \
                  must not be running; a running one forgets by itself what is older than \
                  --history-retention. Exit code 0 where it is done, 1 where it is not, 2 where there is no \
                  database",
        arguments: DataDir::augment_args,
        read: |matches| DataDir::from_arg_matches(matches).map(Task::Compact),
    },
    Subcommand {
        name: "export",
        does: "Writes all objects as manifests into a new file (- for stdout)",
        details: "JSON, one object in each line, as they are at one moment. The server may be \
                  running. Left out are the uid, version, times, generation, managed fields and status of each \
                  object, and objects that are being deleted. Secrets are written as they are. Exit code 0 \
                  where all objects are written, 1 where some cannot be read, 2 where nothing was done",
        arguments: ExportFlags::augment_args,
        read: |matches| ExportFlags::from_arg_matches(matches).map(Task::Export),
    },
    Subcommand {
        name: "migrate-storage",
        does: "Moves the data from SQLite to etcd, or back",
        details: "with the identity of the data and the keys of the servers. All objects are read again and \
                  compared. Versions go on above all that were given out, and clients list again. No server \
                  must be running; the place that the data come from stays as it is, and must not be served \
                  any more. Exit code 0 where all is moved, 1 where it is not, 2 where nothing was done",
        arguments: MoveFlags::augment_args,
        read: |matches| MoveFlags::from_arg_matches(matches).map(Task::Move),
    },
    Subcommand {
        name: "kubeconfig",
        does: "Prints the administrator's kubeconfig",
        details: "the file in the data directory, for images without a shell. Exit code 0 where it is printed, 2 \
                  where there is none yet",
        arguments: DataDir::augment_args,
        read: |matches| DataDir::from_arg_matches(matches).map(Task::Kubeconfig),
    },
];

/// The subcommands that are tasks.
pub(super) fn commands() -> impl Iterator<Item = Command> {
    SUBCOMMANDS.iter().map(Subcommand::command)
}

/// One of these subcommands.
pub(super) fn command(name: &str) -> Command {
    find(name).command()
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SUBCOMMANDS.iter().map(|subcommand| subcommand.name)
}

/// The task of one of these subcommands.
pub(super) fn read(name: &str, matches: &ArgMatches) -> Result<Task, clap::Error> {
    (find(name).read)(matches)
}

fn find(name: &str) -> &'static Subcommand<Task> {
    let subcommand = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name);
    subcommand.expect("the parser accepts only subcommands that there are")
}

impl Subcommand<Task> {
    fn command(&self) -> Command {
        let config = flag_file::flag(
            "The file with the flags of the server, in YAML. What concerns the command is taken of it; flags on \
             the command line count instead",
        );
        self.complete(Command::new(self.name)).arg(config)
    }
}

#[cfg(test)]
mod tests;
