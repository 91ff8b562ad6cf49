//! Subcommands that need the kinds of a server, and so take its flags, but answer no requests: a row each.

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches, ValueEnum};

use crate::subcommand::{Read, Subcommand};

/// What to do with the kinds of a server instead of serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// To create the objects of a file of manifests.
    Import(ImportFlags),
    /// To write every object in its storage version.
    Migrate,
    /// To say what a server says of manifests.
    Validate(ValidateFlags),
    /// To write manifests in another version.
    Convert(ConvertFlags),
}

/// What to create.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ImportFlags {
    /// The manifests; - is stdin.
    #[arg(value_name = "FILE")]
    pub manifests: PathBuf,
}

/// Which manifests are judged.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ValidateFlags {
    /// The manifests, YAML or JSON; - is stdin.
    #[arg(short = 'f', long = "filename", value_name = "FILE", num_args = 1.., required = true)]
    pub files: Vec<PathBuf>,
    /// How verdicts are printed: for people, or as one JSON object in each line, with the Status that a
    /// client gets.
    #[arg(short = 'o', long, value_enum, value_name = "FORM", default_value = "text")]
    pub output: VerdictForm,
}

/// How verdicts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerdictForm {
    /// A line for each fault.
    Text,
    /// A line of JSON for each object.
    Json,
}

/// Which manifests are converted.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ConvertFlags {
    /// The manifests, YAML or JSON; - is stdin.
    #[arg(short = 'f', long = "filename", value_name = "FILE", num_args = 1.., required = true)]
    pub files: Vec<PathBuf>,
    /// The version to write: group/version.
    #[arg(long, value_name = "VERSION")]
    pub output_version: String,
    /// How objects are printed: as documents of YAML, or as one JSON object in each line.
    #[arg(short = 'o', long, value_enum, value_name = "FORM", default_value = "yaml")]
    pub output: ObjectForm,
}

/// How objects are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ObjectForm {
    /// Documents.
    Yaml,
    /// Lines.
    Json,
}

static SUBCOMMANDS: &[Subcommand<Work>] = &[
    Subcommand {
        name: "import",
        does: "Creates the objects of a file of manifests (- for stdin)",
        details: "in the data directory of a server that does not run, with all checks of a create. The flags \
                  are those of the server. The file is YAML or JSON, such as `export` writes. Owner references \
                  are made anew by the names of the owners, and owners are created first. Objects that are \
                  there already stay as they are. Exit code 0 where every object is there now, 1 where some \
                  are refused, 2 where nothing was done",
        arguments: ImportFlags::augment_args,
        read: |matches| ImportFlags::from_arg_matches(matches).map(Work::Import),
    },
    Subcommand {
        name: "migrate",
        does: "Writes every object in the version in which it is stored now",
        details: "in the data directory of a server that does not run, and under the newest key. The flags are \
                  those of the server. A program can do without an older version of a kind when nothing is \
                  stored in it any more, and its history is forgotten (`compact`). One that was killed goes \
                  on when it is called again. Exit code 0 where every object is in its version now, 1 where \
                  some are refused or cannot be read, 2 where nothing was done",
        arguments: |command| command,
        read: |_| Ok(Work::Migrate),
    },
    Subcommand {
        name: "validate",
        does: "Says what a server says of manifests",
        details: "each object as if it were created with strict field validation, in words that are those of a \
                  server with the same flags. No server and no data directory is needed, and nothing is \
                  stored: namespaces are taken to be there, and objects do not see each other. Exit code 0 \
                  where all objects are valid, 1 where some are not, 2 where a file cannot be read",
        arguments: ValidateFlags::augment_args,
        read: |matches| ValidateFlags::from_arg_matches(matches).map(Work::Validate),
    },
    Subcommand {
        name: "convert",
        does: "Writes manifests in another version of their kinds",
        details: "to stdout, as the server converts objects. No server and no data directory is needed. Objects \
                  of other groups stay as they are, defaults are not filled in, and no rule is checked. Exit \
                  code 0 where all objects are written, 1 where some cannot be converted, 2 where a file \
                  cannot be read or no kind has the version",
        arguments: ConvertFlags::augment_args,
        read: |matches| ConvertFlags::from_arg_matches(matches).map(Work::Convert),
    },
];

/// These subcommands, made of commands that take the flags of a server.
pub(super) fn commands(of_flags: &dyn Fn(&'static str) -> Command) -> Vec<Command> {
    SUBCOMMANDS.iter().map(|subcommand| subcommand.complete(of_flags(subcommand.name))).collect()
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SUBCOMMANDS.iter().map(|subcommand| subcommand.name)
}

/// The subcommand of a name, if it is one of these, and how what it is to do is read.
pub(super) fn find(name: &str, of_flags: &dyn Fn(&'static str) -> Command) -> Option<(Command, Read<Work>)> {
    let subcommand = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name)?;
    Some((subcommand.complete(of_flags(subcommand.name)), subcommand.read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Invocation, parse};
    use orch_test_catalog::{KUBERNETES, ORCH};

    fn read(arguments: &[&str]) -> (Box<Config>, Work) {
        let flags = ["--data-dir=d", "--vocabulary=kubernetes"];
        match parse(["orch-apiserver"].iter().chain(arguments).chain(&flags), &[&ORCH, &KUBERNETES]) {
            Ok(Invocation::Work(config, work)) => (config, work),
            other => panic!("{arguments:?}: {other:?}"),
        }
    }

    #[test]
    fn they_take_the_flags_of_a_server() {
        let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let (text, json) = (VerdictForm::Text, VerdictForm::Json);
        let version = || "a.b/v2".to_owned();
        for (arguments, expected) in [
            (&["import", "f"][..], Work::Import(ImportFlags { manifests: "f".into() })),
            (&["migrate"], Work::Migrate),
            (
                &["validate", "-f", "a", "b", "--filename=-"],
                Work::Validate(ValidateFlags { files: files(&["a", "b", "-"]), output: text }),
            ),
            (
                &["validate", "-f", "a", "-ojson"],
                Work::Validate(ValidateFlags { files: files(&["a"]), output: json }),
            ),
            (
                &["convert", "-f", "a", "--output-version", "a.b/v2"],
                Work::Convert(ConvertFlags {
                    files: files(&["a"]),
                    output_version: version(),
                    output: ObjectForm::Yaml,
                }),
            ),
        ] {
            let (config, work) = read(arguments);
            assert_eq!(work, expected);
            assert_eq!((config.storage.data_dir, config.vocabulary.name), ("d".into(), "kubernetes"));
        }
    }
}
