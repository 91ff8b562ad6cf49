//! Flow schemas with their levels, computed anew whenever a flow schema or a priority level changes.

use std::{collections::HashMap, sync::Arc};

use http::HeaderName;
use orch_flow::{
    config::{Configuration, Configured, Level, LevelKind, SchemaConfig},
    matching::Schemas,
    shares,
    width::most_of,
};

use super::{Clock, gate::Gate};

/// Flow schemas, and the place that each leads to.
pub struct Plan {
    pub(super) number: u64,
    pub(super) schemas: Schemas,
    /// In the order of the schemas.
    pub(super) places: Vec<Place>,
    /// The headers that name the flow schema and the level of a request, in each vocabulary.
    pub(super) headers: Arc<[[HeaderName; 2]]>,
}

/// Where the requests of a flow schema go.
pub(super) struct Place {
    pub(super) gate: Arc<Gate>,
    /// What the level does with them.
    pub(super) kind: LevelKind,
    /// The number by which its level counts them.
    pub(super) tally: usize,
    /// The most seats of one of them.
    pub(super) most_seats: u32,
    /// Of the flow schema and the level.
    pub(super) uids: [String; 2],
}

/// Makes a plan. Levels that were there before keep their requests. One that is gone keeps its seats until
/// its requests have ended, and still has them if it comes back before. Answers name their flow schema and
/// level by `headers`. A plan has a `number` of its own.
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
    gates.retain(|name, gate| plain.iter().any(|level| level.name == *name) || gate.quiesce());
    for (level, seats) in plain.iter().zip(&seats) {
        match gates.get(&level.name) {
            Some(gate) => gate.configure(level.kind, *seats),
            None => drop(gates.insert(level.name.clone(), Gate::new(level, *seats, clock))),
        }
    }
    let uids: HashMap<String, String> =
        schemas.iter().map(|schema| (schema.object.name.clone(), schema.uid.clone())).collect();
    let schemas = Schemas::new(schemas.into_iter().map(|schema| schema.object).collect());
    for (name, gate) in &*gates {
        let leads = |schema: &str| schemas.all().iter().any(|it| it.name == schema && it.level == *name);
        gate.keep_tallies(leads);
    }
    let place = |schema: &SchemaConfig| {
        let found = levels.iter().zip(&seats).find(|(level, _)| level.object.name == schema.level);
        let (Configured { object: level, uid: of_level }, seats) =
            found.expect("schemas without level are left out");
        let gate = Arc::clone(&gates[&level.name]);
        Place {
            tally: gate.tally(&schema.name),
            kind: level.kind,
            gate,
            most_seats: most_of(level, seats),
            uids: [uids[&schema.name].clone(), of_level.clone()],
        }
    };
    let places = schemas.all().iter().map(place).collect();
    Plan { number, schemas, places, headers: Arc::clone(headers) }
}
