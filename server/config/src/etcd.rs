//! What keeps the data: SQLite in the data directory, or etcd.

use std::path::PathBuf;

use clap::Args;

use crate::start_error::StartError;

/// Flags about etcd.
#[derive(Debug, Args)]
pub struct EtcdFlags {
    /// What keeps the data: sqlite, for one server, or etcd, for any number of servers over the same data.
    /// The data directory keeps certificates and keys in both cases.
    #[arg(long, value_name = "NAME", default_value = "sqlite", value_parser = ["sqlite", "etcd"])]
    storage: String,
    /// Addresses of the members of etcd, such as `https://10.0.0.1:2379`, with commas in between.
    #[arg(long, value_name = "URLS", value_delimiter = ',')]
    etcd_servers: Vec<String>,
    #[command(flatten)]
    access: EtcdAccess,
}

/// How a cluster of etcd is reached, and where in it the data are.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct EtcdAccess {
    /// Certificates of the authorities that vouch for etcd.
    #[arg(long, value_name = "FILE")]
    pub etcd_cafile: Option<PathBuf>,
    /// The certificate that etcd is shown.
    #[arg(long, value_name = "FILE")]
    pub etcd_certfile: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, value_name = "FILE")]
    pub etcd_keyfile: Option<PathBuf>,
    /// What all keys in etcd begin with.
    #[arg(long, value_name = "PREFIX", default_value = "/registry")]
    pub etcd_prefix: String,
}

/// The cluster of etcd that keeps the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdSettings {
    /// Its addresses; at least one.
    pub servers: Vec<String>,
    /// Whom to trust.
    pub authorities: Option<PathBuf>,
    /// The certificate to show, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// What all keys begin with.
    pub prefix: String,
}

impl EtcdFlags {
    /// Whether etcd keeps the data.
    pub fn is_used(&self) -> bool {
        self.storage == "etcd"
    }

    /// None for SQLite.
    pub fn check(self) -> Result<Option<EtcdSettings>, StartError> {
        let is_used = self.is_used();
        let Self { etcd_servers, access, .. } = self;
        let wrong = |flag: &'static str, problem: &str| Err(StartError::configuration(flag, problem));
        if !is_used {
            let is_given = !etcd_servers.is_empty() || access.etcd_cafile.is_some();
            let is_given = is_given || access.etcd_certfile.is_some() || access.etcd_keyfile.is_some();
            let problem = "a flag of etcd is given, which needs --storage=etcd";
            return if is_given { wrong("--storage", problem) } else { Ok(None) };
        }
        if etcd_servers.is_empty() {
            return wrong("--etcd-servers", "is needed with --storage=etcd");
        }
        access.check(etcd_servers).map(Some)
    }
}

impl EtcdAccess {
    /// The cluster at these addresses.
    pub fn check(self, servers: Vec<String>) -> Result<EtcdSettings, StartError> {
        let Self { etcd_cafile, etcd_certfile, etcd_keyfile, etcd_prefix } = self;
        let wrong = |flag: &'static str, problem: &str| Err(StartError::configuration(flag, problem));
        if etcd_prefix.trim_matches('/').is_empty() {
            return wrong("--etcd-prefix", "must not be empty");
        }
        let identity = match (etcd_certfile, etcd_keyfile) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return wrong("--etcd-certfile", "needs --etcd-keyfile, and the other way round"),
        };
        Ok(EtcdSettings { servers, authorities: etcd_cafile, identity, prefix: etcd_prefix })
    }
}
