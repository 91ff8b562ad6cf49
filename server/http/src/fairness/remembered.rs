//! A cache for the users of a connection, so that most requests find flow schema and level without a search.

use std::{
    borrow::Cow,
    fmt, mem,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use http::{HeaderMap, HeaderValue, header};
use orch_auth::user::UserInfo;
use orch_flow::{
    config::{Distinguisher, SchemaConfig},
    dealing::{Hand, flow_hash},
    matching::{Candidates, Found, What, Who, distinguisher},
};

use super::{
    gate::Gate,
    plan::{Place, Plan},
};
use crate::header_names::AUDIT_ID;

/// How many users of a connection are remembered.
const USERS: usize = 8;

/// The users of a connection that asked last. Most connections have one; that of a proxy has one for each
/// user behind it.
#[derive(Debug, Default)]
pub struct RememberedUsers(Mutex<Vec<Arc<Remembered>>>);

/// What matches a user, for one plan.
pub struct Remembered {
    plan: Arc<Plan>,
    user: Arc<UserInfo>,
    candidates: Candidates,
    /// By candidate.
    known: Box<[Known]>,
}

/// What is known of the requests of a user that a flow schema matches.
#[derive(Default)]
struct Known {
    /// The headers of their answers. Each connection has its own: copies count their users, and to count on
    /// several processors at once takes longer than the copy.
    head: OnceLock<HeaderMap>,
    /// The queues of the flow, where the schema has one flow for the user.
    hand: OnceLock<Hand>,
    /// The last namespace and its queues, where each namespace is a flow.
    of_namespace: Mutex<Option<(String, Hand)>>,
}

/// The flow schema and the level of a request. It is small: a request carries it until its answer.
pub struct Placed {
    remembered: Arc<Remembered>,
    schema: u32,
    candidate: u32,
}

impl RememberedUsers {
    /// What is remembered of a user, by the plan of this number. `plan` gives that plan, or a newer one.
    pub(super) fn of(
        &self,
        number: u64,
        user: &Arc<UserInfo>,
        plan: impl FnOnce() -> Arc<Plan>,
    ) -> Arc<Remembered> {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = users.iter().position(|known| known.is_of(number, user)) {
            users[..=place].rotate_right(1);
        } else {
            let new = Remembered::new(plan(), user);
            // What holds for an older plan is not asked for again.
            users.retain(|known| known.plan.number == new.plan.number);
            users.truncate(USERS - 1);
            users.insert(0, Arc::new(new));
        }
        Arc::clone(&users[0])
    }
}

impl Remembered {
    fn new(plan: Arc<Plan>, user: &Arc<UserInfo>) -> Self {
        let candidates = plan.schemas.of_user(who(user));
        let known = (0..candidates.len()).map(|_| Known::default()).collect();
        Remembered { plan, user: Arc::clone(user), candidates, known }
    }

    /// Whether it holds for a user by the plan of this number.
    fn is_of(&self, plan: u64, user: &Arc<UserInfo>) -> bool {
        self.plan.number == plan
            && (Arc::ptr_eq(&self.user, user)
                || (self.user.name == user.name && self.user.groups == user.groups))
    }

    /// Where a request belongs; `None` where there are no schemas.
    pub(super) fn place(self: Arc<Self>, what: What<'_>) -> Option<Placed> {
        let Found { schema, candidate } = self.plan.schemas.find(&self.candidates, what)?;
        // Nobody has as many as four billion.
        Some(Placed { remembered: self, schema: schema as u32, candidate: candidate as u32 })
    }
}

fn who(user: &UserInfo) -> Who<'_> {
    Who { user: &user.name, groups: &user.groups }
}

impl Placed {
    /// The most seats of a request there.
    pub fn most_seats(&self) -> u32 {
        self.place().most_seats
    }

    /// What distinguishes its flow from others of its schema.
    pub fn distinguisher<'a>(&'a self, what: What<'a>) -> &'a str {
        distinguisher(self.schema(), who(&self.remembered.user), what)
    }

    /// The headers that its answer begins with: those that name the flow schema and the level, and those that
    /// most answers have besides, whose values are still to be set.
    pub fn headers(&self) -> &HeaderMap {
        self.known().head.get_or_init(|| self.head())
    }

    /// Names flow schema and level in the headers of an answer. Headers that [began](Placed::headers) with
    /// them stay as they are.
    pub fn mark(&self, headers: &mut HeaderMap) {
        let head = self.headers();
        // The first name tells whether the map began as `head`: it is never removed, and to remove another
        // one moves only the last entry of a `HeaderMap`. To look the name up would take a hash of it.
        if headers.keys().next() == head.keys().next() {
            return;
        }
        // A copy of a map costs less than insertions: names that the HTTP library does not know are hashed.
        let others = mem::replace(headers, head.clone());
        if !others.contains_key(header::CONTENT_TYPE) {
            headers.remove(header::CONTENT_TYPE);
        }
        headers.extend(others);
    }

    /// The queues of the flow of a request.
    pub(super) fn hand(&self, what: What<'_>) -> Cow<'_, Hand> {
        let (known, schema) = (self.known(), self.schema());
        let deal = |flow: &str| Hand::at(self.place().kind, flow_hash(&schema.name, flow));
        if schema.distinguisher != Distinguisher::Namespace {
            return Cow::Borrowed(known.hand.get_or_init(|| deal(self.distinguisher(what))));
        }
        let namespace = self.distinguisher(what);
        let mut last = known.of_namespace.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, hand)) = &*last
            && of == namespace
        {
            return Cow::Owned(*hand);
        }
        let (_, hand) = last.insert((namespace.to_owned(), deal(namespace)));
        Cow::Owned(*hand)
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.place().gate
    }

    pub(super) fn tally(&self) -> usize {
        self.place().tally
    }

    fn place(&self) -> &Place {
        &self.remembered.plan.places[self.schema as usize]
    }

    fn schema(&self) -> &SchemaConfig {
        &self.remembered.plan.schemas.all()[self.schema as usize]
    }

    fn known(&self) -> &Known {
        &self.remembered.known[self.candidate as usize]
    }

    /// See [`headers`](Placed::headers). The map has room for their values: one that need not grow is copied,
    /// and nothing else. Those of the schema and the level come first.
    fn head(&self) -> HeaderMap {
        let value =
            |uid: &String| HeaderValue::from_str(uid).unwrap_or_else(|_| HeaderValue::from_static(""));
        let uids = self.place().uids.each_ref().map(value);
        let mut head = HeaderMap::with_capacity(12);
        for names in &*self.remembered.plan.headers {
            for (name, uid) in names.iter().zip(&uids) {
                head.insert(name, uid.clone());
            }
        }
        head.insert(header::CONTENT_TYPE, HeaderValue::from_static(""));
        head.insert(AUDIT_ID, HeaderValue::from_static(""));
        head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        head
    }
}

impl fmt::Debug for Remembered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Remembered").field("user", &self.user.name).finish_non_exhaustive()
    }
}
