//! The command `orch-codegen`: check schema files, show what is generated from them, start a new one.
//!
//! Exit codes: 0 done, 1 the schema has errors, 2 the command was not understood or could not be carried out.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand, ValueEnum};
use orch_codegen::{
    Folder, Inputs, Loaded,
    diagnostic::machine,
    emit,
    idl::json_schema,
    load,
    package::{self, PackageError},
    scaffold,
};

/// Schema files in, a complete API out: look after the schema files.
#[derive(Debug, Parser)]
#[command(name = "orch-codegen", version)]
struct Arguments {
    /// The folder with the schema files.
    #[arg(long, global = true, value_name = "DIR", default_value = "schema")]
    schema: PathBuf,
    /// A folder whose types may be referred to, with the crate that holds their generated code. Without it,
    /// those are found that the build script of the package around the schema folder imports.
    #[arg(long, global = true, value_name = "CRATE=DIR", value_parser = parse_import)]
    import: Vec<(String, Folder)>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Report everything that is wrong with the schema files.
    Check {
        /// How: for people, or for another program, which finds all of it in the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Print the Rust code that is generated for one kind or type.
    Show {
        /// Its name: `Widget`, or `example.orch.io.v1.Widget`.
        kind: String,
    },
    /// Write a schema file for a new kind.
    New {
        /// Group and version: `example.orch.io/v1`; the core group is `core`.
        group_version: String,
        /// The kind: `Widget`.
        kind: String,
    },
    /// Print the JSON schema of schema files, for editors.
    IdlSchema,
}

/// How diagnostics are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With the lines that they are about.
    Text,
    /// A JSON array.
    Json,
    /// A SARIF log.
    Sarif,
    /// Workflow commands of GitHub.
    Github,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            return misused(text.lines().next().unwrap_or_default().trim_start_matches("error: "));
        }
        Err(help) => {
            print!("{help}");
            return ExitCode::SUCCESS;
        }
    };
    let inputs = || {
        let imports = match &arguments.import[..] {
            [] => package::imports(&arguments.schema)?,
            named => named.to_vec(),
        };
        Ok(Inputs { schema: arguments.schema.clone().into(), imports })
    };
    let misled = |error: PackageError| misused(&error.to_string());
    match &arguments.command {
        Command::Check { format } => inputs().map_or_else(misled, |inputs| check(&inputs, *format)),
        Command::Show { kind } => inputs().map_or_else(misled, |inputs| show(&inputs, kind)),
        Command::New { group_version, kind } => new(&arguments.schema, group_version, kind),
        Command::IdlSchema => {
            print!("{}", json_schema::text());
            ExitCode::SUCCESS
        }
    }
}

fn check(inputs: &Inputs, format: Format) -> ExitCode {
    let loaded = load(inputs);
    let (errors, warnings) = loaded.diagnostics.counts();
    let outcome = if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    match format {
        Format::Text => report(&loaded),
        Format::Json => print!("{}", machine::json(&loaded.diagnostics)),
        Format::Sarif => print!("{}", machine::sarif(&loaded.diagnostics)),
        Format::Github => print!("{}", machine::github(&loaded.diagnostics)),
    }
    if format != Format::Text {
        return outcome;
    }
    let kinds: usize = loaded.model.group_versions.iter().map(|version| version.resources.len()).sum();
    println!(
        "{}: {}, {}, {}, {}",
        inputs.schema.path.display(),
        counted(kinds, "kind"),
        counted(loaded.model.types.len(), "type"),
        counted(errors, "error"),
        counted(warnings, "warning")
    );
    outcome
}

fn show(inputs: &Inputs, kind: &str) -> ExitCode {
    let loaded = load(inputs);
    if loaded.diagnostics.has_errors() {
        report(&loaded);
        return ExitCode::FAILURE;
    }
    match emit::show(&loaded.model, kind) {
        Ok(code) => {
            print!("{code}");
            ExitCode::SUCCESS
        }
        Err(error) => misused(&error.to_string()),
    }
}

fn new(schema: &Path, group_version: &str, kind: &str) -> ExitCode {
    match scaffold::create(schema, group_version, kind) {
        Ok(path) => {
            println!("wrote {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => misused(&error.to_string()),
    }
}

/// Prints what was found to the error stream; nothing for a clean schema.
fn report(loaded: &Loaded) {
    if !loaded.diagnostics.is_empty() {
        eprintln!("{}", loaded.diagnostics.render());
    }
}

/// One line, and the exit code for it.
fn misused(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn parse_import(text: &str) -> Result<(String, Folder), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.to_owned(), folder.into()))
        }
        _ => Err("write CRATE=DIR".to_owned()),
    }
}
