//! Watches: which events come, in which order, and how watches end.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use orch_tests::{
    Client, TestServer,
    client::{Next, Watch},
    objects::{CONFIG_MAPS, NAMESPACES, config_map, labelled, name, namespace, version},
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_watch_from_a_version_tells_what_came_after_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = admin.get(CONFIG_MAPS).await.expect(200);
    let item = format!("{CONFIG_MAPS}/a");
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let changed = admin.put(&item, &config_map("a", "2")).await.expect(200);

    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&start))).await;
    assert_eq!(watch.headers["content-type"], "application/json");
    assert_eq!(watch.headers["transfer-encoding"], "chunked");
    assert_eq!(watch.expect("ADDED").await, created);
    assert_eq!(watch.expect("MODIFIED").await, changed);
    admin.delete(&item).await.expect(200);
    let deleted = watch.expect("DELETED").await;
    assert_eq!(deleted["data"], changed["data"], "the last state");
    assert!(version(&deleted).parse::<u64>().unwrap() > version(&changed).parse::<u64>().unwrap());
}

#[tokio::test]
async fn a_watch_without_a_version_begins_with_the_state() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["b", "a"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    let initial = [watch.expect("ADDED").await, watch.expect("ADDED").await];
    let mut found: Vec<&str> = initial.iter().map(name).collect();
    found.sort_unstable();
    assert_eq!(found, ["a", "b"]);
    admin.post(CONFIG_MAPS, &config_map("c", "1")).await.expect(201);
    assert_eq!(name(&watch.expect("ADDED").await), "c");
}

#[tokio::test]
async fn a_streaming_list_ends_with_a_bookmark() {
    for (vocabulary, annotation) in
        [("orch", "orch.io/initial-events-end"), ("kubernetes", "k8s.io/initial-events-end")]
    {
        let server = TestServer::options().vocabulary(vocabulary).at_rest().start().await;
        let admin = server.admin();
        let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
        let query =
            "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let mut watch = admin.watch(&format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!(watch.expect("ADDED").await, created);
        let bookmark = watch.expect("BOOKMARK").await;
        assert_eq!(bookmark["kind"], "ConfigMap");
        assert_eq!(bookmark["metadata"]["annotations"][annotation], "true", "{bookmark}");
        let known_to_all = &bookmark["metadata"]["annotations"]["k8s.io/initial-events-end"];
        assert_eq!(known_to_all, "true", "clients in the field look for this one: {bookmark}");
        assert_eq!(version(&bookmark), version(&created));
        // An empty list, from which client-go makes the list of what it was sent.
        let blueprint = &bookmark["metadata"]["annotations"]["kubernetes.io/initial-events-list-blueprint"];
        let list = BASE64.decode(blueprint.as_str().unwrap()).unwrap();
        let list: Value = serde_json::from_slice(&list).unwrap();
        let expected = json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": null});
        assert_eq!(list, expected);
    }
}

#[tokio::test]
async fn an_object_moves_in_and_out_of_a_selector() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&labelSelector=on%3Dyes")).await;
    admin.post(CONFIG_MAPS, &labelled("a", json!({"on": "no"}))).await.expect(201);
    let inside = admin.merge(&item, &json!({"metadata": {"labels": {"on": "yes"}}})).await.expect(200);
    let changed = admin.merge(&item, &json!({"data": {"value": "2"}})).await.expect(200);
    let outside = admin.merge(&item, &json!({"metadata": {"labels": {"on": "no"}}})).await.expect(200);
    admin.delete(&item).await.expect(200);
    admin.post(CONFIG_MAPS, &labelled("b", json!({"on": "yes"}))).await.expect(201);
    assert_eq!(watch.expect("ADDED").await, inside);
    assert_eq!(watch.expect("MODIFIED").await, changed);
    let left = watch.expect("DELETED").await;
    assert_eq!(version(&left), version(&outside));
    assert_eq!(left["metadata"]["labels"]["on"], "yes", "the last state that matched");
    assert_eq!(name(&watch.expect("ADDED").await), "b");
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_over() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=0&timeoutSeconds=1")).await;
    watch.expect_end().await;
}

/// What it had to tell is more than connections hold, so some of it is left when the client begins to read.
#[tokio::test]
async fn a_watch_that_always_has_more_to_tell_ends_in_time() {
    const UPDATES: usize = 400;
    let server = TestServer::start().await;
    let admin = server.admin();
    let first = admin.post(CONFIG_MAPS, &config_map("a", "")).await.expect(201);
    let (item, long) = (format!("{CONFIG_MAPS}/a"), "x".repeat(60_000));
    for number in 0..UPDATES {
        admin.merge(&item, &json!({"data": {"value": format!("{number}{long}")}})).await.expect(200);
    }
    let query = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}&timeoutSeconds=1", version(&first));
    let mut watch = admin.watch(&query).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut told = 0;
    loop {
        match watch.next(Duration::from_mins(1)).await {
            Next::Event(_) => told += 1,
            Next::End(how) => break assert_eq!(how, "complete"),
            Next::Nothing => panic!("neither an event nor the end"),
        }
    }
    assert!(told < UPDATES, "{told}");
}

#[tokio::test]
async fn a_version_that_is_gone_is_an_event() {
    let server = TestServer::options().flag("--history-retention=1ms").start().await;
    let admin = server.admin();
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let watch = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&first));
    // History goes in the background: until then the watch begins with what came after.
    let error = loop {
        admin
            .merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"n": rand::random::<u32>().to_string()}}))
            .await;
        let mut event = admin.watch(&watch).await.event().await;
        if event["type"] != "MODIFIED" {
            assert_eq!(event["type"], "ERROR", "{event}");
            break event["object"].take();
        }
    };
    assert_eq!(error["kind"], "Status", "{error}");
    assert_eq!(error["code"], 410);
    assert_eq!(error["reason"], "Expired");
}

#[tokio::test]
async fn one_namespace_or_all_and_one_name() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("another")).await.expect(201);
    let another = "/api/v1/namespaces/another/configmaps";
    let mut one = admin.watch(&format!("{another}?watch=1")).await;
    let mut all = admin.watch("/api/v1/configmaps?watch=1").await;
    let mut named = admin.watch(&format!("{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Db")).await;
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    admin.post(another, &config_map("c", "1")).await.expect(201);
    for expected in ["a", "b", "c"] {
        assert_eq!(name(&all.expect("ADDED").await), expected);
    }
    assert_eq!(name(&one.expect("ADDED").await), "c");
    assert_eq!(name(&named.expect("ADDED").await), "b");
}

#[tokio::test]
async fn many_watchers_see_the_same_in_the_same_order() {
    const WATCHERS: usize = 20;
    const WRITERS: usize = 4;
    const WRITES: usize = 25;
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = version(&admin.get(CONFIG_MAPS).await.expect(200)).to_owned();
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={start}");
    let mut watches = Vec::new();
    for _ in 0..WATCHERS {
        let mut watch = admin.watch(&path).await;
        watches.push(tokio::spawn(async move { versions(&mut watch, WRITERS * WRITES).await }));
    }
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write(server.admin(), writer, WRITES))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let first = watches.remove(0).await.unwrap();
    assert!(first.is_sorted_by(|a, b| a < b), "rising without repetition: {first:?}");
    for watch in watches {
        assert_eq!(watch.await.unwrap(), first);
    }
}

async fn write(admin: Client, writer: usize, writes: usize) {
    for number in 0..writes {
        let object = config_map(&format!("w{writer}-{number}"), "1");
        admin.post(CONFIG_MAPS, &object).await.expect(201);
    }
}

async fn versions(watch: &mut Watch, count: usize) -> Vec<u64> {
    let mut versions = Vec::new();
    for _ in 0..count {
        let object: Value = watch.expect("ADDED").await;
        versions.push(version(&object).parse().unwrap());
    }
    versions
}

#[tokio::test]
async fn a_slow_reader_does_not_hold_up_others() {
    const WRITES: usize = 200;
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = version(&admin.get(CONFIG_MAPS).await.expect(200)).to_owned();
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={start}");
    // It never reads while 8 MB of events go by, more than sockets hold.
    let mut slow = admin.watch(&path).await;
    let mut quick = admin.watch(&path).await;
    let value = "x".repeat(40_000);
    for number in 0..WRITES {
        admin.post(CONFIG_MAPS, &config_map(&format!("n{number:03}"), &value)).await.expect(201);
        assert_eq!(name(&quick.expect("ADDED").await), format!("n{number:03}"));
    }
    // The slow one has everything too, or is told that it lost its place.
    for number in 0..WRITES {
        let event = slow.event().await;
        if event["type"] == "ERROR" {
            assert_eq!(event["object"]["code"], 410);
            return;
        }
        assert_eq!(name(&event["object"]), format!("n{number:03}"));
    }
}

#[tokio::test]
async fn a_watch_of_nothing_is_quiet() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&labelSelector=never%3Dset")).await;
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let quiet = watch.next(Duration::from_millis(200)).await;
    assert!(matches!(quiet, Next::Nothing), "{quiet:?}");
}
