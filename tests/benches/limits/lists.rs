//! Large lists: what memory it takes to send one, how long it takes to find that nothing is selected, and
//! what it costs to show objects in another version than the stored one.

use std::time::{Duration, Instant};

use bytes::Bytes;
use orch_storage::{Body, Change, Key, Storage};
use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, SECRETS, config_map},
};
use serde_json::json;

use super::{
    MANY, VALUE_BYTES, WRITERS,
    load::{self, Load},
    process,
    report::{Report, Wanted, median},
};

/// Objects among which nothing is selected.
const SELECTED_FROM: usize = 300_000;

/// Objects that are listed in two versions.
const CONVERTED: usize = 10_000;

/// How often a list is asked for.
const LISTS: usize = 9;

/// LIST of many objects: memory that the answer takes beside the objects.
pub async fn memory(report: &mut Report) {
    let server = TestServer::start().await;
    let template = config_map("NAME", &"x".repeat(VALUE_BYTES)).to_string();
    fill(&server, CONFIG_MAPS, &template, MANY).await;
    let reader = Load::open(&server, server.address(), Protocol::Http1, 1).await;
    let mut extra = Vec::new();
    for _ in 0..LISTS {
        let before = process::resident_bytes(server.pid());
        process::reset_peak(server.pid());
        reader.send(1, load::get(CONFIG_MAPS)).await;
        extra.push(process::peak_bytes(server.pid()) - before);
    }
    report.size("LIST of 100,000 objects, memory", median(&mut extra), Wanted::AtMost(10.0));
}

/// LIST with selectors that match nothing.
pub async fn selectors(report: &mut Report) {
    let server = TestServer::start().await;
    let template = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "NAME", "labels": {"app": "a"}},
    });
    fill(&server, SECRETS, &template.to_string(), SELECTED_FROM).await;
    let scan = scan().await;
    for (what, query, wanted) in [
        ("LIST of none by indexed label", "labelSelector=owner%3Dnobody", Duration::from_millis(5)),
        ("LIST of none by indexed field", "fieldSelector=type%3Dnone", Duration::from_millis(5)),
        ("LIST of none by another label", "labelSelector=app%3Dnone", scan),
        ("LIST of none by a label's absence", "labelSelector=!app", Duration::ZERO),
    ] {
        let path = format!("{SECRETS}?{query}");
        let reader = Load::open(&server, server.address(), Protocol::Http1, 1).await;
        let mut times = Vec::new();
        for _ in 0..LISTS {
            let began = Instant::now();
            reader.send(1, load::get(&path)).await;
            times.push(began.elapsed());
        }
        // The first request fills caches.
        report.time(&format!("{what}, the first"), times[0], Wanted::Unlimited);
        let wanted = match wanted {
            Duration::ZERO => Wanted::Unlimited,
            wanted => Wanted::AtMost((wanted.as_secs_f64() * 1000.0).ceil()),
        };
        report.time(what, median(&mut times), wanted);
    }
}

/// LIST of all objects in the stored version of their kind, and in another one: for the first time, when each
/// object is converted, and later.
pub async fn versions(report: &mut Report) {
    const GROUP: &str = "flowcontrol.apiserver.orch.io";
    // The objects are priority levels: a server that used them would share its places among 10,000 of them.
    let server = TestServer::options()
        .flag(format!("--runtime-config={GROUP}/v1beta2"))
        .flag("--enable-priority-and-fairness=false")
        .start()
        .await;
    let path = |version: &str| format!("/apis/{GROUP}/{version}/prioritylevelconfigurations");
    let template = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "PriorityLevelConfiguration",
        "metadata": {"name": "NAME"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 7, "limitResponse": {"type": "Reject"},
        }},
    });
    fill(&server, &path("v1"), &template.to_string(), CONVERTED).await;
    let reader = Load::open(&server, server.address(), Protocol::Http1, 1).await;
    for (what, version) in [("stored", "v1"), ("another", "v1beta2")] {
        let mut times = Vec::new();
        for _ in 0..LISTS {
            let began = Instant::now();
            reader.send(1, load::get(&path(version))).await;
            times.push(began.elapsed());
        }
        let what = format!("LIST of 10,000 objects in {what} version");
        report.time(&format!("{what}, the first"), times[0], Wanted::Unlimited);
        report.time(&what, median(&mut times[1..]), Wanted::Unlimited);
    }
}

/// Stores so many objects through the API.
async fn fill(server: &TestServer, collection: &str, template: &str, count: usize) {
    let writers = Load::open(server, server.address(), Protocol::Http1, WRITERS).await;
    writers.send(count, load::create(collection, template)).await;
}

/// The limit of a list without an index: one look at each object of as many in a map of the store.
async fn scan() -> Duration {
    let storage = Storage::in_memory();
    let writes = (0..SELECTED_FROM).map(|number| {
        let key = Key::new("secrets".into(), "default", format!("object-{number:07}"));
        storage.commit(Change::Create { key, body: Body::new(b"{}".to_vec(), 1) })
    });
    for write in writes {
        write.await.expect("the store takes it");
    }
    let mut times = Vec::new();
    for _ in 0..LISTS {
        let snapshot = storage.snapshot(&"secrets".into());
        let began = Instant::now();
        let empty = snapshot.iter().filter(|object| object.value().is_ok_and(Bytes::is_empty));
        assert_eq!(empty.count(), 0);
        times.push(began.elapsed());
    }
    median(&mut times)
}
