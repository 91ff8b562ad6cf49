//! From the command line to a running server, and what the machine has to provide for it.
//!
//! [`main_with`] is the whole of a `main`. It runs [`Server`](crate::server::Server), which calls [`prepare`]
//! before it listens: everything that an operator can have got wrong is found there.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::SystemTime,
};

use orch_auth::{authentication::Authentication, authorization::Mode, service_account::TokenIssuer};
use orch_runtime::{resource_def::GroupVersionDef, vocabulary::Vocabulary};
use rustls::ServerConfig;

use crate::{
    bootstrap::{
        pki::{Authority, Identity},
        sources::Loaded,
    },
    config::{self, Config, Invocation},
    registry::continue_token::TokenKey,
    server::Server,
    start_error::StartError,
};

mod continue_key;
mod files;
mod kubeconfig;
mod logging;
mod pki;
mod serving;
mod signals;
mod sources;
mod storage;
mod token_key;

pub use sources::{Sources, follow};
pub use storage::open_storage;

/// The `main` of a server for the resources of these crates: reads the command line, serves until it is told to stop, and
/// returns the exit code: 0 after a shutdown that was asked for, 2 when the configuration is at fault, 1 when
/// the server cannot go on. There is at least one vocabulary, and the first is the default.
pub fn main_with(
    tables: &[&'static [&'static GroupVersionDef]],
    vocabularies: &[&'static Vocabulary],
) -> ExitCode {
    let outcome = match config::parse(std::env::args_os(), vocabularies) {
        Ok(Invocation::Show(text)) => {
            // Whoever closed the pipe does not want to read it.
            let _ = io::stdout().write_all(text.as_bytes());
            Ok(())
        }
        Ok(Invocation::Serve(config)) if config.storage.self_check => storage::self_check(&config.storage),
        Ok(Invocation::Serve(config)) => serve(*config, tables),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", program_name());
            error.exit_code()
        }
    }
}

fn serve(config: Config, tables: &[&'static [&'static GroupVersionDef]]) -> Result<(), StartError> {
    logging::start(&config.logging);
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| StartError::Runtime(format!("cannot start threads: {error}")))?;
    let server = Server::builder(config).resources(tables.iter().copied().flatten().copied());
    let outcome = runtime.block_on(signals::run_until_told(|stopping| server.run(stopping)));
    // After a second signal tasks may hang; they go with the process.
    runtime.shutdown_background();
    outcome
}

fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str);
    name.unwrap_or(env!("CARGO_PKG_NAME")).to_owned()
}

/// What a server needs besides its storage.
pub struct Prepared {
    /// Who makes a request.
    pub authentication: Authentication,
    /// Makes tokens for service accounts.
    pub tokens: TokenIssuer,
    /// Seals continue tokens.
    pub continue_key: TokenKey,
    /// How TLS is spoken.
    pub tls: Arc<ServerConfig>,
    /// Where who makes a request, and how TLS is spoken, can be read again.
    pub sources: Sources,
    /// The data directory, which is this process's own from now on.
    pub site: Site,
}

/// The data directory of a running server. Other servers are kept out until it is dropped.
pub struct Site {
    directory: PathBuf,
    external_hostname: Option<String>,
    trust: Option<String>,
    administrator: Identity,
    _lock: File,
}

/// Creates what is missing in the data directory and reads every file that the configuration names.
pub fn prepare(config: &Config) -> Result<Prepared, StartError> {
    let directory = std::path::absolute(&config.storage.data_dir)
        .map_err(|error| StartError::configuration("--data-dir", error))?;
    files::create_directory(&directory)?;
    let lock = files::lock(&directory)?;
    warn_of_open_doors(config);

    let now = SystemTime::now();
    let authority = Authority::ensure(&directory.join("pki"), now)?;
    let tokens = tokens(config, &directory.join("pki"))?;
    let continue_key = continue_key::ensure(&directory)?;
    let administrator = authority.administrator(now)?;
    let sources = Sources::new(config, authority);
    let Loaded { authentication, certificate } = sources.load(now)?;
    let site = Site {
        directory,
        external_hostname: config.serving.external_hostname.clone(),
        trust: certificate.authority,
        administrator,
        _lock: lock,
    };
    Ok(Prepared { authentication, tokens, continue_key, tls: certificate.tls, sources, site })
}

/// Tokens name the server by its vocabulary unless the operator has a name for it.
fn tokens(config: &Config, directory: &Path) -> Result<TokenIssuer, StartError> {
    let Config { authentication, vocabulary, .. } = config;
    let own_name = || format!("https://{}.default.svc", vocabulary.name);
    let issuer = authentication.service_account_issuer.clone().unwrap_or_else(own_name);
    let audiences = authentication.api_audiences.clone();
    Ok(TokenIssuer::new(token_key::ensure(directory)?, issuer, audiences, vocabulary))
}

/// Handy while trying things out, and easily left on.
fn warn_of_open_doors(config: &Config) {
    if config.authentication.anonymous && config.authorization.modes.contains(&Mode::AlwaysAllow) {
        tracing::warn!(
            address = %config.serving.address,
            "everyone who reaches the address may do everything (--anonymous-auth with --authorization-mode=AlwaysAllow)"
        );
    }
}

impl Site {
    /// Says on stdout that the server is ready at `address`, and what to try next; the administrator's client
    /// configuration is written for that address.
    pub fn announce(&self, address: SocketAddr) -> Result<(), StartError> {
        let text = self.introduce(address)?;
        // A server whose output nobody reads serves all the same.
        let _ = io::stdout().write_all(text.as_bytes());
        Ok(())
    }

    fn introduce(&self, address: SocketAddr) -> Result<String, StartError> {
        let url = serving::url(address, self.external_hostname.as_deref());
        let kubeconfig = self.directory.join("admin.kubeconfig");
        kubeconfig::write(&kubeconfig, &url, self.trust.as_deref(), &self.administrator)?;
        let kubeconfig = shell_word(&kubeconfig);
        Ok(format!("Listening on {url}\nTry:\n  export KUBECONFIG={kubeconfig}\n  kubectl get namespaces\n"))
    }
}

/// A path as a shell reads it back.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain =
        text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-+:@".contains(character));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
