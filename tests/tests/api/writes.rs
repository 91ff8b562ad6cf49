//! Many writers of one object, with every kind of write: no update is lost, and each writer owns what it
//! wrote.

use std::sync::Arc;

use http::Method;
use orch_tests::{
    TestServer,
    client::Client,
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::{Value, json};

const APPLY: &str = "application/apply-patch+yaml";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const WRITERS: usize = 32;
const ROUNDS: usize = 4;

#[tokio::test]
async fn writers_of_every_kind_lose_no_update() {
    let server = TestServer::start().await;
    let admin = Arc::new(server.admin());
    let item = format!("{CONFIG_MAPS}/shared");
    let mut object = config_map("shared", "1");
    object["data"] = json!({"counter": "0"});
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    let writers = (0..WRITERS).map(|writer| {
        let (admin, item) = (Arc::clone(&admin), item.clone());
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                write(&admin, &item, writer, round).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let end = admin.get(&item).await.expect(200);
    let data = end["data"].as_object().unwrap();
    for writer in 0..WRITERS {
        // An apply lists everything that its manager wants: of its rounds the last one stays.
        let rounds = if writer % 5 == 3 { ROUNDS - 1..ROUNDS } else { 0..ROUNDS };
        for key in rounds.map(|round| key(writer, round)) {
            assert!(data.contains_key(&key), "{key} is lost: {end}");
        }
    }
    let increments = (0..WRITERS).filter(|writer| writer % 5 == 4).count() * ROUNDS;
    assert_eq!(data["counter"], increments.to_string());
    let appliers = end["metadata"]["managedFields"].as_array().unwrap();
    let appliers = appliers.iter().filter(|entry| entry["operation"] == "Apply").count();
    assert_eq!(appliers, (0..WRITERS).filter(|writer| writer % 5 == 3).count());
}

/// One round of one writer: each writer has one way of writing.
async fn write(admin: &Client, item: &str, writer: usize, round: usize) {
    let key = key(writer, round);
    let change = json!({"data": {&key: "x"}});
    let patch = |media_type: &'static str, body: &Value| {
        admin.request(Method::PATCH, item).body(media_type, body.to_string()).send()
    };
    match writer % 5 {
        0 => patch("application/merge-patch+json", &change).await.expect(200),
        1 => patch("application/strategic-merge-patch+json", &change).await.expect(200),
        2 => {
            let add = json!([{"op": "add", "path": format!("/data/{key}"), "value": "x"}]);
            patch("application/json-patch+json", &add).await.expect(200)
        }
        3 => {
            let path = format!("{item}?fieldManager=applier-{writer}");
            let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {&key: "x"}});
            admin.request(Method::PATCH, &path).body(APPLY, config.to_string()).send().await.expect(200)
        }
        _ => replace(admin, item, &key).await,
    };
}

/// Reads, adds one and replaces, again after each conflict.
async fn replace(admin: &Client, item: &str, key: &str) -> Value {
    loop {
        let mut object = admin.get(item).await.expect(200);
        let count: usize = object["data"]["counter"].as_str().unwrap().parse().unwrap();
        object["data"]["counter"] = (count + 1).to_string().into();
        object["data"][key] = "x".into();
        let answer = admin.put(item, &object).await;
        if answer.status != 409 {
            return answer.expect(200);
        }
    }
}

fn key(writer: usize, round: usize) -> String {
    format!("k-{writer}-{round}")
}

#[tokio::test]
async fn of_many_applies_one_creates() {
    let server = TestServer::start().await;
    let admin = Arc::new(server.admin());
    let appliers = (0..WRITERS).map(|applier| {
        let admin = Arc::clone(&admin);
        tokio::spawn(async move {
            let path = format!("{CONFIG_MAPS}/applied?fieldManager=applier-{applier}");
            let config = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  k{applier}: x\n");
            let config = config.replace("kind: ConfigMap", "kind: ConfigMap\nmetadata: {name: applied}");
            admin.request(Method::PATCH, &path).body(APPLY, config).send().await
        })
    });
    let mut created = 0;
    for applier in appliers.collect::<Vec<_>>() {
        let answer = applier.await.unwrap();
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        created += usize::from(answer.status == 201);
    }
    assert_eq!(created, 1);
    let end = admin.get(&format!("{CONFIG_MAPS}/applied")).await.expect(200);
    assert_eq!(end["data"].as_object().unwrap().len(), WRITERS);
}

#[tokio::test]
async fn an_apply_that_changes_nothing_writes_nothing() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let path = format!("{CONFIG_MAPS}/a?fieldManager=m");
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}});
    let apply = |force: &str, config: &Value| {
        admin.request(Method::PATCH, &format!("{path}{force}")).body(APPLY, config.to_string()).send()
    };
    let first = apply("", &config).await.expect(201);
    assert_eq!(version(&apply("", &config).await.expect(200)), version(&first));
    admin.merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "2"}})).await.expect(200);
    let message = apply("", &config).await.refused(409, "Conflict");
    assert!(message.starts_with("Apply failed with 1 conflict: conflict with "), "{message}");
    assert_eq!(apply("&force=true", &config).await.expect(200)["data"]["k"], "1");
}

#[tokio::test]
async fn what_an_object_may_hold_is_bounded() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let of_size = |bytes: usize| config_map("large", &"x".repeat(bytes));
    // The limit of a config map's data, then that of any object.
    let message = admin.post(CONFIG_MAPS, &of_size(1_048_577)).await.refused(422, "Invalid");
    assert!(message.contains("Too long"), "{message}");
    admin.post(CONFIG_MAPS, &of_size(1_048_570)).await.expect(201);
    let notes = |bytes: usize| json!({"metadata": {"annotations": {"example.com/n": "x".repeat(bytes)}}});
    let item = format!("{CONFIG_MAPS}/large");
    let longest = 262_144 - "example.com/n".len();
    let message = admin.merge(&item, &notes(longest + 1)).await.refused(422, "Invalid");
    assert!(
        message.contains("metadata.annotations: Too long: may not be more than 262144 bytes"),
        "{message}"
    );
    admin.merge(&item, &notes(longest)).await.expect(200);
    let labels = |name: &str, value: &str| json!({"metadata": {"labels": {name: value}}});
    admin.merge(&item, &labels("l", &"v".repeat(63))).await.expect(200);
    for wrong in
        [labels("l", &"v".repeat(64)), labels(&"l".repeat(64), ""), labels("a/b/c", ""), labels("l", "-")]
    {
        admin.merge(&item, &wrong).await.refused(422, "Invalid");
    }

    // Finalizers have no limit of their own: here it is the object that grows too large.
    let finalizers: Vec<String> = (0..22_000).map(|number| format!("example.com/{number:051}")).collect();
    let change = json!({"metadata": {"finalizers": finalizers}});
    admin.merge(&item, &change).await.refused(413, "RequestEntityTooLarge");
    assert!(admin.get(&item).await.expect(200)["metadata"].get("finalizers").is_none());
}

/// The managed fields of an object with thousands of items cost more to read than its body: they are left out
/// where the whole could not be read back.
#[tokio::test]
async fn what_was_written_can_be_read_and_removed() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let pods = "/api/v1/namespaces/default/pods";
    let with = |name: &str, count: usize| {
        let env: Vec<Value> =
            (0..count).map(|number| json!({"name": format!("E{number}"), "value": "x"})).collect();
        let spec = json!({"containers": [{"name": "c", "image": "i", "env": env}]});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    };
    admin.post(pods, &with("posted", 15_000)).await.expect(201);
    let item = format!("{pods}/applied");
    for manager in ["one", "two"] {
        let query = format!("{item}?fieldManager={manager}");
        let body = with("applied", 8_000);
        let request = admin.request(Method::PATCH, &query).body(APPLY, body.to_string());
        let status = request.send().await.status;
        assert!(matches!(status, 200 | 201 | 413), "{manager}: {status}");
    }
    for name in ["posted", "applied"] {
        let item = format!("{pods}/{name}");
        admin.merge(&item, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
        for form in ["application/json", "application/vnd.kubernetes.protobuf", TABLE] {
            for path in [&item, pods] {
                let request = admin.request(Method::GET, path).header("accept", form);
                assert_eq!(request.send().await.status, 200, "{path} as {form}");
            }
        }
        admin.delete(&item).await.expect(200);
    }
}

/// The numbers of the reference. Other lists are bounded by what a body and an object may hold.
#[tokio::test]
async fn lists_are_capped_where_the_reference_caps_them() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let pod = |field: &str, value: Value| {
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        spec[field] = value;
        json!({"spec": spec})
    };
    let search = |number: usize| format!("{}.{}.{number}", "a".repeat(60), "b".repeat(60));
    let searches: Vec<String> = (0..30).map(search).collect();
    let parameters: Value = (0..513).map(|number| (format!("k{number}"), Value::from("v"))).collect();
    let names = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}]);
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": names}});
    let addresses = json!(["10.0.0.7", "10.0.0.8", "10.0.0.9"]);
    let class = |parameters: Value| json!({"provisioner": "p", "parameters": parameters});
    let of_namespace = |plural: &str| format!("/api/v1/namespaces/default/{plural}");
    let classes = "/apis/storage.orch.io/v1/storageclasses".to_owned();
    for (path, mut object, expected) in [
        (
            of_namespace("pods"),
            pod("dnsConfig", json!({"nameservers": vec!["1.1.1.1"; 4]})),
            "more than 3 nameservers",
        ),
        (
            of_namespace("pods"),
            pod("dnsConfig", json!({"searches": vec!["a.b"; 33]})),
            "more than 32 search paths",
        ),
        (of_namespace("pods"), pod("dnsConfig", json!({"searches": searches})), "more than 2048 characters"),
        (of_namespace("pods"), pod("affinity", json!({"nodeAffinity": required})), "must be only one value"),
        (
            of_namespace("services"),
            json!({"spec": {"ports": [{"port": 80}], "clusterIP": "10.0.0.7",
            "clusterIPs": addresses}}),
            "may only hold up to 2 values",
        ),
        (
            of_namespace("secrets"),
            json!({"stringData": {"k": "v".repeat(1_048_577)}}),
            "more than 1048576 bytes",
        ),
        (
            "/api/v1/nodes".to_owned(),
            json!({"spec": {"podCIDR": "10.0.0.0/24",
            "podCIDRs": ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"]}}),
            "no more than one CIDR for each IP family",
        ),
        (classes.clone(), class(parameters), "more than 512 bytes"),
        (classes, class(json!({"k": "v".repeat(262_145)})), "more than 262144 bytes"),
    ] {
        object["metadata"] = json!({"name": "large"});
        let told = admin.post(&path, &object).await.refused(422, "Invalid");
        assert!(told.contains(expected), "{path}: {expected}: {told}");
    }
}
