//! Where and how the server listens.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{ArgAction::Set, Args};
use rustls_pki_types::ServerName;

use crate::{boolean::BOOL, duration, size, start_error::StartError};

const BIND_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A part of all requests is counted in millionths.
pub const CHANCES: u32 = 1_000_000;
/// The largest part of requests at which connections are ended: one of fifty.
const MAX_CHANCE: f64 = 0.02;

/// Flags about serving.
#[derive(Debug, Args)]
pub struct ServingFlags {
    /// Address to listen on; 0.0.0.0 or :: listens on all.
    #[arg(long, value_name = "IP", default_value_t = BIND_ADDRESS)]
    bind_address: IpAddr,
    /// Port to listen on; 0 takes any free port.
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    /// Name or address by which clients reach the server, where that is not the bind address, and the port,
    /// where that is not the secure port. The name goes into the generated certificate, both into the admin
    /// kubeconfig.
    #[arg(long, value_name = "HOST[:PORT]", value_parser = external_name)]
    external_hostname: Option<ExternalName>,
    /// Certificate to serve with, in PEM, followed by those that lead to its authority. Without it, one is
    /// generated in the data directory.
    #[arg(long, value_name = "FILE")]
    tls_cert_file: Option<PathBuf>,
    /// Private key of --tls-cert-file, in PEM.
    #[arg(long, value_name = "FILE")]
    tls_private_key_file: Option<PathBuf>,
    /// How long a request may take before it is answered with 504; watches are exempt.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::positive)]
    request_timeout: Duration,
    /// How long a watch lives at least where its client does not say, as a duration or in seconds; at most
    /// twice as long, which is spread so that clients do not all come back at once.
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration::or_seconds)]
    min_request_timeout: Duration,
    /// The part of requests over HTTP/2 whose clients are told to open another connection, from 0 to 0.02:
    /// behind something that spreads connections over several servers, they do not stay at one for ever.
    #[arg(long, value_name = "PART", default_value = "0", value_parser = chance)]
    goaway_chance: u32,
    /// How long a shutdown waits for requests before it cuts them off.
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = duration::positive)]
    shutdown_grace_period: Duration,
    /// How long the server goes on after it was told to stop, while /readyz fails already, so that clients
    /// can be led elsewhere.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::any)]
    shutdown_delay_duration: Duration,
    /// Whether new requests get a 429 with Retry-After after --shutdown-delay-duration, while those that
    /// have begun are answered.
    #[arg(long, value_name = BOOL, action = Set, default_value_t = false)]
    shutdown_send_retry_after: bool,
    /// For how long after the start /livez does not fail because of steps of the start that are not
    /// finished.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::any)]
    livez_grace_period: Duration,
    /// How many connections may be open at a time, where the system allows so many open files; further
    /// clients wait.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    max_connections: u32,
    /// How many of them may be from one address (of IPv6: one network of 64 bits); further ones are closed at
    /// once. Without it, three quarters, and all where the server listens on this machine only.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_connections_per_address: Option<u32>,
    /// How much memory the process may use before creates, updates and patches are refused with 429, such as
    /// 512MiB; 0 for no limit. Without it, what the control group of the process allows, less a margin.
    #[arg(long, value_name = "SIZE", value_parser = size::bytes)]
    memory_limit: Option<u64>,
}

/// Where and how the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingConfig {
    /// Port 0 stands for any free port.
    pub address: SocketAddr,
    /// How clients reach the server, where that is not the address above.
    pub external_hostname: Option<ExternalName>,
    /// What to serve with; a generated certificate when absent.
    pub tls_files: Option<TlsFiles>,
    /// How long a request other than a watch may take.
    pub request_timeout: Duration,
    /// How long a watch lives at least where its client does not say.
    pub min_request_timeout: Duration,
    /// At how many of [`CHANCES`] requests over HTTP/2 the client is told to open another connection.
    pub goaway_chance: u32,
    /// How long a shutdown waits for requests.
    pub shutdown_grace_period: Duration,
    /// How long it goes on after it was told to stop.
    pub shutdown_delay: Duration,
    /// Whether requests are refused with `Retry-After` while others are finished.
    pub shutdown_sends_retry_after: bool,
    /// How long `/livez` does not fail because of the start.
    pub livez_grace_period: Duration,
    /// How many connections may be open at a time; at least 1.
    pub max_connections: u32,
    /// How many of them may be from one address; at least 1.
    pub max_connections_per_address: Option<u32>,
    /// Bytes of memory from which on objects are refused; 0 for no limit, none for that of the system.
    pub memory_limit: Option<u64>,
}

/// By which name, and at which port, clients reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalName {
    /// A name or an IP address.
    pub host: String,
    /// Without one, that on which the server listens.
    pub port: Option<u16>,
}

/// A certificate and its key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub private_key: PathBuf,
}

impl ServingConfig {
    /// The configuration of a listener with so many connections.
    pub fn listener(&self, max_connections: u32) -> orch_listener::Config {
        let mut config =
            orch_listener::Config::new(self.address, max_connections, self.shutdown_grace_period);
        config.max_connections_per_address = match self.max_connections_per_address {
            Some(number) => number.min(max_connections),
            // Everybody on this machine has the same address.
            None if self.address.ip().is_loopback() => max_connections,
            None => max_connections.saturating_mul(3).div_ceil(4),
        };
        config
    }
}

impl ServingFlags {
    /// Checks that the flags fit together.
    pub fn check(self) -> Result<ServingConfig, StartError> {
        let tls_files = match (self.tls_cert_file, self.tls_private_key_file) {
            (Some(certificate), Some(private_key)) => Some(TlsFiles { certificate, private_key }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(StartError::configuration("--tls-cert-file", "needs --tls-private-key-file too"));
            }
            (None, Some(_)) => {
                return Err(StartError::configuration("--tls-private-key-file", "needs --tls-cert-file too"));
            }
        };
        Ok(ServingConfig {
            address: SocketAddr::new(self.bind_address, self.secure_port),
            external_hostname: self.external_hostname,
            tls_files,
            request_timeout: self.request_timeout,
            min_request_timeout: self.min_request_timeout,
            goaway_chance: self.goaway_chance,
            shutdown_grace_period: self.shutdown_grace_period,
            shutdown_delay: self.shutdown_delay_duration,
            shutdown_sends_retry_after: self.shutdown_send_retry_after,
            livez_grace_period: self.livez_grace_period,
            max_connections: self.max_connections,
            max_connections_per_address: self.max_connections_per_address,
            memory_limit: self.memory_limit,
        })
    }
}

/// `api.example.com`, `api.example.com:443`, `2001:db8::7`, `[2001:db8::7]:443`.
fn external_name(text: &str) -> Result<ExternalName, &'static str> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, Some(port)),
        Some((host, port)) if host.starts_with('[') && host.ends_with(']') => {
            (&host[1..host.len() - 1], Some(port))
        }
        _ => (text, None),
    };
    ServerName::try_from(host).map_err(|_| "not a host name or an IP address")?;
    let port = match port.map(str::parse) {
        None => None,
        Some(Ok(port)) if port > 0 => Some(port),
        Some(_) => return Err("not a port behind the colon"),
    };
    Ok(ExternalName { host: host.to_owned(), port })
}

/// A part of all requests, in millionths.
fn chance(text: &str) -> Result<u32, &'static str> {
    let part: f64 = text.parse().map_err(|_| "not a number")?;
    if !(0.0..=MAX_CHANCE).contains(&part) {
        return Err("not between 0 and 0.02");
    }
    // Far below the largest number, and not negative.
    Ok((part * f64::from(CHANCES)).round() as u32)
}
