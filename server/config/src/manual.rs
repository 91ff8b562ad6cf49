//! What is made of the definition of all flags besides help: completions for shells, and manual pages.

use clap::{Arg, ArgMatches, Command, builder::PossibleValuesParser, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";
const SHELL: &str = "shell";
const SUBCOMMAND: &str = "subcommand";

/// The subcommands that print it. `others` are the names of those that have a page of their own.
pub fn commands(others: impl Iterator<Item = &'static str>) -> [Command; 2] {
    let shell = Arg::new(SHELL).value_name("SHELL").help("The shell that is to read it");
    let subcommand = Arg::new(SUBCOMMAND).value_name("SUBCOMMAND").help("Whose page it is to be");
    [
        Command::new(COMPLETIONS)
            .about("Prints what a shell needs to complete flags and their values")
            .arg(shell.required(true).value_parser(value_parser!(Shell))),
        Command::new(MAN)
            .about("Prints the manual page, or that of a subcommand")
            .arg(subcommand.value_parser(PossibleValuesParser::new(others))),
    ]
}

/// What one of these subcommands prints about `command`; `None` if `name` is another one.
pub fn text(name: &str, matches: &ArgMatches, mut command: Command) -> Option<String> {
    let text = match name {
        COMPLETIONS => {
            let shell = matches.get_one::<Shell>(SHELL).expect("the argument is required");
            completions(*shell, &mut command)
        }
        MAN => {
            command.build();
            let subcommand = matches.get_one::<String>(SUBCOMMAND);
            let of = subcommand.map(|name| {
                command.find_subcommand(name).cloned().expect("the parser accepts only these subcommands")
            });
            page(of.unwrap_or(command))
        }
        _ => return None,
    };
    Some(String::from_utf8(text).expect("it is made of text"))
}

fn completions(shell: Shell, command: &mut Command) -> Vec<u8> {
    let program = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, command, &program, &mut text);
    if shell != Shell::Bash {
        return text;
    }
    // The generator has two names for a program with a dash, so that nothing after a subcommand would be
    // completed.
    let text = String::from_utf8(text).expect("it is made of text");
    let [defined, called] = ["__subcmd__", "__"].map(|dash| program.replace('-', dash));
    text.replace(&defined, &called).into_bytes()
}

fn page(command: Command) -> Vec<u8> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text).expect("a vector takes what is written");
    text
}

#[cfg(test)]
mod tests;
