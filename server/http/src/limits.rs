//! How much of the server clients may use at a time: one user, one address, and all together.
//!
//! This is the one place of such limits; [`table`] has the numbers. They keep the server alive whatever
//! comes. Those who stay below them share it by priority and fairness ([`fairness`](crate::fairness)). A
//! request takes its shares in two steps: what counts for its address and for all before anybody looks at its
//! credentials, what counts for its user as soon as that is known. Nothing of its body is read before.
//! Whoever is beyond a limit gets a 429 with `Retry-After`, which clients obey by themselves. Probes are not
//! counted, so that they tell of the server and not of its clients; those with a token count for their
//! address, because another server may have to judge it.
//!
//! The limits of connections are in `orch-listener`, because they act before there is a request.

mod held;
mod memory;
mod usage;

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use arc_swap::ArcSwapOption;
use orch_auth::{authenticator::certificate::PeerCertificates, user::UserInfo};
use orch_config::ClientLimits;
use orch_listener::{Connection, client_address};
use orch_registry::error::{ApiError, Result};
use rustls::pki_types::CertificateDer;

use crate::fairness::RememberedUsers;

pub(crate) use held::until_handed_over;
pub use memory::MemoryLimit;
use usage::{Register, Share, Usage};

/// What can be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Requests that are not answered yet, without watches. A long answer counts until it is handed over.
    Requests,
    /// Open watches. One whose request line is long counts as several, because its selectors are kept.
    Watches,
    /// Bytes of requests' bodies in memory.
    BodyBytes,
    /// Connections whose last request was the user's.
    Connections,
}

/// How many there are.
const SUPPLIES: usize = 4;

/// How much of a supply may be in use.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// As the client reads it.
    name: &'static str,
    per_user: usize,
    per_address: usize,
    in_all: usize,
}

/// By [`Supply`]. An address may have what two users may have, because there may be a proxy, unless the
/// operator says something else; all together may have what two addresses may have.
fn table(limits: &ClientLimits) -> [Limit; SUPPLIES] {
    let limit = |name, [per_user, per_address]: [usize; 2]| Limit {
        name,
        per_user,
        per_address,
        in_all: per_address.saturating_mul(2),
    };
    // The listener counts connections of an address and of all.
    let connections = Limit {
        name: "connections",
        per_user: limits.connections,
        per_address: usize::MAX,
        in_all: usize::MAX,
    };
    [
        limit("requests in flight", limits.requests),
        limit("watches", limits.watches),
        limit(BODY_BYTES, limits.body_bytes),
        connections,
    ]
}

/// The name of [`Supply::BodyBytes`].
const BODY_BYTES: &str = "bytes of request bodies";

/// After how many seconds a client may try again.
const RETRY_AFTER: u32 = 1;

/// What is in use.
#[derive(Debug)]
pub struct Limits {
    table: [Limit; SUPPLIES],
    all: Arc<Usage>,
    addresses: Register<IpAddr>,
    users: Register<String>,
}

/// The client of one connection.
#[derive(Debug, Default)]
pub struct Peer {
    /// What it presented.
    pub certificates: PeerCertificates,
    address: OnceLock<Arc<Usage>>,
    shown_address: OnceLock<Arc<str>>,
    /// Of the last request: most connections have one user.
    user: ArcSwapOption<Seen>,
    /// Which flow schemas match its users.
    pub remembered: RememberedUsers,
}

/// A user of a connection.
#[derive(Debug)]
struct Seen {
    user: Arc<UserInfo>,
    usage: Arc<Usage>,
    _connection: Share,
}

/// What a request has in use until it is dropped: for its address, for all, and for its user.
#[derive(Debug)]
pub struct Shares {
    /// As how many it counts.
    count: usize,
    held: [Option<Share>; 3],
}

/// What the body of a request has in use.
#[derive(Debug)]
pub struct BodyShares([Share; 3]);

impl Peer {
    /// The client with these certificates.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        Peer { certificates: PeerCertificates::new(chain), ..Peer::default() }
    }

    /// The address of a connection as text, which is made once for all of its requests.
    pub fn shown_address(connection: &Connection<Peer>) -> &Arc<str> {
        let shown = || connection.peer_address().ip().to_string().into();
        connection.peer().shown_address.get_or_init(shown)
    }
}

impl Limits {
    /// With these for each client.
    pub fn new(limits: &ClientLimits) -> Self {
        Limits::of(table(limits))
    }

    fn of(table: [Limit; SUPPLIES]) -> Self {
        Limits { table, all: Arc::default(), addresses: Register::default(), users: Register::default() }
    }

    /// Counts a request or a watch for the address that it comes from, and for all; as so many.
    ///
    /// # Errors
    /// 429.
    pub fn enter(&self, supply: Supply, count: usize, connection: &Connection<Peer>) -> Result<Shares> {
        let address = self.address(connection);
        let limit = self.limit(supply);
        let of_address = share(address, supply, count, limit, limit.per_address, "this address")?;
        let of_all = share(&self.all, supply, count, limit, limit.in_all, "all clients")?;
        Ok(Shares { count, held: [Some(of_address), Some(of_all), None] })
    }

    /// Counts it for its user too.
    ///
    /// # Errors
    /// 429.
    pub fn identify(
        &self,
        shares: &mut Shares,
        supply: Supply,
        connection: &Connection<Peer>,
        user: &Arc<UserInfo>,
    ) -> Result<()> {
        let limit = self.limit(supply);
        let usage = self.user(connection, user)?;
        shares.held[2] = Some(share(&usage, supply, shares.count, limit, limit.per_user, "this user")?);
        Ok(())
    }

    /// Counts what will be read of a body.
    ///
    /// # Errors
    /// 429 where the user has too many connections.
    pub fn body(&self, connection: &Connection<Peer>, user: &Arc<UserInfo>) -> Result<BodyShares> {
        let Limit { per_user, per_address, in_all, .. } = *self.limit(Supply::BodyBytes);
        let none = |usage: &Arc<Usage>, max| Share::none(usage, Supply::BodyBytes, max);
        Ok(BodyShares([
            none(&self.user(connection, user)?, per_user),
            none(self.address(connection), per_address),
            none(&self.all, in_all),
        ]))
    }

    fn limit(&self, supply: Supply) -> &Limit {
        &self.table[supply as usize]
    }

    fn address<'c>(&self, connection: &'c Connection<Peer>) -> &'c Arc<Usage> {
        let address = || self.addresses.usage(client_address(connection.peer_address().ip()));
        connection.peer().address.get_or_init(address)
    }

    /// What a user has in use, who has one connection more with this one.
    fn user(&self, connection: &Connection<Peer>, user: &Arc<UserInfo>) -> Result<Arc<Usage>> {
        let last = &connection.peer().user;
        if let Some(last) = &*last.load()
            && (Arc::ptr_eq(&last.user, user) || last.user.name == user.name)
        {
            return Ok(Arc::clone(&last.usage));
        }
        let usage = self.users.usage(user.name.clone());
        let limit = self.limit(Supply::Connections);
        let held = share(&usage, Supply::Connections, 1, limit, limit.per_user, "this user")
            .inspect_err(|_| connection.close_when_answered())?;
        let seen = Seen { user: Arc::clone(user), usage: Arc::clone(&usage), _connection: held };
        last.store(Some(Arc::new(seen)));
        Ok(usage)
    }
}

impl BodyShares {
    /// Counts bytes that were read.
    ///
    /// # Errors
    /// 429.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        if self.0.iter_mut().all(|share| share.grow(bytes)) {
            return Ok(());
        }
        Err(beyond(format!("too many {BODY_BYTES} are in memory; try again later")))
    }
}

fn share(
    usage: &Arc<Usage>,
    supply: Supply,
    count: usize,
    limit: &Limit,
    max: usize,
    whose: &str,
) -> Result<Share> {
    let mut share = Share::none(usage, supply, max);
    // One alone always fits.
    if share.grow(count.min(max)) {
        return Ok(share);
    }
    Err(beyond(format!("too many {} of {whose}; the limit is {max}", limit.name)))
}

fn beyond(message: String) -> ApiError {
    ApiError::TooManyRequests { message, retry_after: RETRY_AFTER }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [Limit; SUPPLIES] = [
        Limit { name: "requests in flight", per_user: 1, per_address: 2, in_all: 3 },
        Limit { name: "watches", per_user: 1, per_address: 2, in_all: 3 },
        Limit { name: "bytes", per_user: 10, per_address: 20, in_all: 30 },
        Limit { name: "connections", per_user: 2, per_address: usize::MAX, in_all: usize::MAX },
    ];

    fn connection(last: u8) -> Connection<Peer> {
        Connection::detached(([192, 0, 2, last], 1).into(), Peer::default())
    }

    fn user(name: &str) -> Arc<UserInfo> {
        Arc::new(UserInfo::new(name, [""; 0]))
    }

    fn refusal(outcome: Result<impl Sized>) -> String {
        match outcome.map(drop) {
            Err(ApiError::TooManyRequests { message, retry_after: 1 }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_user_an_address_and_all_have_limits_of_their_own() {
        let limits = Limits::of(SMALL);
        let [first, second, third] = [1, 2, 3].map(connection);
        let enter = |connection: &Connection<Peer>, name: &str| {
            let mut shares = limits.enter(Supply::Requests, 1, connection)?;
            limits.identify(&mut shares, Supply::Requests, connection, &user(name)).map(|()| shares)
        };
        let ann = enter(&first, "ann").unwrap();
        // On another connection as well.
        assert_eq!(
            refusal(enter(&second, "ann")),
            "too many requests in flight of this user; the limit is 1"
        );
        let bob = enter(&first, "bob").unwrap();
        let refused = refusal(enter(&first, "cid"));
        assert_eq!(refused, "too many requests in flight of this address; the limit is 2");
        let cid = enter(&second, "cid").unwrap();
        let refused = refusal(enter(&third, "dan"));
        assert_eq!(refused, "too many requests in flight of all clients; the limit is 3");
        // Watches are counted apart, and what ends makes room.
        let long = limits.enter(Supply::Watches, 2, &third).unwrap();
        refusal(limits.enter(Supply::Watches, 1, &third));
        drop(long);
        limits.enter(Supply::Watches, 9, &third).unwrap();
        drop((ann, bob, cid));
        enter(&third, "ann").unwrap();
        assert_eq!(limits.all.of(Supply::Requests), 0);
    }

    #[test]
    fn a_user_has_a_number_of_connections() {
        let limits = Limits::of(SMALL);
        let [first, second, third] = [1, 2, 3].map(connection);
        let ann = user("ann");
        limits.user(&first, &ann).unwrap();
        limits.user(&second, &ann).unwrap();
        limits.user(&second, &user("ann")).unwrap();
        let refused = refusal(limits.user(&third, &ann));
        assert_eq!(refused, "too many connections of this user; the limit is 2");
        // A connection counts for the user who had it last.
        limits.user(&second, &user("bob")).unwrap();
        limits.user(&third, &ann).unwrap();
        drop(first);
        limits.user(&connection(4), &ann).unwrap();
    }

    #[test]
    fn bodies_are_counted_until_they_are_dropped() {
        let limits = Limits::of(SMALL);
        let connection = connection(1);
        let of = |name: &str| limits.body(&connection, &user(name)).unwrap();
        let mut body = of("ann");
        body.grow(6).unwrap();
        refusal(body.grow(5));
        body.grow(4).unwrap();
        refusal(of("ann").grow(1));
        of("bob").grow(10).unwrap();
        drop(body);
        of("ann").grow(10).unwrap();
        assert_eq!(limits.all.of(Supply::BodyBytes), 0);
    }
}
