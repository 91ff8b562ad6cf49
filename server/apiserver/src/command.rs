//! From the command line to a running server: the whole of a `main`.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use orch_runtime::{resource_def::GroupVersionDef, vocabulary::Vocabulary};

use crate::{
    bootstrap::{
        self,
        logging::{self, LostLines},
        service_manager, signals,
    },
    config::{self, Config, DataDir, Invocation, LogFormat, Task},
    server::{Imported, Migrated, Server, manifests},
    start_error::StartError,
};

/// How long the server may take to close its store when all requests are finished or cut off.
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// The `main` of a server for these resources, without behaviour of its own. See [`run`].
pub fn main_with(
    tables: &[&'static [&'static GroupVersionDef]],
    vocabularies: &[&'static Vocabulary],
) -> ExitCode {
    run(vocabularies, |server| server.resources(tables.iter().copied().flatten().copied()))
}

/// Reads the command line, lets `complete` add to the server (resources, behaviour, controllers ...), and
/// serves until it is told to stop. Returns the exit code: 0 after a requested shutdown, 2 for an error in
/// the configuration, 1 for other errors. At least one vocabulary is required; the first is the default.
pub fn run(vocabularies: &[&'static Vocabulary], complete: impl FnOnce(Server) -> Server) -> ExitCode {
    let (mut log, mut logs_json) = (None, false);
    let outcome = match config::parse(std::env::args_os(), vocabularies) {
        Ok(Invocation::Show(text)) => {
            // A closed pipe is no error: nobody wants to read the text.
            let _ = io::stdout().write_all(text.as_bytes());
            Ok(())
        }
        Ok(Invocation::Perform(task)) => bootstrap::perform(&task),
        Ok(Invocation::Import(config, file)) => import(*config, &file, complete),
        Ok(Invocation::Migrate(config)) => migrate(*config, complete),
        Ok(Invocation::Serve(config)) if config.storage.self_check => {
            bootstrap::perform(&Task::Check(DataDir { data_dir: config.storage.data_dir }))
        }
        Ok(Invocation::Serve(config)) => {
            logs_json = config.logging.format == LogFormat::Json;
            let log = log.insert(logging::start(&config.logging));
            serve(*config, log.lost_lines(), complete)
        }
        Err(error) => Err(error),
    };
    if let Err(error) = &outcome
        && logs_json
    {
        tracing::error!("{error}");
    }
    if let Some(log) = log {
        log.flush();
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !logs_json {
                // Where nobody can read it, the exit code has to do.
                let _ = writeln!(io::stderr(), "{}: {error}", program_name());
            }
            error.exit_code()
        }
    }
}

fn serve(
    config: Config,
    lost_lines: LostLines,
    complete: impl FnOnce(Server) -> Server,
) -> Result<(), StartError> {
    let serving = &config.serving;
    let patience = serving.shutdown_delay + serving.shutdown_grace_period + CLOSING_TIME;
    let runtime = runtime()?;
    let mut server = complete(Server::builder(config)).count_lost_lines(lost_lines);
    if let Some(socket) = service_manager::socket()? {
        server = server.socket(socket);
    }
    let outcome = runtime.block_on(signals::run_until_told(|stopping| server.run(stopping), patience));
    // Tasks may hang where the shutdown was cut short. They end with the process.
    runtime.shutdown_background();
    outcome
}

/// Creates the objects of a file, and prints what came of it.
fn import(config: Config, file: &Path, complete: impl FnOnce(Server) -> Server) -> Result<(), StartError> {
    let text =
        if file == Path::new("-") { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
    let unreadable =
        |error| StartError::configuration(file.display(), format_args!("cannot read it: {error}"));
    let manifests = manifests(&text.map_err(unreadable)?);
    let manifests = manifests.map_err(|problem| StartError::configuration(file.display(), problem))?;
    let imported = runtime()?.block_on(complete(Server::builder(config)).import(manifests))?;
    let Imported { created, existing, without_owner, refused } = imported;
    let mut text = format!("{created} objects are created\n");
    for (what, objects) in [
        ("there already", &existing),
        ("without an owner that is not here", &without_owner),
        ("refused", &refused),
    ] {
        text.extend(objects.iter().map(|object| format!("{what}: {object}\n")));
    }
    // A closed pipe is no error: the exit code says the same.
    let _ = io::stdout().write_all(text.as_bytes());
    if refused.is_empty() {
        return Ok(());
    }
    Err(StartError::Runtime(format!("{} objects are refused", refused.len())))
}

/// Writes every object in its storage version, and prints what came of it.
fn migrate(config: Config, complete: impl FnOnce(Server) -> Server) -> Result<(), StartError> {
    let migrating = Box::pin(complete(Server::builder(config)).migrate());
    let migrated = runtime()?.block_on(bootstrap::during("migrating", migrating))?;
    let Migrated { objects, written, refused } = migrated;
    let mut text = format!("{written} of {objects} objects are written in their storage version\n");
    text.extend(refused.iter().map(|object| format!("refused: {object}\n")));
    // A closed pipe is no error: the exit code says the same.
    let _ = io::stdout().write_all(text.as_bytes());
    if refused.is_empty() {
        return Ok(());
    }
    Err(StartError::Runtime(format!("{} objects stay as they were stored", refused.len())))
}

fn runtime() -> Result<tokio::runtime::Runtime, StartError> {
    tokio::runtime::Runtime::new()
        .map_err(|error| StartError::Runtime(format!("cannot start threads: {error}")))
}

fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str);
    name.unwrap_or(env!("CARGO_PKG_NAME")).to_owned()
}
