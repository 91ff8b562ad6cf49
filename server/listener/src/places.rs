//! Places of connections: how many are open, in all and from one address, and who makes room for others.
//!
//! A client that has sent no request yet is a newcomer. Newcomers can be many at no cost to whoever opens
//! them, and must not keep others out. So where no place is free, the oldest newcomer is cut, among those of
//! the address that has most of them, once it has had [`PATIENCE`]. A handshake that goes on needs less.
//! Connections with a request are never cut for others: then further clients wait, unopened, until one ends.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, futures::Notified},
    time::Instant,
};

/// How many newcomers there may be. Each is a task with the state of a handshake.
pub const MAX_NEWCOMERS: usize = 4096;

/// How long a newcomer may keep others out.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// The log says once in this time that places are short, however often they are.
const QUIET: Duration = Duration::from_mins(1);

/// All places of a listener.
#[derive(Debug)]
pub struct Places {
    max: usize,
    max_per_address: usize,
    max_newcomers: usize,
    taken: Mutex<Taken>,
    /// Somebody left, or sent the first request.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    connections: usize,
    by_address: HashMap<IpAddr, usize>,
    /// By number, and so in the order in which they came.
    newcomers: BTreeMap<u64, Newcomer>,
    last_number: u64,
    /// When the log said last that places are short.
    said_at: Option<Instant>,
}

#[derive(Debug)]
struct Newcomer {
    address: IpAddr,
    since: Instant,
    leave: Arc<Notify>,
}

/// Whether a further client can be accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum Room {
    /// At once.
    Free,
    /// At once, and a newcomer has to leave.
    ForNewcomer,
    /// Not before this instant, unless somebody leaves.
    From(Instant),
    /// When somebody leaves.
    Full,
}

/// The place of one connection, taken until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
    number: u64,
    leave: Arc<Notify>,
}

impl Places {
    /// So many places, each at least 1.
    pub fn new(max: u32, max_per_address: u32, max_newcomers: usize) -> Arc<Self> {
        Arc::new(Places {
            max: max as usize,
            max_per_address: max_per_address as usize,
            max_newcomers,
            taken: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Whether a further client can be accepted now.
    pub fn room(&self, now: Instant) -> Room {
        let taken = self.lock();
        if taken.connections < self.max && taken.newcomers.len() < self.max_newcomers {
            return Room::Free;
        }
        if taken.connections > self.max {
            // Somebody was told to leave and holds an open file until then.
            return Room::Full;
        }
        // All newcomers came in the order of their numbers: where the first is too young, all are.
        match taken.newcomers.values().next() {
            Some(oldest) if oldest.since + PATIENCE <= now => Room::ForNewcomer,
            Some(oldest) => Room::From(oldest.since + PATIENCE),
            None => Room::Full,
        }
    }

    /// Waits until somebody leaves or sends the first request.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Takes a place for a client at this address; none where the address has as many as it may have. Call it
    /// when there is room, or room for a newcomer: then one has to leave.
    pub fn take(self: &Arc<Self>, address: IpAddr, now: Instant) -> Option<Place> {
        let address = client_address(address);
        let mut taken = self.lock();
        if taken.of(address) >= self.max_per_address {
            if !taken.cut_newcomer(now, Some(address)) {
                return None;
            }
        } else if taken.connections >= self.max || taken.newcomers.len() >= self.max_newcomers {
            taken.cut_newcomer(now, None);
        }
        taken.connections += 1;
        *taken.by_address.entry(address).or_default() += 1;
        taken.last_number += 1;
        let number = taken.last_number;
        let leave = Arc::new(Notify::new());
        taken.newcomers.insert(number, Newcomer { address, since: now, leave: Arc::clone(&leave) });
        if taken.connections >= self.max && taken.may_say(now) {
            tracing::warn!(connections = self.max, "the limit of open connections is reached");
        } else if taken.of(address) >= self.max_per_address && taken.may_say(now) {
            tracing::warn!(%address, connections = self.max_per_address, "an address has all it may have");
        }
        drop(taken);
        Some(Place { places: Arc::clone(self), address, number, leave })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// How many connections an address has.
    fn of(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).copied().unwrap_or_default()
    }

    /// Whether the log may say again that places are short.
    fn may_say(&mut self, now: Instant) -> bool {
        let may_say = self.said_at.is_none_or(|said_at| said_at + QUIET <= now);
        if may_say {
            self.said_at = Some(now);
        }
        may_say
    }

    /// Tells the oldest newcomer to leave that had its time: among those of this address, or else of the
    /// address that has most. Its place is free when it has left. Whether there was one.
    fn cut_newcomer(&mut self, now: Instant, of: Option<IpAddr>) -> bool {
        let mut oldest: HashMap<IpAddr, (usize, u64)> = HashMap::new();
        for (number, newcomer) in &self.newcomers {
            if newcomer.since + PATIENCE <= now && of.is_none_or(|address| address == newcomer.address) {
                oldest.entry(newcomer.address).or_insert((0, *number)).0 += 1;
            }
        }
        let most = oldest.into_values().max_by_key(|(count, number)| (*count, Reverse(*number)));
        let Some(newcomer) = most.and_then(|(_, number)| self.newcomers.remove(&number)) else {
            return false;
        };
        newcomer.leave.notify_one();
        true
    }

    fn leave(&mut self, address: IpAddr) {
        self.connections -= 1;
        if let Some(count) = self.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }
}

impl Place {
    /// A request came: the client is no newcomer any more.
    pub fn settle(&self) {
        if self.places.lock().newcomers.remove(&self.number).is_some() {
            self.places.changed.notify_one();
        }
    }

    /// Notified when this client has to make room for others.
    pub fn leave(&self) -> Arc<Notify> {
        Arc::clone(&self.leave)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.newcomers.remove(&self.number);
        taken.leave(self.address);
        drop(taken);
        self.places.changed.notify_one();
    }
}

/// What counts as one address: a subscriber of IPv6 has at least 2^64 of them (RFC 6177).
pub fn client_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [first, second, third, fourth, ..] = address.segments();
            Ipv6Addr::new(first, second, third, fourth, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn was_cut(place: &Place) -> bool {
        place.leave().notified().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_newcomer_of_the_address_with_most_makes_room() {
        let (places, began) = (Places::new(4, 4, MAX_NEWCOMERS), Instant::now());
        let take = |last| places.take(address(last), began).unwrap();
        let (honest, first, second, third) = (take(1), take(2), take(2), take(2));
        assert_eq!(places.room(began), Room::From(began + PATIENCE));
        let later = began + PATIENCE;
        assert_eq!(places.room(later), Room::ForNewcomer);
        let next = places.take(address(3), later).unwrap();
        assert_eq!(
            [&honest, &first, &second, &third, &next].map(was_cut),
            [false, true, false, false, false]
        );
        // Until the one that was cut has left, nobody else comes.
        assert_eq!(places.room(later), Room::Full);
        drop(first);
        assert_eq!(places.room(later), Room::ForNewcomer);
        drop(second);
        assert_eq!(places.room(later), Room::Free);
    }

    #[test]
    fn a_full_address_makes_room_by_itself() {
        let (places, began) = (Places::new(9, 2, MAX_NEWCOMERS), Instant::now());
        let other = places.take(address(1), began).unwrap();
        let [first, second] = [(); 2].map(|()| places.take(address(2), began).unwrap());
        assert!(places.take(address(2), began).is_none());
        let third = places.take(address(2), began + PATIENCE).unwrap();
        assert_eq!([&other, &first, &second, &third].map(was_cut), [false, true, false, false]);
    }

    #[test]
    fn who_has_sent_a_request_stays() {
        let (places, began) = (Places::new(2, 2, MAX_NEWCOMERS), Instant::now());
        let settled = [1, 2].map(|last| places.take(address(last), began).unwrap());
        settled.iter().for_each(Place::settle);
        assert_eq!(places.room(began + PATIENCE), Room::Full);
        drop(settled);
        assert_eq!(places.room(began), Room::Free);
        assert!(places.lock().by_address.is_empty());
    }

    #[test]
    fn newcomers_have_a_limit_of_their_own() {
        let (places, began) = (Places::new(9, 9, 1), Instant::now());
        let first = places.take(address(1), began).unwrap();
        assert_eq!(places.room(began), Room::From(began + PATIENCE));
        first.settle();
        assert_eq!(places.room(began), Room::Free);
    }

    #[test]
    fn an_address_has_its_own_limit() {
        let (places, now) = (Places::new(9, 2, MAX_NEWCOMERS), Instant::now());
        let subnet = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let held: Vec<Place> = [1, 2].iter().filter_map(|last| places.take(subnet(*last), now)).collect();
        assert!(places.take(subnet(3), now).is_none());
        assert!(places.take(address(1), now).is_some());
        drop(held);
        assert!(places.take(subnet(3), now).is_some());
    }
}
