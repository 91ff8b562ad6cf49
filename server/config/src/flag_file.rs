//! `--config FILE`: flags in a YAML file.
//!
//! The file is one mapping. A key is the name of a flag without its dashes; the value is what would stand
//! behind the equals sign, taken as it is typed, or a list where the flag takes several values. The file is
//! right as a whole or refused: an error names the line and the column, counted from 1.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, ArgMatches, Command, error::ContextKind, parser::ValueSource, value_parser};
use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput};

use super::usage::one_line;
use crate::start_error::StartError;

/// The flag that names the file.
pub const CONFIG: &str = "config";

/// Its definition.
pub fn flag(help: &'static str) -> Arg {
    Arg::new(CONFIG).long(CONFIG).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
}

/// The spellings of null in YAML.
const NULLS: &[&str] = &["", "~", "null", "Null", "NULL"];

/// The flags of a file.
#[derive(Debug)]
pub struct FlagFile {
    path: PathBuf,
    settings: Vec<Setting>,
}

/// A flag, the place where it stands, and the arguments that it would be on the command line.
#[derive(Debug)]
struct Setting {
    id: String,
    flag: String,
    place: Place,
    arguments: Vec<OsString>,
}

/// Line and column, counted from 1.
type Place = (usize, usize);

/// What is wrong, and where.
type Fault = (Place, String);

/// The value of a key, each text with its place.
enum Value {
    One(Place, String),
    Many(Place, Vec<(Place, String)>),
}

impl FlagFile {
    /// Reads a file and checks each flag by itself against its definition in `command`.
    pub fn read(path: &Path, command: &Command) -> Result<Self, StartError> {
        let text = orch_settings::read_text_once(path).map_err(|error| {
            StartError::configuration("--config", format_args!("cannot read {}: {error}", path.display()))
        })?;
        match settings(&text, command) {
            Ok(settings) => Ok(FlagFile { path: path.to_owned(), settings }),
            Err((place, problem)) => Err(at(path, place, problem)),
        }
    }

    /// A command line with those flags of the file that `command` knows and that it does not have itself;
    /// `matches` is what was read of it.
    pub fn complete(
        &self,
        arguments: Vec<OsString>,
        command: &Command,
        matches: &ArgMatches,
    ) -> Vec<OsString> {
        let is_missing = |id: &str| {
            command.get_arguments().any(|flag| flag.get_id() == id)
                && matches.value_source(id) != Some(ValueSource::CommandLine)
        };
        let missing = self.settings.iter().filter(|setting| is_missing(&setting.id));
        let missing: Vec<OsString> = missing.flat_map(|setting| setting.arguments.iter().cloned()).collect();
        let mut completed = arguments;
        let program = completed.len().min(1);
        completed.splice(program..program, missing);
        completed
    }

    /// An error about a flag of the file says where it stands there.
    pub fn locate(&self, error: StartError) -> StartError {
        let StartError::Configuration { subject, problem } = &error else { return error };
        match self.settings.iter().find(|setting| setting.flag == *subject) {
            Some(setting) => at(&self.path, setting.place, format!("{subject}: {problem}")),
            None => error,
        }
    }
}

fn at(path: &Path, (line, column): Place, problem: String) -> StartError {
    StartError::configuration(format_args!("{}:{line}:{column}", path.display()), problem)
}

fn settings(text: &str, command: &Command) -> Result<Vec<Setting>, Fault> {
    let mut settings: Vec<Setting> = Vec::new();
    for (place, name, value) in entries(text)? {
        let flag = find(&name, command).map_err(|problem| (place, problem))?;
        if let Some(earlier) = settings.iter().find(|setting| setting.id == flag.get_id().as_str()) {
            return Err((place, format!("{name} is there already, on line {}", earlier.place.0)));
        }
        let mut arguments = Vec::new();
        for (place, argument) in arguments_of(flag, &name, value)? {
            let program = command.get_name();
            let alone = command.clone().try_get_matches_from([program, &argument]);
            alone.map_err(|error| (place, one_line(&error)))?;
            arguments.push(argument.into());
        }
        let id = flag.get_id().to_string();
        settings.push(Setting { id, flag: format!("--{name}"), place, arguments });
    }
    Ok(settings)
}

/// The flag of this name, or what is wrong with the name.
fn find<'c>(name: &str, command: &'c Command) -> Result<&'c Arg, String> {
    let named = |name: &str| command.get_arguments().find(|flag| flag.get_long() == Some(name));
    match named(name) {
        Some(flag) if flag.get_id() == CONFIG => Err(format!("{CONFIG} is for the command line alone")),
        Some(flag) => Ok(flag),
        None => {
            let bare = name.trim_start_matches('-');
            let nearest = named(bare).and_then(Arg::get_long).map(str::to_owned);
            let nearest = nearest.or_else(|| nearest_flag(bare, command));
            let nearest = nearest.map(|flag| format!(" (did you mean {flag}?)")).unwrap_or_default();
            Err(format!("there is no flag {name:?}{nearest}"))
        }
    }
}

/// What the parser of command lines would suggest.
fn nearest_flag(name: &str, command: &Command) -> Option<String> {
    let typed = format!("--{name}");
    let error = command.clone().try_get_matches_from([command.get_name(), &typed]).err()?;
    let suggested = error.get(ContextKind::SuggestedArg)?.to_string();
    Some(suggested.trim_start_matches('-').to_owned())
}

/// The arguments that stand for a value on the command line, each with its place.
fn arguments_of(flag: &Arg, name: &str, value: Value) -> Result<Vec<(Place, String)>, Fault> {
    let argument = |(place, text): (Place, String)| (place, format!("--{name}={text}"));
    match (value, flag.get_action()) {
        (Value::One(place, text), ArgAction::SetTrue) => match text.as_str() {
            "true" => Ok(vec![(place, format!("--{name}"))]),
            "false" => Ok(Vec::new()),
            _ => Err((place, format!("{name} must be true or false"))),
        },
        (Value::One(place, text), _) => Ok(vec![argument((place, text))]),
        (Value::Many(place, texts), ArgAction::Append) if texts.is_empty() => {
            Err((place, format!("the list of {name} is empty")))
        }
        (Value::Many(_, texts), ArgAction::Append) => Ok(texts.into_iter().map(argument).collect()),
        (Value::Many(place, _), _) => Err((place, format!("{name} takes one value, not a list"))),
    }
}

/// The keys of the file with their values, in its order.
fn entries(text: &str) -> Result<Vec<(Place, String, Value)>, Fault> {
    let mut options = Options::default();
    // Other crates may turn them on.
    options.set_emit_comments(false);
    let mut reader = Reader(Parser::new_from_str_with_options(text, options));
    let mut entries = Vec::new();
    match reader.next()? {
        // There is nothing but comments.
        (_, Event::StreamEnd) => return Ok(entries),
        (_, Event::DocumentStart(..)) => {}
        (place, _) => return Err((place, "is not a document".to_owned())),
    }
    match reader.next()? {
        (_, Event::MappingStart(_, _, None)) => {}
        (place, _) => return Err((place, "a mapping of flags is wanted here".to_owned())),
    }
    loop {
        match reader.next()? {
            (_, Event::MappingEnd) => break,
            (place, Event::Scalar(name, _, _, None)) => {
                let name = name.into_owned();
                let value = reader.value(&name)?;
                entries.push((place, name, value));
            }
            (place, _) => return Err((place, "the name of a flag is wanted here".to_owned())),
        }
    }
    let (_end, more) = (reader.next()?, reader.next()?);
    match more {
        (_, Event::StreamEnd) => Ok(entries),
        (place, _) => Err((place, "there is a second document; one is read".to_owned())),
    }
}

/// The events of a text, each with the place where it begins.
struct Reader<'t>(Parser<'t, StrInput<'t>>);

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Place, Event<'t>), Fault> {
        loop {
            match self.0.next() {
                Some(Ok((Event::StreamStart, _))) => {}
                Some(Ok((event, span))) => return Ok(((span.start.line(), span.start.col() + 1), event)),
                Some(Err(error)) => {
                    let place = (error.marker().line(), error.marker().col() + 1);
                    return Err((place, error.info()));
                }
                None => return Ok(((1, 1), Event::StreamEnd)),
            }
        }
    }

    /// The value of the key `name`.
    fn value(&mut self, name: &str) -> Result<Value, Fault> {
        match self.next()? {
            (begin, Event::SequenceStart(_, _, None)) => {
                let mut texts = Vec::new();
                loop {
                    match self.next()? {
                        (_, Event::SequenceEnd) => return Ok(Value::Many(begin, texts)),
                        (place, event) => texts.push((place, scalar(event, name, place)?)),
                    }
                }
            }
            (place, event) => Ok(Value::One(place, scalar(event, name, place)?)),
        }
    }
}

/// The text of a scalar as it is typed; anything else is a fault.
fn scalar(event: Event<'_>, name: &str, place: Place) -> Result<String, Fault> {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, _, None) if NULLS.contains(&&*text) => {
            Err((place, format!("{name} has no value")))
        }
        Event::Scalar(text, _, _, None) => Ok(text.into_owned()),
        Event::Alias(_) => Err((place, "aliases are not read here".to_owned())),
        _ => Err((place, format!("a value or a list of values is wanted for {name}"))),
    }
}

#[cfg(test)]
mod tests;
