//! What watches were told by several servers, one after the other, and what is wrong with it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use http::Method;
use orch_tests::{
    Client,
    client::Next,
    linear::{Answer, Call, Operation},
    objects::{CONFIG_MAPS, name, version},
};
use serde_json::Value;
use tokio::sync::watch;

/// How long a watch is silent before somebody else is asked.
const SILENCE: Duration = Duration::from_secs(5);

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    version: u64,
    kind: String,
    name: String,
    value: String,
}

/// What one watch was told.
#[derive(Debug, Default)]
pub struct Told {
    events: Vec<Event>,
    /// Versions that history did not have any more when they were asked for: after the first, up to the last.
    gaps: Vec<(u64, u64)>,
}

/// The version of an object or a list.
pub fn number(object: &Value) -> u64 {
    version(object).parse().expect("a version is a number")
}

/// Follows all objects from a version on, at one server after the other, up to the version that is sent at
/// the end.
pub async fn follow(
    clients: Vec<Client>,
    first: usize,
    after: u64,
    end: watch::Receiver<Option<u64>>,
) -> Told {
    let (mut told, mut seen, mut turn) = (Told::default(), after, first);
    while end.borrow().is_none_or(|end| seen < end) {
        let client = &clients[turn % clients.len()];
        turn += 1;
        let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={seen}&timeoutSeconds=20");
        let opened = client.request(Method::GET, &path).patience(SILENCE).try_watch().await;
        let mut watch = match opened {
            Ok(Ok(watch)) => watch,
            Ok(Err(answer)) if answer.status == 410 => {
                seen = start_over(client, seen, &mut told).await;
                continue;
            }
            _ => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        while let Next::Event(event) = watch.next(SILENCE).await {
            if event["type"] == "ERROR" {
                assert_eq!(event["object"]["code"], 410, "{event}");
                seen = start_over(client, seen, &mut told).await;
                break;
            }
            let object = &event["object"];
            seen = number(object);
            told.events.push(Event {
                version: seen,
                kind: event["type"].as_str().unwrap_or_default().to_owned(),
                name: name(object).to_owned(),
                value: object["data"]["value"].as_str().unwrap_or_default().to_owned(),
            });
            if end.borrow().is_some_and(|end| seen >= end) {
                break;
            }
        }
    }
    told
}

/// Lists again. Returns the version to watch from, which is what it was where there is no answer.
async fn start_over(client: &Client, seen: u64, told: &mut Told) -> u64 {
    match client.request(Method::GET, CONFIG_MAPS).patience(SILENCE).try_send().await {
        Ok(answer) if answer.status == 200 => {
            let now = number(&answer.json());
            assert!(now > seen, "{seen} is not too old where the newest is {now}");
            told.gaps.push((seen, now));
            now
        }
        _ => seen,
    }
}

/// Panics where a watch was not told everything, once and in order; where two watches were told different
/// things; and where they were told what nobody has written, or not told what was acknowledged. Between the
/// versions of `merged` a server may have told differences alone: not each state, and removals at a version
/// of its own.
pub fn judge(all: &[Told], operations: &[Operation], last: u64, merged: &[(u64, u64)]) {
    let is_within = |gaps: &[(u64, u64)], version| {
        gaps.iter().any(|(after, up_to)| version > *after && version <= *up_to)
    };
    let mut written: BTreeMap<u64, &Event> = BTreeMap::new();
    for told in all {
        // Removals whose own versions are gone share one version.
        let rises = told.events.is_sorted_by(|one, next| {
            let is_free = is_within(merged, one.version) && one.name != next.name;
            one.version < next.version || (one.version == next.version && is_free)
        });
        assert!(rises, "events come once and in order: {told:#?}");
        for event in &told.events {
            let known = written.entry(event.version).or_insert(event);
            let is_same = *known == event || is_within(merged, event.version);
            assert!(is_same, "watches are told {known:?} and {event:?}");
        }
    }
    let is_in_gap = |told: &Told, version| is_within(&told.gaps, version) || is_within(merged, version);
    for (index, told) in all.iter().enumerate() {
        let known: BTreeMap<u64, &Event> = told.events.iter().map(|event| (event.version, event)).collect();
        let missing: Vec<_> = written
            .range(..=last)
            .filter(|(version, _)| !known.contains_key(version) && !is_in_gap(told, **version))
            .collect();
        assert!(missing.is_empty(), "watch {index} missed {missing:#?}");
        println!("watch {index}: {} events, {} gaps", told.events.len(), told.gaps.len());
    }

    let value = |call| match call {
        Call::Create(value) | Call::Replace(_, value) => Some(value.to_string()),
        Call::Read | Call::Remove(_) => None,
    };
    let mut outcomes: HashMap<String, (u64, Answer)> = HashMap::new();
    for Operation { key, call, answer, .. } in operations {
        if let Some(value) = value(*call) {
            outcomes.insert(value, (*key, *answer));
        }
    }
    for event in written.values().filter(|event| event.kind != "DELETED" && event.name != "last") {
        let outcome = outcomes.get(&event.value).map(|(key, answer)| (format!("k{key}"), answer));
        let may_be = match &outcome {
            Some((name, Answer::Made(version))) => *version == Some(event.version) && *name == event.name,
            Some((name, Answer::Unknown)) => *name == event.name,
            _ => false,
        };
        assert!(may_be, "{event:?} is told, and the answer was {outcome:?}");
    }
    let everywhere = |version| all.iter().any(|told| !is_in_gap(told, version));
    for (key, answer) in outcomes.values() {
        if let Answer::Made(Some(version)) = answer {
            let is_told = written.get(version).is_some_and(|event| event.name == format!("k{key}"));
            assert!(is_told || !everywhere(*version), "version {version} was acknowledged, and not told");
        }
    }
}
