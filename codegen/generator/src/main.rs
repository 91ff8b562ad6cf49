//! The command `orch-codegen`: check schema files, show what is generated from them, start a new one, find
//! changes that break clients.
//!
//! Exit codes: 0 done, 1 the schema has errors or a change breaks clients, 2 the command was not understood
//! or could not be carried out; for `diff` and `lock` also: one of the two sides has errors.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand, ValueEnum, error::ErrorKind};
use orch_codegen::{
    Folder, Inputs, Loaded,
    diagnostic::{Diagnostics, machine},
    diff::{self, Allowance, Judged},
    driver, emit,
    explain::{self, Entry},
    export::{self, Form},
    functions,
    idl::json_schema,
    load, lsp,
    package::{self, PackageError},
    reference, scaffold, watch,
};
use orch_runtime::vocabulary::SCHEMA_SUFFIX;

mod usage;

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
        /// Check again whenever a file changes, and report what is new and what is gone; Ctrl-C ends it.
        #[arg(long, conflicts_with = "format")]
        watch: bool,
    },
    /// Speak to an editor over stdin and stdout, in the language server protocol.
    Lsp,
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
    /// Check manifests by the rules of the server, whose program is built and run for it.
    Validate(OfServer),
    /// Write manifests in another version of their kinds, by that program.
    Convert(OfServer),
    /// Print the JSON schema of schema files, for editors.
    IdlSchema,
    /// Print the kinds and types for other tools.
    Export {
        /// For which.
        #[arg(value_enum)]
        form: ExportForm,
        /// The suffix of groups that end in `orch.io`: `k8s.io` where the server runs with `--vocabulary
        /// kubernetes`.
        #[arg(long, value_name = "SUFFIX", default_value = SCHEMA_SUFFIX)]
        group_suffix: String,
    },
    /// Write a reference page for each kind, and an index.
    Docs {
        /// The folder to write to.
        folder: PathBuf,
        /// The form of the pages.
        #[arg(long, value_enum, default_value_t = PageFormat::Markdown)]
        format: PageFormat,
    },
    /// Say what an error or a breaking change means, and what to do about it.
    Explain {
        /// Its code: `E0121`, `B201`. Without it all codes are listed.
        code: Option<String>,
    },
    /// Find changes that break clients, by the deprecation policy.
    Diff {
        /// The state before: a schema folder, or a lock.
        old: PathBuf,
        /// The state now; the folder of --schema where it is not given.
        new: Option<PathBuf>,
        /// How: for people, or for another program, which finds all of it in the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// A change that is accepted, everywhere or at one place, and why.
        #[arg(long, value_name = "CODE[@PLACE]=REASON")]
        allow: Vec<Allowance>,
    },
    /// Write down what the schema files promise, in `schema.lock.json` beside them, to compare with later.
    Lock {
        /// A change since the last lock that is accepted, and why; it stays recorded.
        #[arg(long, value_name = "CODE[@PLACE]=REASON")]
        allow: Vec<Allowance>,
    },
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

/// What `export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportForm {
    /// `CustomResourceDefinition`s.
    Crd,
    /// A JSON schema for the objects of all kinds.
    JsonSchema,
    /// Interfaces of TypeScript.
    Typescript,
}

/// How `docs` writes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PageFormat {
    /// Markdown, with tables.
    Markdown,
    /// HTML, without scripts.
    Html,
}

/// What the server's program is told.
#[derive(Debug, Args)]
struct OfServer {
    /// The flags of the server's command of the same name, such as `-f FILE`.
    #[arg(required = true, allow_hyphen_values = true, trailing_var_arg = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return misused("no command is given; --help lists all commands");
        }
        Err(error) if error.use_stderr() => return misused(&usage::one_line(&error)),
        Err(help) => {
            print_out(&help.to_string());
            return ExitCode::SUCCESS;
        }
    };
    let inputs = || inputs_of(&arguments, &arguments.schema);
    let misled = |error: PackageError| misused(&error.to_string());
    match &arguments.command {
        Command::Check { watch: true, .. } => inputs().map_or_else(misled, |inputs| watch(&inputs)),
        Command::Check { format, .. } => inputs().map_or_else(misled, |inputs| check(&inputs, *format)),
        Command::Lsp => match lsp::serve(&arguments.import) {
            Ok(outcome) => outcome,
            Err(error) => misused(&format!("cannot speak to the editor: {error}")),
        },
        Command::Show { kind } => inputs().map_or_else(misled, |inputs| show(&inputs, kind)),
        Command::New { group_version, kind } => new(&arguments.schema, group_version, kind),
        Command::Validate(of) => of_server(&arguments.schema, "validate", of),
        Command::Convert(of) => of_server(&arguments.schema, "convert", of),
        Command::IdlSchema => {
            print_out(&json_schema::text());
            ExitCode::SUCCESS
        }
        Command::Export { form, group_suffix } => {
            inputs().map_or_else(misled, |inputs| export(&inputs, *form, group_suffix))
        }
        Command::Docs { folder, format } => {
            inputs().map_or_else(misled, |inputs| docs(&inputs, folder, *format))
        }
        Command::Explain { code: Some(code) } => match explain::entry(code) {
            Some(Entry { code, title, text }) => {
                print_out(&format!("{code}: {title}\n\n{text}\n"));
                ExitCode::SUCCESS
            }
            None => misused(&format!("nothing has the code {code}")),
        },
        Command::Explain { code: None } => {
            let line = |Entry { code, title, .. }: Entry| format!("{code}: {title}\n");
            print_out(&explain::entries().map(line).collect::<String>());
            ExitCode::SUCCESS
        }
        Command::Diff { old, new, format, allow } => {
            let new = new.as_ref().unwrap_or(&arguments.schema);
            let sides =
                inputs_of(&arguments, new).and_then(|new| Ok((old_inputs(&arguments, old, &new)?, new)));
            sides.map_or_else(misled, |(old, new)| diff(&old, &new, *format, allow))
        }
        Command::Lock { allow } => inputs().map_or_else(misled, |inputs| lock(&inputs, allow)),
    }
}

/// A folder or lock, with the imports that are named or that its package has.
fn inputs_of(arguments: &Arguments, schema: &Path) -> Result<Inputs, PackageError> {
    let imports = match &arguments.import[..] {
        [] => package::imports(schema)?,
        named => named.to_vec(),
    };
    Ok(Inputs { schema: schema.into(), imports })
}

/// The state before. A folder that was taken out of its package has the imports of the one that is in it; a
/// lock needs none.
fn old_inputs(arguments: &Arguments, old: &Path, new: &Inputs) -> Result<Inputs, PackageError> {
    if old.is_file() {
        return Ok(Inputs { schema: old.into(), imports: Vec::new() });
    }
    let mut inputs = inputs_of(arguments, old)?;
    if inputs.imports.is_empty() {
        inputs.imports.clone_from(&new.imports);
    }
    Ok(inputs)
}

fn of_server(schema: &Path, command: &str, OfServer { flags }: &OfServer) -> ExitCode {
    let arguments: Vec<String> = [command.to_owned()].into_iter().chain(flags.iter().cloned()).collect();
    match package::run(schema, &arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => misused(&error.to_string()),
    }
}

fn check(inputs: &Inputs, format: Format) -> ExitCode {
    let mut loaded = load(inputs);
    functions::check(&loaded.model, &package::sources(&inputs.schema.path), &mut loaded.diagnostics);
    print_as(&loaded.diagnostics, format);
    if format == Format::Text {
        print_out(&checked(inputs, &loaded));
    }
    if loaded.diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn watch(inputs: &Inputs) -> ExitCode {
    watch::watch(inputs, &package::sources(&inputs.schema.path), |loaded, changes| {
        eprint!("{changes}");
        print_out(&checked(inputs, loaded));
    })
}

/// What there is in the schema files, in one line.
fn checked(inputs: &Inputs, loaded: &Loaded) -> String {
    // What is imported is somebody else's.
    let own = || loaded.model.group_versions.iter().filter(|version| version.in_folder);
    let kinds: usize = own().map(|version| version.resources.len()).sum();
    let types: usize = own().map(|version| version.types.len()).sum();
    let (errors, warnings) = loaded.diagnostics.counts();
    format!(
        "{}: {}, {}, {}, {}\n",
        inputs.schema.path.display(),
        counted(kinds, "kind"),
        counted(types, "type"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )
}

fn show(inputs: &Inputs, kind: &str) -> ExitCode {
    let loaded = load(inputs);
    if loaded.diagnostics.has_errors() {
        report(&loaded.diagnostics);
        return ExitCode::FAILURE;
    }
    match emit::show(&loaded.model, kind) {
        Ok(code) => {
            print_out(&code);
            ExitCode::SUCCESS
        }
        Err(error) => misused(&error.to_string()),
    }
}

fn export(inputs: &Inputs, form: ExportForm, group_suffix: &str) -> ExitCode {
    let loaded = load(inputs);
    if loaded.diagnostics.has_errors() {
        report(&loaded.diagnostics);
        return ExitCode::FAILURE;
    }
    let form = match form {
        ExportForm::Crd => Form::Crd,
        ExportForm::JsonSchema => Form::JsonSchema,
        ExportForm::Typescript => Form::Typescript,
    };
    print_out(&export::export(&loaded.model, form, group_suffix));
    ExitCode::SUCCESS
}

fn docs(inputs: &Inputs, folder: &Path, format: PageFormat) -> ExitCode {
    let loaded = load(inputs);
    if loaded.diagnostics.has_errors() {
        report(&loaded.diagnostics);
        return ExitCode::FAILURE;
    }
    let format = match format {
        PageFormat::Markdown => reference::Format::Markdown,
        PageFormat::Html => reference::Format::Html,
    };
    let pages = reference::pages(&loaded.model, format);
    match driver::write(&pages, folder) {
        Ok(()) => {
            println!("wrote {} to {}", counted(pages.len(), "page"), folder.display());
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

fn diff(old: &Inputs, new: &Inputs, format: Format, allowed: &[Allowance]) -> ExitCode {
    let mut found = Diagnostics::default();
    let states = (diff::state(old, &mut found), diff::state(new, &mut found));
    let (Some(before), Some(now)) = states else {
        print_as(&found, format);
        return ExitCode::from(2);
    };
    let judged = diff::judge(diff::compare(&before, &now), allowed, found);
    print_as(&judged.diagnostics, format);
    let breaking = judged.diagnostics.counts().0;
    if format == Format::Text {
        let (old, new) = (old.schema.path.display(), new.schema.path.display());
        println!("{old} -> {new}: {}", summary(&judged));
    }
    if breaking > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn lock(inputs: &Inputs, allowed: &[Allowance]) -> ExitCode {
    let mut found = Diagnostics::default();
    let Some(state) = diff::state(inputs, &mut found) else {
        report(&found);
        return ExitCode::from(2);
    };
    let path = inputs.schema.path.join(diff::lock::FILE);
    match diff::write_lock(state, &path, allowed, found) {
        Ok(judged) => {
            report(&judged.diagnostics);
            if judged.diagnostics.has_errors() {
                println!("{} stays as it was: {}", path.display(), summary(&judged));
                return ExitCode::FAILURE;
            }
            println!("wrote {}: {}", path.display(), summary(&judged));
            ExitCode::SUCCESS
        }
        Err(error) => misused(&format!("cannot write {}: {error}", path.display())),
    }
}

fn summary(judged: &Judged) -> String {
    let breaking = counted(judged.diagnostics.counts().0, "breaking change");
    format!("{breaking}, {} allowed", judged.accepted.len())
}

/// Prints a long text. Who reads the first lines of it alone closes the pipe, which is no fault.
fn print_out(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints what was found as it is asked for.
fn print_as(found: &Diagnostics, format: Format) {
    match format {
        Format::Text => report(found),
        Format::Json => print_out(&machine::json(found)),
        Format::Sarif => print_out(&machine::sarif(found)),
        Format::Github => print_out(&machine::github(found)),
    }
}

/// Prints what was found to the error stream; nothing for a clean schema.
fn report(found: &Diagnostics) {
    if !found.is_empty() {
        eprintln!("{}", found.render());
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
