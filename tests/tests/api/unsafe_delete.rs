//! DELETE of objects that cannot be read: only with the feature gate, only with the option, and only objects
//! that are damaged.

use std::time::Duration;

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map, names, version},
};
use serde_json::{Value, json};

use crate::restart::edit;

const GATE: &str = "--feature-gates=AllowUnsafeMalformedObjectDeletion=true";
const OPTION: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

async fn delete(client: &Client, path: &str, options: &Value) -> Answer {
    client.request(Method::DELETE, path).json(options).send().await
}

/// A server with the config maps `a`, `b` (which has a finalizer) and `c`, of which `b` is damaged, and the
/// version of their list before that.
async fn with_damage(flags: &[&str]) -> (TestServer, String) {
    let mut server =
        flags.iter().fold(TestServer::options(), |options, flag| options.flag(*flag)).start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        let mut object = config_map(name, "1");
        object["metadata"]["finalizers"] = if name == "b" { json!(["example.com/held"]) } else { json!([]) };
        admin.post(CONFIG_MAPS, &object).await.expect(201);
    }
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert!(server.stop().await.success());
    edit(&server.data_dir(), "UPDATE log SET value = CAST('?' || substr(value, 2) AS BLOB) WHERE name = 'b'")
        .await;
    server.restart().await;
    (server, version(&list).to_owned())
}

/// Found by the reading in the background, which begins a second after the start. The server stays ready.
#[tokio::test]
async fn readiness_and_metrics_tell_of_damage() {
    let (server, _) = with_damage(&[]).await;
    let admin = server.admin();
    let found = async {
        loop {
            let ready = admin.get("/readyz?verbose").await;
            assert_eq!(ready.status, 200);
            if ready.text().contains("; DAMAGED: 1 rows, and 0 places that cannot be read; see the log\n") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found).await.expect("the damage is found");
    let metrics = admin.get("/metrics").await.text();
    assert!(metrics.contains("\napiserver_storage_damaged_rows 1\n"), "{metrics}");
}

#[tokio::test]
async fn what_cannot_be_read_can_be_removed() {
    let (mut server, seen) = with_damage(&[GATE]).await;
    let admin = server.admin();
    let damaged = format!("{CONFIG_MAPS}/b");
    assert!(server.log().contains("this many records cannot be read"), "{}", server.log());
    delete(&admin, &damaged, &json!({})).await.refused(500, "InternalError");
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={seen}")).await;

    let answer = delete(&admin, &damaged, &json!({OPTION: true})).await.expect(200);
    assert_eq!(
        answer,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200,
            "details": {"name": "b", "kind": "ConfigMap"},
        })
    );
    let last = watch.expect("DELETED").await;
    assert_eq!((&last["kind"], &last["metadata"]["name"]), (&json!("ConfigMap"), &json!("b")));
    assert!(version(&last).parse::<u64>().unwrap() > seen.parse().unwrap());
    admin.get(&damaged).await.refused(404, "NotFound");
    delete(&admin, &damaged, &json!({OPTION: true})).await.refused(404, "NotFound");
    admin.post(CONFIG_MAPS, &config_map("b", "2")).await.expect(201);
    assert_eq!(watch.expect("ADDED").await["data"]["value"], "2");

    assert!(server.stop().await.success());
    server.restart().await;
    assert_eq!(names(&server.admin().get(CONFIG_MAPS).await.expect(200)), ["a", "b", "c"]);
}

#[tokio::test]
async fn what_can_be_read_is_deleted_in_the_ordinary_way() {
    let (server, _) = with_damage(&[GATE]).await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let uid = admin.get(&item).await.expect(200)["metadata"]["uid"].clone();
    let answer = delete(&admin, &item, &json!({OPTION: true})).await.expect(200);
    assert_eq!(answer["details"], json!({"name": "a", "kind": "configmaps", "uid": uid}));

    let mut held = config_map("held", "1");
    held["metadata"]["finalizers"] = json!(["example.com/held"]);
    admin.post(CONFIG_MAPS, &held).await.expect(201);
    let held = format!("{CONFIG_MAPS}/held?{OPTION}=true");
    let answer = admin.delete(&held).await.expect(200);
    assert!(answer["metadata"]["deletionTimestamp"].is_string(), "{answer}");
}

#[tokio::test]
async fn the_option_goes_with_no_other() {
    let (server, _) = with_damage(&[GATE]).await;
    let admin = server.admin();
    let damaged = format!("{CONFIG_MAPS}/b");
    let prefix = format!("DeleteOptions.meta.orch.io \"\" is invalid: {OPTION}: Invalid value: true: ");
    for (other, value) in [
        ("dryRun", json!(["All"])),
        ("propagationPolicy", json!("Background")),
        ("orphanDependents", json!(false)),
        ("gracePeriodSeconds", json!(0)),
        ("preconditions", json!({})),
    ] {
        let message =
            delete(&admin, &damaged, &json!({OPTION: true, other: value})).await.refused(422, "Invalid");
        assert_eq!(message, format!("{prefix}cannot be set together with .{other}"));
    }
    let message = admin.delete(&format!("{damaged}?{OPTION}=1&dryRun=All")).await.refused(422, "Invalid");
    assert_eq!(message, format!("{prefix}cannot be set together with .dryRun"));
    let message = delete(&admin, CONFIG_MAPS, &json!({OPTION: true})).await.refused(422, "Invalid");
    assert_eq!(
        message,
        format!("{prefix}is not allowed with DELETECOLLECTION, try again after removing the option")
    );
    delete(&admin, &damaged, &json!({OPTION: false, "gracePeriodSeconds": 0}))
        .await
        .refused(500, "InternalError");
    let others = admin.get(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name!%3Db")).await.expect(200);
    assert_eq!(names(&others), ["a", "c"]);
}

#[tokio::test]
async fn without_the_gate_the_option_means_nothing() {
    let (server, _) = with_damage(&[]).await;
    let admin = server.admin();
    let damaged = format!("{CONFIG_MAPS}/b");
    delete(&admin, &damaged, &json!({OPTION: true})).await.refused(500, "InternalError");
    admin.get(&damaged).await.refused(500, "InternalError");
    let item = format!("{CONFIG_MAPS}/a");
    delete(&admin, &item, &json!({OPTION: true, "dryRun": ["All"]})).await.expect(200);
    admin.get(&item).await.expect(200);
}

/// An informer that does not find an object takes it for deleted. So what cannot be read is never left out:
/// a list that could have it fails and names it, and a list that cannot have it works.
#[tokio::test]
async fn no_list_and_no_watch_leaves_out_what_cannot_be_read() {
    let (server, seen) = with_damage(&[]).await;
    let admin = server.admin();
    let named = |message: &str| {
        let expected = r#"the stored form of configmaps "b" in namespace "default" cannot be read"#;
        assert!(message.contains(expected), "{message}");
    };
    for query in [
        "",
        "?limit=2",
        "?resourceVersion=0",
        "?labelSelector=app%3Dweb",
        "?labelSelector=!app",
        "?fieldSelector=metadata.name%3Db",
        "?watch=1",
        "?watch=1&resourceVersion=0",
        "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    ] {
        for collection in [CONFIG_MAPS, "/api/v1/configmaps"] {
            named(&admin.get(&format!("{collection}{query}")).await.refused(500, "InternalError"));
        }
    }
    named(&admin.delete(CONFIG_MAPS).await.refused(500, "InternalError"));
    for form in ["application/json;as=Table;g=meta.k8s.io;v=v1", "application/vnd.orch.protobuf"] {
        let answer = admin.request(Method::GET, CONFIG_MAPS).header("accept", form).send().await;
        assert_eq!(answer.status, 500, "{form}");
    }
    for (query, expected) in [
        ("?limit=1", vec!["a"]),
        ("?fieldSelector=metadata.name!%3Db", vec!["a", "c"]),
        ("?fieldSelector=metadata.name%3Dc", vec!["c"]),
    ] {
        assert_eq!(
            names(&admin.get(&format!("{CONFIG_MAPS}{query}")).await.expect(200)),
            expected,
            "{query}"
        );
    }

    // A running watch goes on while nothing is damaged, and ends at an event that is.
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={seen}")).await;
    admin.post(CONFIG_MAPS, &config_map("d", "1")).await.expect(201);
    assert_eq!(watch.expect("ADDED").await["metadata"]["name"], "d");
    let first = admin.get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&first))).await;
    let status = watch.expect("ERROR").await;
    assert_eq!((&status["code"], &status["reason"]), (&json!(500), &json!("InternalError")));
    named(status["message"].as_str().unwrap());
    watch.expect_end().await;
}
