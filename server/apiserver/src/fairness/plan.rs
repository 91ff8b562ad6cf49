//! Where each request belongs, made anew whenever a priority level or a flow schema changes.

use std::{collections::HashMap, fmt, mem, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue};
use orch_auth::user::UserInfo;
use orch_flow::{
    config::{Level, SchemaConfig},
    matching::{Candidates, Schemas, What, Who, distinguisher},
    shares,
    width::most_of,
};
use orch_kinds::sources::flow_control::{Configuration, Configured};

use super::{Clock, gate::Gate};

/// Flow schemas, and the place that each leads to.
pub struct Plan {
    pub(super) schemas: Schemas,
    /// In the order of the schemas.
    pub(super) places: Vec<Place>,
}

/// Where the requests of a flow schema go.
pub struct Place {
    pub(super) gate: Arc<Gate>,
    /// The number by which its level counts them.
    pub(super) tally: usize,
    /// The most seats of one of them.
    pub most_seats: u32,
    /// The headers that name the flow schema and the level, by their uids.
    marks: HeaderMap,
}

/// What matches the user of a connection, for one plan.
pub struct Remembered {
    plan: Arc<Plan>,
    user: Arc<UserInfo>,
    pub(super) candidates: Candidates,
}

impl Plan {
    /// The place of a schema.
    pub fn place(&self, schema: usize) -> &Place {
        &self.places[schema]
    }

    /// What distinguishes the flow of a request from others of its schema.
    pub fn distinguisher<'a>(&self, schema: usize, who: Who<'a>, what: What<'a>) -> &'a str {
        distinguisher(&self.schemas.all()[schema], who, what)
    }
}

impl Remembered {
    pub(super) fn new(plan: &Arc<Plan>, user: &Arc<UserInfo>) -> Self {
        let candidates = plan.schemas.of_user(Who { user: &user.name, groups: &user.groups });
        Remembered { plan: Arc::clone(plan), user: Arc::clone(user), candidates }
    }

    pub(super) fn is_of(&self, plan: &Arc<Plan>, user: &Arc<UserInfo>) -> bool {
        Arc::ptr_eq(&self.plan, plan)
            && (Arc::ptr_eq(&self.user, user)
                || (self.user.name == user.name && self.user.groups == user.groups))
    }
}

impl Place {
    /// Says in an answer where its request belonged.
    pub fn mark(&self, headers: &mut HeaderMap) {
        // A copy of a map costs less than insertions: names that the HTTP library does not know are hashed.
        let others = mem::replace(headers, self.marks.clone());
        headers.extend(others);
    }
}

impl fmt::Debug for Remembered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Remembered").field("user", &self.user.name).finish_non_exhaustive()
    }
}

/// Makes a plan. Levels that were there before keep their requests; one that is gone keeps those that it has
/// until they end. Answers name their flow schema and level by `headers`.
pub(super) fn make(
    gates: &mut HashMap<String, Arc<Gate>>,
    configuration: Configuration,
    total_seats: u32,
    clock: Clock,
    headers: &[[HeaderName; 2]],
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
    let uid = |uid: &str| HeaderValue::from_str(uid).unwrap_or_else(|_| HeaderValue::from_static(""));
    let uids: HashMap<String, HeaderValue> =
        schemas.iter().map(|schema| (schema.object.name.clone(), uid(&schema.uid))).collect();
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
            marks: marks(headers, &[uids[&schema.name].clone(), uid(of_level)]),
        }
    };
    let places = schemas.all().iter().map(place).collect();
    Plan { schemas, places }
}

fn marks(names: &[[HeaderName; 2]], uids: &[HeaderValue; 2]) -> HeaderMap {
    names.iter().flat_map(|names| names.iter().cloned().zip(uids.iter().cloned())).collect()
}
