//! A subcommand of the program, as a row of a table.

use clap::{ArgMatches, Command};

/// A name, what it does, its own arguments, and how what it is to do is read.
pub struct Subcommand<T> {
    pub name: &'static str,
    pub does: &'static str,
    pub details: &'static str,
    pub arguments: fn(Command) -> Command,
    pub read: Read<T>,
}

/// How what a subcommand is to do is read.
pub type Read<T> = fn(&ArgMatches) -> Result<T, clap::Error>;

impl<T> Subcommand<T> {
    /// Completes a command of this name.
    pub fn complete(&self, command: Command) -> Command {
        let Self { does, details, arguments, .. } = self;
        // The texts last, because the description of the type of the arguments would take their place.
        arguments(command).about(*does).long_about(format!("{does}: {details}"))
    }
}
