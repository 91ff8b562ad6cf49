//! Where each request belongs, made anew whenever a priority level or a flow schema changes.

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Arc, OnceLock},
};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use orch_auth::user::UserInfo;
use orch_flow::{
    config::{Level, SchemaConfig},
    matching::{Candidates, Flow, Schemas, What, Who, distinguisher},
    shares,
    width::most_of,
};
use orch_kinds::sources::flow_control::{Configuration, Configured};

use super::{Clock, gate::Gate};
use crate::header_names::AUDIT_ID;

/// Flow schemas, and the place that each leads to.
pub struct Plan {
    pub(super) number: u64,
    pub(super) schemas: Schemas,
    /// In the order of the schemas.
    places: Vec<Place>,
    /// The headers that name the flow schema and the level of a request, in each vocabulary.
    headers: Arc<[[HeaderName; 2]]>,
}

/// Where the requests of a flow schema go.
struct Place {
    gate: Arc<Gate>,
    /// The number by which its level counts them.
    tally: usize,
    /// The most seats of one of them.
    most_seats: u32,
    /// Of the flow schema and the level.
    uids: [String; 2],
}

/// What matches the user of a connection, for one plan.
pub struct Remembered {
    plan: Arc<Plan>,
    user: Arc<UserInfo>,
    candidates: Candidates,
    /// The headers of answers, by candidate. Each connection has its own: copies count their users, and to
    /// count on several processors at once takes longer than the copy.
    heads: Box<[OnceLock<HeaderMap>]>,
}

/// Where a request belongs. It is small: a request carries it until its answer.
pub struct Placed {
    remembered: Arc<Remembered>,
    schema: u32,
    candidate: u32,
}

impl Remembered {
    pub(super) fn new(plan: Arc<Plan>, user: &Arc<UserInfo>) -> Self {
        let candidates = plan.schemas.of_user(Who { user: &user.name, groups: &user.groups });
        let heads = (0..candidates.len()).map(|_| OnceLock::new()).collect();
        Remembered { plan, user: Arc::clone(user), candidates, heads }
    }

    /// Whether it holds for a user by the plan of this number.
    pub(super) fn is_of(&self, plan: u64, user: &Arc<UserInfo>) -> bool {
        self.plan.number == plan
            && (Arc::ptr_eq(&self.user, user)
                || (self.user.name == user.name && self.user.groups == user.groups))
    }

    /// Where a request belongs, and the hash of its flow; `None` where there are no schemas.
    pub(super) fn place(self: Arc<Self>, what: What<'_>) -> Option<(Placed, u64)> {
        let Flow { schema, candidate, hash } = self.plan.schemas.flow(&self.candidates, what)?;
        // Nobody has as many as four billion.
        Some((Placed { remembered: self, schema: schema as u32, candidate: candidate as u32 }, hash))
    }
}

impl Placed {
    /// The most seats of a request there.
    pub fn most_seats(&self) -> u32 {
        self.place().most_seats
    }

    /// What distinguishes its flow from others of its schema.
    pub fn distinguisher<'a>(&self, who: Who<'a>, what: What<'a>) -> &'a str {
        distinguisher(&self.remembered.plan.schemas.all()[self.schema as usize], who, what)
    }

    /// Says in an answer where its request belonged.
    pub fn mark(&self, headers: &mut HeaderMap) {
        let head = self.remembered.heads[self.candidate as usize].get_or_init(|| self.head());
        // A copy of a map costs less than insertions: names that the HTTP library does not know are hashed.
        let others = mem::replace(headers, head.clone());
        if !others.contains_key(header::CONTENT_TYPE) {
            headers.remove(header::CONTENT_TYPE);
        }
        headers.extend(others);
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

    /// The headers that name the flow schema and the level, and those that most answers have besides, with
    /// room for their values: a map that need not grow is copied, and nothing else.
    fn head(&self) -> HeaderMap {
        let value =
            |uid: &String| HeaderValue::from_str(uid).unwrap_or_else(|_| HeaderValue::from_static(""));
        let uids = self.place().uids.each_ref().map(value);
        let mut head = HeaderMap::with_capacity(12);
        for names in &*self.remembered.plan.headers {
            for (name, uid) in names.iter().zip(&uids) {
                // A name of its own, for the reason that is told at `heads`.
                let name = HeaderName::from_bytes(name.as_ref()).expect("a name is a name");
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

/// Makes a plan. Levels that were there before keep their requests; one that is gone keeps those that it has
/// until they end. Answers name their flow schema and level by `headers`. A plan has a `number` of its own.
pub(super) fn make(
    number: u64,
    gates: &mut HashMap<String, Arc<Gate>>,
    configuration: Configuration,
    total_seats: u32,
    clock: Clock,
    headers: &Arc<[[HeaderName; 2]]>,
) -> Plan {
    let Configuration { levels, schemas } = configuration;
    let plain: Vec<Level> = levels.iter().map(|level| level.object.clone()).collect();
    let seats = shares::seats(total_seats, &plain);
    gates.retain(|name, _| plain.iter().any(|level| level.name == *name));
    for (level, seats) in plain.iter().zip(&seats) {
        match gates.get(&level.name) {
            Some(gate) => gate.configure(level.kind, *seats),
            None => drop(gates.insert(level.name.clone(), Gate::new(level, *seats, clock))),
        }
    }
    let uids: HashMap<String, String> =
        schemas.iter().map(|schema| (schema.object.name.clone(), schema.uid.clone())).collect();
    let schemas = Schemas::new(schemas.into_iter().map(|schema| schema.object).collect());
    let place = |schema: &SchemaConfig| {
        let found = levels.iter().zip(&seats).find(|(level, _)| level.object.name == schema.level);
        let (Configured { object: level, uid: of_level }, seats) =
            found.expect("schemas without level are left out");
        let gate = Arc::clone(&gates[&level.name]);
        Place {
            tally: gate.tally(&schema.name),
            gate,
            most_seats: most_of(level, seats),
            uids: [uids[&schema.name].clone(), of_level.clone()],
        }
    };
    let places = schemas.all().iter().map(place).collect();
    Plan { number, schemas, places, headers: Arc::clone(headers) }
}
