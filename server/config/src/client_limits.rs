//! How much one user or one address may have at a time.

use clap::{Args, value_parser};

use crate::size;

/// The largest body must fit.
const MIN_BODY_BYTES: u64 = 3 << 20;

/// Flags about it.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
pub struct ClientLimitFlags {
    /// How many requests of one user may be in work at a time, without watches; further ones get a 429.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = value_parser!(u32).range(1..))]
    max_requests_per_user: u32,
    /// The same for one address. All addresses together may have twice as many.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = value_parser!(u32).range(1..))]
    max_requests_per_address: u32,
    /// How many watches one user may have open; further ones get a 429.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = value_parser!(u32).range(1..))]
    max_watches_per_user: u32,
    /// The same for one address. All addresses together may have twice as many.
    #[arg(long, value_name = "N", default_value_t = 40_000, value_parser = value_parser!(u32).range(1..))]
    max_watches_per_address: u32,
    /// How many connections one user may have open; a request over another one gets a 429, and that one is
    /// closed.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..))]
    max_connections_per_user: u32,
    /// How much memory the bodies of requests of one user may take at a time, such as 32MiB; further ones get
    /// a 429.
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = body_bytes)]
    max_body_bytes_per_user: usize,
    /// The same for one address. All addresses together may have twice as much.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = body_bytes)]
    max_body_bytes_per_address: usize,
}

/// How much one user or one address may have at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Requests, without watches, of a user and of an address.
    pub requests: [usize; 2],
    /// Watches of a user and of an address.
    pub watches: [usize; 2],
    /// Connections of a user.
    pub connections: usize,
    /// Bytes of bodies in memory of a user and of an address.
    pub body_bytes: [usize; 2],
}

impl ClientLimitFlags {
    /// All numbers are right: the parser takes no others.
    pub fn check(self) -> ClientLimits {
        let pair = |user: u32, address: u32| [user as usize, address as usize];
        ClientLimits {
            requests: pair(self.max_requests_per_user, self.max_requests_per_address),
            watches: pair(self.max_watches_per_user, self.max_watches_per_address),
            connections: self.max_connections_per_user as usize,
            body_bytes: [self.max_body_bytes_per_user, self.max_body_bytes_per_address],
        }
    }
}

fn body_bytes(text: &str) -> Result<usize, &'static str> {
    match size::bytes(text)? {
        bytes if bytes < MIN_BODY_BYTES => Err("must be at least 3MiB, the largest body"),
        bytes => usize::try_from(bytes).map_err(|_| "more than this machine can address"),
    }
}
