//! From the command line to a running server: the whole of a `main`.

mod offline;

use std::{
    ffi::OsStr,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use orch_config::{Config, DataDir, Invocation, LogFormat, Task, start_error::StartError};
use orch_runtime::{resource_def::GroupVersionDef, vocabulary::Vocabulary};

use crate::{
    bootstrap::{
        self,
        logging::{self, LostLines},
        service_manager, signals,
    },
    server::Server,
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
    let outcome = match orch_config::parse(std::env::args_os(), vocabularies) {
        Ok(Invocation::Show(text)) => {
            // A closed pipe is no error: nobody wants to read the text.
            let _ = io::stdout().write_all(text.as_bytes());
            Ok(())
        }
        Ok(Invocation::Perform(task)) => bootstrap::perform(&task),
        Ok(Invocation::Work(config, work)) => offline::perform(complete(Server::builder(*config)), work),
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

fn runtime() -> Result<tokio::runtime::Runtime, StartError> {
    tokio::runtime::Runtime::new()
        .map_err(|error| StartError::Runtime(format!("cannot start threads: {error}")))
}

fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str);
    name.unwrap_or(orch_config::PROGRAM).to_owned()
}
