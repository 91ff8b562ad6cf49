//! Events in their two groups: the same objects, read and written in either form.

use std::time::Duration;

use http::Method;
use orch_machinery::{json::Limits, protobuf::decode};
use orch_tests::{Client, TestServer, client::Answer, objects::names};
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEWER: &str = "/apis/events.orch.io/v1/namespaces/default/events";
const APPLY: &str = "application/apply-patch+yaml";

/// An event as a program of the newer group reports it.
fn reported(name: &str, note: &str) -> Value {
    json!({
        "apiVersion": "events.orch.io/v1", "kind": "Event", "metadata": {"name": name},
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "p", "uid": "u"},
        "eventTime": "2026-11-20T15:14:00.000001Z", "reportingController": "example.com/c",
        "reportingInstance": "i", "action": "Pull", "reason": "Pulled", "type": "Normal", "note": note,
    })
}

/// An event as an old program reports it.
fn told(name: &str, message: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "q", "uid": "v",
        },
        "firstTimestamp": "2026-11-20T15:14:00Z", "lastTimestamp": "2026-11-20T15:15:00Z", "count": 2,
        "source": {"component": "kubelet", "host": "h"}, "reason": "Killed", "type": "Warning",
        "message": message,
    })
}

async fn apply(client: &Client, path: &str, manager: &str, object: &Value) -> Answer {
    let path = format!("{path}?fieldManager={manager}");
    client.request(Method::PATCH, &path).body(APPLY, object.to_string()).send().await
}

/// The fields of a manager in an object, and the version that they are named in.
fn owned<'o>(object: &'o Value, manager: &str) -> (&'o str, Vec<&'o str>) {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == manager).unwrap();
    let fields = entry["fieldsV1"].as_object().unwrap().keys().map(String::as_str).collect();
    (entry["apiVersion"].as_str().unwrap(), fields)
}

#[tokio::test]
async fn an_event_has_two_forms() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(NEWER, &reported("new", "pulled it")).await.expect(201);
    assert_eq!(
        (&created["apiVersion"], &created["note"]),
        (&json!("events.orch.io/v1"), &json!("pulled it"))
    );
    let core = admin.get(&format!("{CORE}/new")).await.expect(200);
    let mut expected = json!({
        "kind": "Event", "apiVersion": "v1", "metadata": created["metadata"],
        "involvedObject": created["regarding"], "reason": "Pulled", "message": "pulled it", "source": {},
        "firstTimestamp": null, "lastTimestamp": null, "type": "Normal",
        "eventTime": "2026-11-20T15:14:00.000001Z", "action": "Pull",
        "reportingComponent": "example.com/c", "reportingInstance": "i",
    });
    assert_eq!(core, expected);

    admin.post(CORE, &told("old", "killed it")).await.expect(201);
    let newer = admin.get(&format!("{NEWER}/old")).await.expect(200);
    expected = json!({
        "kind": "Event", "apiVersion": "events.orch.io/v1", "metadata": newer["metadata"], "eventTime": null,
        "reason": "Killed", "regarding": told("", "")["involvedObject"], "note": "killed it",
        "type": "Warning", "deprecatedSource": {"component": "kubelet", "host": "h"},
        "deprecatedFirstTimestamp": "2026-11-20T15:14:00Z", "deprecatedLastTimestamp": "2026-11-20T15:15:00Z",
        "deprecatedCount": 2,
    });
    assert_eq!(newer, expected);

    // Lists, selectors and tables of either.
    for (collection, selector, kind) in [
        (CORE, "involvedObject.name=p", "v1"),
        (NEWER, "regarding.name=p", "events.orch.io/v1"),
        (CORE, "reportingComponent=example.com/c", "v1"),
        (NEWER, "reportingController=example.com/c,type!=Warning", "events.orch.io/v1"),
    ] {
        let list = admin.get(&format!("{collection}?fieldSelector={selector}")).await.expect(200);
        assert_eq!((names(&list), &list["apiVersion"]), (vec!["new"], &json!(kind)), "{selector}");
        let item = admin.get(&format!("{collection}/new")).await.expect(200);
        let field = if collection == CORE { "message" } else { "note" };
        assert_eq!(list["items"][0][field], item[field]);
        let both = admin.get(collection).await.expect(200);
        assert_eq!(names(&both), ["new", "old"]);
    }
    for (path, field) in [(CORE, "regarding.name"), (NEWER, "involvedObject.name"), (NEWER, "source")] {
        admin.get(&format!("{path}?fieldSelector={field}=p")).await.refused(400, "BadRequest");
    }
    let table = "application/json;as=Table;v=v1;g=meta.orch.io";
    let rows = |path: &'static str| admin.request(Method::GET, path).header("accept", table).send();
    let (core, newer) = (rows(CORE).await.expect(200), rows(NEWER).await.expect(200));
    let cells =
        |table: &Value| table["rows"].as_array().unwrap().iter().map(|row| row["cells"].clone()).collect();
    let (core, newer): (Vec<Value>, Vec<Value>) = (cells(&core), cells(&newer));
    assert_eq!(core[1][3], "pod/q");
    // Ages may have gone on in between.
    assert_eq!((&core[0][1], &core[1][6]), (&newer[0][1], &newer[1][6]));
    assert_eq!(core[1].as_array().unwrap()[1..7], newer[1].as_array().unwrap()[1..7]);
}

#[tokio::test]
async fn either_form_is_changed_and_deleted() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(NEWER, &reported("e", "first")).await.expect(201);
    // The newer group lets the series change only, the core group anything.
    admin.merge(&format!("{NEWER}/e"), &json!({"note": "second"})).await.refused(422, "Invalid");
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-11-20T15:20:00.000000Z"}});
    let changed = admin.merge(&format!("{NEWER}/e"), &series).await.expect(200);
    assert_eq!(changed["metadata"]["uid"], created["metadata"]["uid"]);
    let changed = admin.merge(&format!("{CORE}/e"), &json!({"message": "second"})).await.expect(200);
    assert_eq!(changed["series"], series["series"]);
    let read = admin.get(&format!("{NEWER}/e")).await.expect(200);
    assert_eq!((&read["note"], &read["series"]), (&json!("second"), &series["series"]));

    // A PUT of what was read changes nothing; with an old version it is a conflict.
    let same = admin.put(&format!("{NEWER}/e"), &read).await.expect(200);
    assert_eq!(same, read);
    admin.put(&format!("{NEWER}/e"), &created).await.refused(409, "Conflict");
    // A PUT creates what is missing.
    admin.put(&format!("{NEWER}/put"), &reported("put", "x")).await.expect(201);
    admin.post(CORE, &told("put", "x")).await.refused(409, "AlreadyExists");

    admin.delete(&format!("{CORE}/e")).await.expect(200);
    admin.get(&format!("{NEWER}/e")).await.refused(404, "NotFound");
    admin.delete(NEWER).await.expect(200);
    assert_eq!(admin.get(CORE).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_watch_shows_each_form() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut core = admin.watch(&format!("{CORE}?watch=1&fieldSelector=type=Normal")).await;
    let mut newer = admin.watch(&format!("{NEWER}?watch=1&fieldSelector=type=Normal")).await;
    admin.post(NEWER, &reported("e", "first")).await.expect(201);
    admin.merge(&format!("{CORE}/e"), &json!({"message": "second"})).await.expect(200);
    admin.merge(&format!("{CORE}/e"), &json!({"type": "Warning"})).await.expect(200);
    for (word, text) in [("ADDED", "first"), ("MODIFIED", "second"), ("DELETED", "second")] {
        for (watch, field, version) in
            [(&mut core, "message", "v1"), (&mut newer, "note", "events.orch.io/v1")]
        {
            let event = watch.event().await;
            assert_eq!((&event["type"], &event["object"][field]), (&json!(word), &json!(text)));
            assert_eq!(event["object"]["apiVersion"], version);
        }
    }
    // Those that are there already come first.
    admin.post(CORE, &told("old", "killed it")).await.expect(201);
    let mut all = admin.watch(&format!("{NEWER}?watch=1")).await;
    assert_eq!(all.event().await["object"]["note"], "second");
    assert_eq!(all.event().await["object"]["note"], "killed it");
}

#[tokio::test]
async fn managed_fields_are_named_as_they_were_written() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut mine = reported("e", "first");
    apply(&admin, &format!("{NEWER}/e"), "newer", &mine).await.expect(201);
    // Another manager in the other form: what the first one owns is a conflict.
    let theirs = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": mine["regarding"],
        "message": "second",
    });
    let conflict = apply(&admin, &format!("{CORE}/e"), "core", &theirs).await.refused(409, "Conflict");
    assert!(conflict.contains("newer") && conflict.contains(".message"), "{conflict}");
    let path = format!("{CORE}/e?force=true&fieldManager=core");
    let forced = admin.request(Method::PATCH, &path).body(APPLY, theirs.to_string()).send().await.expect(200);
    assert_eq!(forced["message"], "second");
    let (version, fields) = owned(&forced, "core");
    assert_eq!((version, fields), ("v1", vec!["f:involvedObject", "f:message"]));
    let (version, fields) = owned(&forced, "newer");
    assert_eq!(version, "events.orch.io/v1");
    assert!(!fields.contains(&"f:note") && fields.contains(&"f:regarding"), "{fields:?}");

    // An update in one form takes fields that were owned in the other.
    let patch = json!({"metadata": {"managedFields": null}, "reason": "Pushed"});
    let path = format!("{CORE}/e?fieldManager=editor");
    let body = serde_json::to_vec(&json!({"reason": patch["reason"]})).unwrap();
    let request = admin.request(Method::PATCH, &path).body("application/merge-patch+json", body);
    let edited = request.send().await.expect(200);
    assert_eq!(owned(&edited, "editor"), ("v1", vec!["f:reason"]));
    assert!(!owned(&edited, "newer").1.contains(&"f:reason"));
    // Who sends back what it has read takes nothing, and changes no entry.
    let read = admin.get(&format!("{CORE}/e")).await.expect(200);
    assert_eq!(admin.put(&format!("{CORE}/e"), &read).await.expect(200), read);
    // The first manager no longer wants a field: it goes, whichever form it was written in.
    for (field, value) in [("note", "second"), ("reason", "Pushed")] {
        mine[field] = json!(value);
    }
    mine.as_object_mut().unwrap().remove("related");
    let again = apply(&admin, &format!("{NEWER}/e"), "newer", &mine).await.expect(200);
    let (_, fields) = owned(&again, "newer");
    assert!(fields.contains(&"f:note") && fields.contains(&"f:reason"), "{fields:?}");
}

#[tokio::test]
async fn both_groups_speak_protobuf_and_the_other_vocabulary() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CORE, &told("old", "killed it")).await.expect(201);
    let get = |path: String| {
        admin.request(Method::GET, &path).header("accept", "application/vnd.orch.protobuf").send()
    };
    let answer = get(format!("{NEWER}/old")).await;
    let decoded = decode(&answer.body, &orch_api::events::v1::EVENT_TYPE, &Limits::default()).unwrap();
    assert_eq!(
        (&decoded["apiVersion"], &decoded["note"]),
        (&json!("events.orch.io/v1"), &json!("killed it"))
    );
    let list = get(NEWER.to_owned()).await;
    assert!(list.body.windows(9).any(|text| text == b"EventList"));

    let other = NEWER.replace("orch.io", "k8s.io");
    let read = admin.get(&format!("{other}/old")).await.expect(200);
    assert_eq!((&read["apiVersion"], &read["note"]), (&json!("events.k8s.io/v1"), &json!("killed it")));
    let mut sent = reported("new", "x");
    sent["apiVersion"] = json!("events.k8s.io/v1");
    admin.post(&other, &sent).await.expect(201);
    assert_eq!(admin.get(&format!("{CORE}/new")).await.expect(200)["message"], "x");

    // Both have the hash of the version that is stored.
    let hash = |list: Value| {
        let resources = list["resources"].as_array().unwrap().clone();
        let found = resources.into_iter().find(|resource| resource["name"] == "events").unwrap();
        (found["storageVersionHash"].clone(), found["shortNames"].clone())
    };
    let core = hash(admin.get("/api/v1").await.expect(200));
    assert_eq!(core, hash(admin.get("/apis/events.orch.io/v1").await.expect(200)));
}

/// The objects stay when the newer group is not served, and events of both groups expire.
#[tokio::test]
async fn objects_belong_to_the_core_group() {
    let mut server = TestServer::start().await;
    server.admin().post(NEWER, &reported("new", "x")).await.expect(201);
    server.stop().await;
    server.restart_with("--runtime-config=events.orch.io/v1=false").await;
    server.admin().get(NEWER).await.refused(404, "NotFound");
    assert_eq!(server.admin().get(&format!("{CORE}/new")).await.expect(200)["message"], "x");
    server.stop().await;
    server.restart_with("--event-ttl=1s").await;
    let gone = async {
        while server.admin().get(&format!("{CORE}/new")).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.expect("the event expires");
}

/// Errors name the kind that is stored, in both groups.
#[tokio::test]
async fn errors_are_those_of_the_core_group() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut event = reported("new", "x");
    event["action"] = json!("");
    let refused = admin.post(NEWER, &event).await;
    let message = refused.refused(422, "Invalid");
    assert!(message.starts_with("Event \"new\" is invalid: "), "{message}");
    let details = &refused.json()["details"];
    assert_eq!((&details["group"], &details["kind"]), (&Value::Null, &json!("Event")));
}

/// Whoever takes away the times of writes does not shorten the life of what is written after that.
#[tokio::test]
async fn events_expire_after_their_last_write() {
    let server = TestServer::options().flag("--event-ttl=4s").start().await;
    let admin = server.admin();
    let item = format!("{CORE}/e");
    admin.post(CORE, &told("e", "0")).await.expect(201);
    admin.merge(&item, &json!({"metadata": {"managedFields": [{}]}})).await.expect(200);
    for count in 1..4 {
        tokio::time::sleep(Duration::from_millis(1800)).await;
        let written = admin.merge(&item, &json!({"message": count.to_string()})).await.expect(200);
        assert_eq!(written["metadata"].get("managedFields"), None);
    }
    let mut watch = admin.watch(&format!("{CORE}?watch=1&fieldSelector=metadata.name=e")).await;
    let gone = async { while watch.event().await["type"] != "DELETED" {} };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("it expires");
}
