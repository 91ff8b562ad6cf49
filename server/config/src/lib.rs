//! The command line, in two steps: flags as they are typed, then a [`Config`] in which everything is checked.
//!
//! Each subject has a file with its flags and its configuration. [`command`] puts the flags and the
//! subcommands together; help, `--config`, shell completions and the manual page are made of it. Mistakes
//! that show without opening a file are refused here. Other files than that of `--config` are read by the
//! parts that need them, before anything listens; but a database that is there says which vocabulary counts
//! where no flag does.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser, builder::PossibleValuesParser,
    error::ErrorKind, parser::ValueSource,
};
use orch_auth::{authentication::AuthenticationConfig, authorization::AuthorizationConfig};
use orch_registry::{
    admission::AdmissionConfig,
    feature_gates::FeatureGates,
    ranges::{AddressRange, PortRange, Ranges},
};
use orch_runtime::vocabulary::Vocabulary;

use self::{
    flag_file::{CONFIG, FlagFile},
    usage::one_line,
};
use crate::{enablement::Enablement, start_error::StartError};

mod audit;
mod authentication;
mod authorization;
mod boolean;
mod browsers;
mod client_limits;
mod duration;
pub mod enablement;
mod encryption;
mod etcd;
mod flag_file;
mod in_flight;
mod logging;
mod manual;
mod named;
mod observation;
mod offline;
mod oidc;
mod proxy;
mod reading;
mod serving;
mod size;
pub mod start_error;
mod storage;
mod subcommand;
mod task;
mod token_webhook;
mod usage;

pub use audit::AuditConfig;
pub use browsers::BrowserConfig;
pub use client_limits::ClientLimits;
pub use encryption::EncryptionConfig;
pub use etcd::{EtcdAccess, EtcdSettings};
pub use in_flight::InFlightLimits;
pub use logging::{LogFormat, LoggingConfig, REQUESTS};
pub use observation::ObservationConfig;
pub use offline::{ConvertFlags, ImportFlags, ObjectForm, ValidateFlags, VerdictForm, Work};
pub use reading::Pace;
pub use serving::{CHANCES, ExternalName, ServingConfig, TlsFiles};
pub use storage::{DATABASE, StorageConfig, database_in};
pub use task::{DataDir, ExportFlags, FileFlags, MoveFlags, MovePlace, RepairFlags, Task};

/// The program, as it calls itself.
pub const PROGRAM: &str = "orch-apiserver";

/// The flag of the product words.
const VOCABULARY: &str = "vocabulary";

/// Everything that is configured, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where and how to listen.
    pub serving: ServingConfig,
    /// What answers tell browsers.
    pub browsers: BrowserConfig,
    /// How many requests are answered at a time.
    pub in_flight: InFlightLimits,
    /// How much of that is for one user or one address.
    pub client_limits: ClientLimits,
    /// How fast they must read.
    pub pace: Pace,
    /// How callers are authenticated. The server's own certificate authority is added at start.
    pub authentication: AuthenticationConfig,
    /// How requests are authorized.
    pub authorization: AuthorizationConfig,
    /// Which requests are recorded, and where.
    pub audit: AuditConfig,
    /// Where the data is.
    pub storage: StorageConfig,
    /// What is logged, and how.
    pub logging: LoggingConfig,
    /// What is shown of its work.
    pub observation: ObservationConfig,
    /// Which kinds are served; checked against the tables at start.
    pub enablement: Enablement,
    /// Which features are on.
    pub feature_gates: FeatureGates,
    /// Which admission plugins are on; the names are checked at start.
    pub admission: AdmissionConfig,
    /// Which controllers run; the names are checked at start.
    pub controllers: Vec<String>,
    /// What addresses and ports services get.
    pub ranges: Ranges,
    /// The product words in force.
    pub vocabulary: &'static Vocabulary,
}

impl Config {
    /// What a server with these flags is configured as; those that are left out have their defaults. At least
    /// one vocabulary is required; the first is the default.
    ///
    /// # Errors
    /// Where a flag is wrong, or asks for something else than to serve.
    pub fn from_flags(
        flags: impl IntoIterator<Item = impl Into<OsString>>,
        vocabularies: &[&'static Vocabulary],
    ) -> Result<Self, StartError> {
        let flags = flags.into_iter().map(Into::into);
        match parse(std::iter::once(PROGRAM.into()).chain(flags), vocabularies)? {
            Invocation::Serve(config) => Ok(*config),
            Invocation::Work(..) | Invocation::Perform(_) | Invocation::Show(_) => {
                Err(StartError::Usage("the flags ask for something else than to serve".to_owned()))
            }
        }
    }
}

/// What a command line means.
#[derive(Debug)]
pub enum Invocation {
    /// To serve.
    Serve(Box<Config>),
    /// To do something with the kinds of a server of this configuration.
    Work(Box<Config>, Work),
    /// To do something else.
    Perform(Task),
    /// To show this text (help, version, a manual page ...) and nothing else.
    Show(String),
}

/// Reads a command line; the first argument is the program's name. At least one vocabulary is required; the
/// first is the default.
pub fn parse(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    vocabularies: &[&'static Vocabulary],
) -> Result<Invocation, StartError> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let mut command = command(vocabularies);
    let matches = match command.try_get_matches_from_mut(&arguments) {
        Ok(matches) => matches,
        Err(error) => return show(&error),
    };
    match matches.subcommand() {
        None => {
            let config = read_flags(command, arguments, &matches, vocabularies)?;
            Ok(Invocation::Serve(Box::new(config)))
        }
        Some((name, matches)) => {
            if let Some((subcommand, read)) = offline::find(name, &|name| flags_of(name, vocabularies)) {
                let config = read_flags_of(subcommand, arguments, matches, vocabularies)?;
                let work = read(matches).map_err(|error| usage(&error))?;
                return Ok(Invocation::Work(Box::new(config), work));
            }
            match manual::text(name, matches, command) {
                Some(text) => Ok(Invocation::Show(text)),
                None => read_task(name, arguments, matches, vocabularies),
            }
        }
    }
}

/// The same for a subcommand, which stands in place of the program.
fn read_flags_of(
    subcommand: Command,
    arguments: Vec<OsString>,
    matches: &ArgMatches,
    vocabularies: &[&'static Vocabulary],
) -> Result<Config, StartError> {
    read_flags(subcommand, arguments.into_iter().skip(1).collect(), matches, vocabularies)
}

/// The configuration of a command line, of which `matches` was read, and of the file that it names.
fn read_flags(
    mut command: Command,
    arguments: Vec<OsString>,
    matches: &ArgMatches,
    vocabularies: &[&'static Vocabulary],
) -> Result<Config, StartError> {
    let Some(path) = matches.get_one::<PathBuf>(CONFIG) else {
        return check(matches, vocabularies);
    };
    let file = FlagFile::read(path, &flags(vocabularies))?;
    let completed = file.complete(arguments, &command, matches);
    let matches = command.try_get_matches_from_mut(completed).map_err(|error| usage(&error))?;
    check(&matches, vocabularies).map_err(|error| file.locate(error))
}

/// The task of a subcommand. Of the file of a server it takes the flags that it knows; the others may be
/// there too, as long as a server knows them.
fn read_task(
    name: &str,
    arguments: Vec<OsString>,
    matches: &ArgMatches,
    vocabularies: &[&'static Vocabulary],
) -> Result<Invocation, StartError> {
    let read = |matches: &ArgMatches| {
        task::read(name, matches).map(Invocation::Perform).or_else(|error| show(&error))
    };
    let Some(path) = matches.get_one::<PathBuf>(CONFIG) else { return read(matches) };
    let file = FlagFile::read(path, &flags(vocabularies))?;
    let mut command = task::command(name);
    let completed = file.complete(arguments.into_iter().skip(1).collect(), &command, matches);
    read(&command.try_get_matches_from_mut(completed).map_err(|error| usage(&error))?)
}

fn check(matches: &ArgMatches, vocabularies: &[&'static Vocabulary]) -> Result<Config, StartError> {
    let mut flags = Flags::from_arg_matches(matches).map_err(|error| usage(&error))?;
    let is_given = matches.value_source(VOCABULARY) != Some(ValueSource::DefaultValue);
    if !is_given
        && let Some(own) = flags.storage.vocabulary()
        && vocabularies.iter().any(|vocabulary| vocabulary.name == own)
    {
        flags.api.vocabulary = own;
    }
    flags.check(vocabularies)
}

/// What the parser did not read: a question, or a mistake.
fn show(error: &clap::Error) -> Result<Invocation, StartError> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Invocation::Show(error.to_string())),
        _ => Err(usage(error)),
    }
}

fn usage(error: &clap::Error) -> StartError {
    StartError::Usage(format!("{}; --help lists all flags", one_line(error)))
}

/// A declarative API server: resources described in schema files, served with watch, patch and discovery.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version)]
struct Flags {
    #[command(flatten, next_help_heading = "Serving")]
    serving: serving::ServingFlags,
    #[command(flatten)]
    browsers: browsers::BrowserFlags,
    #[command(flatten, next_help_heading = "Requests at a time")]
    in_flight: in_flight::InFlightFlags,
    #[command(flatten)]
    client_limits: client_limits::ClientLimitFlags,
    #[command(flatten)]
    reading: reading::ReadingFlags,
    #[command(flatten, next_help_heading = "Authentication")]
    authentication: authentication::AuthenticationFlags,
    #[command(flatten, next_help_heading = "Authorization")]
    authorization: authorization::AuthorizationFlags,
    #[command(flatten, next_help_heading = "Audit")]
    audit: audit::AuditFlags,
    #[command(flatten, next_help_heading = "Storage")]
    storage: storage::StorageFlags,
    #[command(flatten, next_help_heading = "Logging")]
    logging: logging::LoggingFlags,
    #[command(flatten, next_help_heading = "Observation")]
    observation: observation::ObservationFlags,
    #[command(flatten, next_help_heading = "API")]
    api: ApiFlags,
}

#[derive(Debug, Args)]
struct ApiFlags {
    /// Product words that clients see: API group suffix, media types, system namespaces. A database keeps
    /// those that it was made with; they count where the flag is not given, and others are refused.
    #[arg(long, value_name = "NAME")]
    vocabulary: String,
    /// Versions and resources to serve or not, as KEY or KEY=true|false: api/all, api/ga, api/beta,
    /// api/alpha, <group>/<version> or <group>/<version>/<resource>. Stable versions are served, others are
    /// not.
    #[arg(long, value_name = "KEY[=VALUE],...", value_delimiter = ',')]
    runtime_config: Vec<String>,
    /// Features to turn on or off, as NAME=true|false. Alpha features are off, beta features mostly on.
    #[arg(long, value_name = "NAME=BOOL,...", value_delimiter = ',')]
    feature_gates: Vec<String>,
    /// Admission plugins to turn on besides those that are on by default, by name.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Admission plugins to turn off although they are on by default, by name.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// Controllers to run: * for all that run by default, NAME for one more, -NAME for one less.
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "*",
        allow_hyphen_values = true
    )]
    controllers: Vec<String>,
    /// The network of which services get their addresses: an address, a slash and the number of leading bits.
    #[arg(long, value_name = "CIDR", default_value = "10.0.0.0/24")]
    service_cluster_ip_range: String,
    /// The ports of machines that services get: the first and the last.
    #[arg(long, value_name = "FIRST-LAST", default_value = "30000-32767")]
    service_node_port_range: String,
}

impl Flags {
    fn check(self, vocabularies: &[&'static Vocabulary]) -> Result<Config, StartError> {
        let vocabulary = vocabularies
            .iter()
            .find(|vocabulary| vocabulary.name == self.api.vocabulary)
            .expect("the parser accepts only names of vocabularies");
        let authorization = self.authorization.check()?;
        let feature_gates = FeatureGates::parse(&entries(self.api.feature_gates))
            .map_err(|problem| StartError::configuration("--feature-gates", problem))?;
        Ok(Config {
            serving: self.serving.check()?,
            browsers: self.browsers.check()?,
            in_flight: self.in_flight.check()?,
            client_limits: self.client_limits.check(),
            pace: self.reading.check(),
            authentication: self.authentication.check(&authorization.modes, &feature_gates)?,
            authorization,
            audit: self.audit.check(vocabulary)?,
            storage: self.storage.check()?,
            logging: self.logging.check()?,
            observation: self.observation.check(),
            enablement: Enablement::parse(&entries(self.api.runtime_config))
                .map_err(|problem| StartError::configuration("--runtime-config", problem))?,
            feature_gates,
            admission: AdmissionConfig {
                enabled: entries(self.api.enable_admission_plugins),
                disabled: entries(self.api.disable_admission_plugins),
            },
            controllers: self.api.controllers,
            ranges: Ranges {
                addresses: AddressRange::parse(&self.api.service_cluster_ip_range)
                    .map_err(|problem| StartError::configuration("--service-cluster-ip-range", problem))?,
                ports: PortRange::parse(&self.api.service_node_port_range)
                    .map_err(|problem| StartError::configuration("--service-node-port-range", problem))?,
            },
            vocabulary,
        })
    }
}

/// The entries of a list. Without a value (`--feature-gates=`, as templates make it) there are none.
fn entries(mut list: Vec<String>) -> Vec<String> {
    list.retain(|entry| !entry.is_empty());
    list
}

/// Every flag and every subcommand.
fn command(vocabularies: &[&'static Vocabulary]) -> Command {
    let others = task::names().chain(offline::names());
    flags(vocabularies)
        .subcommands(task::commands())
        .subcommands(offline::commands(&|name| flags_of(name, vocabularies)))
        .subcommands(manual::commands(others))
        .args_conflicts_with_subcommands(true)
}

/// Every flag of a server.
fn flags(vocabularies: &[&'static Vocabulary]) -> Command {
    complete(Flags::command(), vocabularies)
}

/// A subcommand with the flags of a server.
fn flags_of(name: &'static str, vocabularies: &[&'static Vocabulary]) -> Command {
    complete(Flags::augment_args(Command::new(name)), vocabularies)
}

/// Completes the definition of the flags of a server.
fn complete(command: Command, vocabularies: &[&'static Vocabulary]) -> Command {
    let names = vocabularies.iter().map(|vocabulary| vocabulary.name);
    let config = flag_file::flag(
        "A file with flags, in YAML: the name of a flag without its dashes, a colon and the value, or a list of \
         values. Flags on the command line count instead of those of the file",
    );
    command.arg(config.help_heading("Configuration")).mut_args(boolean::complete).mut_arg(
        VOCABULARY,
        |flag| {
            flag.required(false)
                .default_value(vocabularies.first().map(|vocabulary| vocabulary.name))
                .value_parser(PossibleValuesParser::new(names))
        },
    )
}

#[cfg(test)]
mod tests;
