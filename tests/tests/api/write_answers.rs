//! The answers of writes, and dry runs: for every way to write.

use std::sync::Arc;

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

async fn write(client: &Client, method: &Method, path: &str, media_type: &'static str, body: &str) -> Answer {
    client.request(method.clone(), path).body(media_type, body.to_owned()).send().await
}

fn warnings(answer: &Answer) -> Vec<&str> {
    answer.headers.get_all("warning").iter().map(|warning| warning.to_str().unwrap()).collect()
}

/// Unknown and repeated fields: what each way of writing says, in order, and how it refuses them.
#[tokio::test]
async fn every_write_judges_unknown_and_repeated_fields() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("old", "1")).await.expect(201);
    let (all, old, new) =
        (CONFIG_MAPS.to_owned(), format!("{CONFIG_MAPS}/old"), format!("{CONFIG_MAPS}/new"));
    let object = |name: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","wrong":1}},"data":{{"k":"1","k":"2"}},"wrong":1}}"#
        )
    };
    let yaml = |name: &str| format!("metadata: {{name: {name}, wrong: 1}}\ndata: {{k: a, k: b}}\nwrong: 1\n");
    let changes = r#"{"metadata":{"wrong":1},"data":{"k":"1","k":"2"},"wrong":1}"#;
    let operations =
        r#"[{"op":"add","path":"/wrong","value":1,"more":1},{"op":"add","path":"/data/k","value":"2"}]"#;
    let applied = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\ndata: {k: a, k: b}\n";
    let wrongly_applied = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\n\
             metadata: {{name: {name}, wrong: 1}}\ndata: {{k: a, k: b}}\nwrong: [{{}}]\n"
        )
    };
    let in_json =
        ["unknown field \"metadata.wrong\"", "duplicate field \"data.k\"", "unknown field \"wrong\""];
    let in_yaml = [
        "line 2: key \"k\" already set in map",
        "unknown field \"metadata.wrong\"",
        "unknown field \"wrong\"",
    ];
    let in_patch =
        ["duplicate field \"data.k\"", "unknown field \"metadata.wrong\"", "unknown field \"wrong\""];
    let in_operations = ["json patch unknown field \"[0].more\"", "unknown field \"wrong\""];
    let in_apply = ["line 4: key \"k\" already set in map"];
    let in_wrong_apply = [
        "line 4: key \"k\" already set in map",
        "unknown field \"metadata.wrong\"",
        "unknown field \"wrong\"",
    ];
    let cases: [(_, _, _, _, &[&str]); 10] = [
        (Method::POST, &all, JSON, object("new"), &in_json),
        (Method::POST, &all, YAML, yaml("new"), &in_yaml),
        (Method::PUT, &old, JSON, object("old"), &in_json),
        (Method::PUT, &old, YAML, yaml("old"), &in_yaml),
        (Method::PATCH, &old, MERGE, changes.to_owned(), &in_patch),
        (Method::PATCH, &old, STRATEGIC, changes.to_owned(), &in_patch),
        (Method::PATCH, &old, PATCH, operations.to_owned(), &in_operations),
        (Method::PATCH, &new, APPLY, applied.to_owned(), &in_apply),
        (Method::PATCH, &new, APPLY, wrongly_applied("new"), &in_wrong_apply),
        (Method::PATCH, &old, APPLY, wrongly_applied("old"), &in_wrong_apply),
    ];
    for (method, path, media_type, body, offences) in &cases {
        for (validation, told) in [("", *offences), ("Warn", offences), ("Ignore", &[]), ("Strict", offences)]
        {
            let path = format!("{path}?dryRun=All&fieldManager=m&fieldValidation={validation}");
            let answer = write(&admin, method, &path, media_type, body).await;
            if validation == "Strict" {
                let message = answer.refused(400, "BadRequest");
                assert!(message.ends_with(&told.join(", ")), "{method} {media_type}: {message}");
                assert!(warnings(&answer).is_empty());
                continue;
            }
            assert!(matches!(answer.status, 200 | 201), "{method} {media_type}: {answer:?}");
            assert_eq!(
                answer.json()["data"]["k"],
                if *media_type == YAML || *media_type == APPLY { "b" } else { "2" }
            );
            let told: Vec<String> =
                told.iter().map(|text| format!("299 - \"{}\"", text.replace('"', "\\\""))).collect();
            assert_eq!(warnings(&answer), told, "{method} {media_type} {validation}");
        }
    }
    let unknown = write(&admin, &Method::POST, &format!("{all}?fieldValidation=Loud"), JSON, "{}").await;
    let message = unknown.refused(422, "Invalid");
    assert!(message.contains("fieldValidation: Unsupported value: \"Loud\""), "{message}");
}

/// A dry run is answered like the write; nothing is stored.
#[tokio::test]
async fn a_dry_run_leaves_nothing() {
    // Without the controller that writes about the daemon set.
    let server = TestServer::options().flag("--controllers=*,-daemonset-controller").start().await;
    let admin = server.admin();
    for name in ["old", "held"] {
        let mut object = config_map(name, "1");
        object["metadata"]["finalizers"] = if name == "held" { json!(["example.com/f"]) } else { json!([]) };
        admin.post(CONFIG_MAPS, &object).await.expect(201);
    }
    admin.post(DAEMON_SETS, &daemon_set()).await.expect(201);
    let before = admin.get(CONFIG_MAPS).await.expect(200);
    let text = |object: Value| object.to_string();
    let change = text(json!({"data": {"value": "2"}}));
    let object = |name: &str| text(config_map(name, "2"));
    let (old, held, new) = ("/old", "/held", "/new");
    let patch = text(json!([{"op": "replace", "path": "/data/value", "value": "2"}]));
    let cases: &[(Method, &str, &'static str, String, u16)] = &[
        (Method::POST, "", JSON, object("new"), 201),
        (Method::POST, "", JSON, object("old"), 409),
        (Method::PUT, old, JSON, object("old"), 200),
        (Method::PUT, new, JSON, object("new"), 404),
        (Method::PATCH, old, MERGE, change.clone(), 200),
        (Method::PATCH, old, STRATEGIC, change.clone(), 200),
        (Method::PATCH, old, PATCH, patch, 200),
        (Method::PATCH, old, APPLY, object("old"), 409),
        (Method::PATCH, new, APPLY, object("new"), 201),
        (Method::PATCH, new, MERGE, change, 404),
        (Method::DELETE, old, JSON, "{}".to_owned(), 200),
        (Method::DELETE, held, JSON, "{}".to_owned(), 200),
        (Method::DELETE, new, JSON, "{}".to_owned(), 404),
        (Method::DELETE, "", JSON, "{}".to_owned(), 200),
    ];
    for (method, item, media_type, body, status) in cases {
        let body = if *method == Method::DELETE { text(json!({"dryRun": ["All"]})) } else { body.clone() };
        let path = format!("{CONFIG_MAPS}{item}?dryRun=All&fieldManager=trying");
        let answer = write(&admin, method, &path, media_type, &body).await.expect(*status);
        if *status < 300 && *method != Method::DELETE {
            assert_eq!(answer["data"]["value"], "2");
            assert_eq!(answer["metadata"].get("resourceVersion").is_some(), *status == 200, "{answer}");
        }
        if *item == held {
            assert!(answer["metadata"]["deletionTimestamp"].is_string(), "{answer}");
        }
    }
    let status = json!({"status": {"numberReady": 7}});
    let tried = admin.merge(&format!("{DAEMON_SETS}/d/status?dryRun=All"), &status).await.expect(200);
    assert_eq!(tried["status"]["numberReady"], 7);
    assert_eq!(admin.get(CONFIG_MAPS).await.expect(200), before, "no object, no version");
    for (method, path) in [(Method::POST, CONFIG_MAPS), (Method::DELETE, &format!("{CONFIG_MAPS}/old"))] {
        let path = format!("{path}?dryRun=Some");
        let body = if method == Method::POST { object("x") } else { String::new() };
        let message = write(&admin, &method, &path, JSON, &body).await.refused(422, "Invalid");
        assert!(message.contains("dryRun: Unsupported value"), "{message}");
    }
}

#[tokio::test]
async fn a_taken_name_beside_a_base_for_names_may_be_tried_again() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut object = config_map("taken", "1");
    object["metadata"]["generateName"] = json!("t-");
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    for path in [CONFIG_MAPS.to_owned(), format!("{CONFIG_MAPS}?dryRun=All")] {
        let answer = admin.post(&path, &object).await;
        let message = answer.refused(409, "AlreadyExists");
        let expected = "configmaps \"taken\" already exists, \
            the server was not able to generate a unique name for the object";
        assert_eq!(message, expected);
        assert_eq!(answer.header("retry-after"), "1");
        assert_eq!(answer.json()["details"]["retryAfterSeconds"], 1);
    }
    let plain = admin.post(CONFIG_MAPS, &config_map("taken", "1")).await;
    assert_eq!(plain.refused(409, "AlreadyExists"), "configmaps \"taken\" already exists");
    assert_eq!(plain.header("retry-after"), "");
}

/// Bodies that are no objects, and nulls where objects have no room for them.
#[tokio::test]
async fn nulls_and_bodies_that_are_no_objects() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.post(DAEMON_SETS, &daemon_set()).await.expect(201);
    let (all, item) = (CONFIG_MAPS.to_owned(), format!("{CONFIG_MAPS}/a"));
    let ignoring = format!("{item}?fieldValidation=Ignore");
    let cases: &[(Method, &String, &'static str, &str, u16, &str, &str)] = &[
        (Method::POST, &all, JSON, "null", 422, "Invalid", "name or generateName is required"),
        (Method::POST, &all, YAML, "~", 422, "Invalid", "name or generateName is required"),
        (
            Method::POST,
            &all,
            JSON,
            "[]",
            400,
            "BadRequest",
            "json parse error: json: cannot unmarshal array into Go value of type struct",
        ),
        (
            Method::POST,
            &all,
            JSON,
            "",
            400,
            "BadRequest",
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; \
             json parse error: unexpected end of JSON input (<empty>)",
        ),
        (Method::POST, &all, JSON, "apiVersion: v1", 400, "BadRequest", "(61706956657273696f6e3a207631)"),
        (
            Method::PUT,
            &item,
            JSON,
            r#"{"metadata":{"name":"a"},"data":{"#,
            400,
            "BadRequest",
            r#"({"metadata":{"name":"a"},"data ...)"#,
        ),
        (Method::PUT, &item, JSON, "null", 400, "BadRequest", "name must be provided"),
        (Method::PATCH, &item, MERGE, "null", 400, "BadRequest", "Invalid JSON Patch"),
        (Method::PATCH, &item, MERGE, "[1]", 400, "BadRequest", "cannot unmarshal array"),
        (
            Method::PATCH,
            &item,
            STRATEGIC,
            r#"{"metadata":{"labels":"x"}}"#,
            422,
            "Invalid",
            r#"patch: Invalid value: "map[metadata:map[labels:x]]": cannot restore map from string"#,
        ),
        (Method::PATCH, &ignoring, MERGE, "[1]", 422, "Invalid", "patch: Invalid value: \"[1]\""),
        (
            Method::PATCH,
            &item,
            MERGE,
            r#"{"metadata":{"finalizers":["example.com/f",null]}}"#,
            422,
            "Invalid",
            "metadata.finalizers[1]: Invalid value: \"\"",
        ),
    ];
    for (method, path, media_type, body, code, reason, says) in cases {
        let message = write(&admin, method, path, media_type, body).await.refused(*code, reason);
        assert!(message.contains(says), "{method} {body}: {message}");
    }
    for (media_type, body) in [(STRATEGIC, "null"), (PATCH, "null"), (PATCH, "[]"), (MERGE, "{}")] {
        let same = write(&admin, &Method::PATCH, &item, media_type, body).await.expect(200);
        assert_eq!(same["data"], json!({"value": "1"}), "{media_type} {body}");
    }

    // Whole numbers may be written with a point in strategic patches only.
    let point = r#"{"spec":{"minReadySeconds":2.0}}"#;
    let set = format!("{DAEMON_SETS}/d");
    let counted = write(&admin, &Method::PATCH, &set, STRATEGIC, point).await.expect(200);
    assert_eq!(counted["spec"]["minReadySeconds"], 2);
    for (media_type, body) in [(MERGE, point), (STRATEGIC, r#"{"spec":{"minReadySeconds":2.5}}"#)] {
        write(&admin, &Method::PATCH, &set, media_type, body).await.refused(422, "Invalid");
    }

    // A list replaces a list; what is null in its objects is not there.
    let container = json!({
        "name": "c", "image": "i", "command": null, "resources": {"limits": {"cpu": null, "memory": "1Mi"}},
    });
    let change = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
    let merged = admin.merge(&format!("{DAEMON_SETS}/d"), &change).await.expect(200);
    let container = &merged["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"], json!({"limits": {"memory": "1Mi"}}));
    assert!(container.get("command").is_none());
}

/// Watchers see an object of a kind with a grace period terminating before it is deleted, however short the
/// period is.
#[tokio::test]
async fn a_pod_is_shown_going_before_it_is_gone() {
    let server = TestServer::options().flag("--controllers=*,-garbage-collector-controller").start().await;
    let admin = server.admin();
    let start = admin.get(PODS).await.expect(200);
    let mut watch = admin.watch(&format!("{PODS}?watch=1&resourceVersion={}", version(&start))).await;
    for (node, query) in [(None, ""), (Some("n"), "?gracePeriodSeconds=0")] {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}});
        admin.post(PODS, &pod).await.expect(201);
        watch.expect("ADDED").await;
        let gone = admin.delete(&format!("{PODS}/p{query}")).await.expect(200);
        let going = watch.expect("MODIFIED").await;
        assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 0);
        let deleted = watch.expect("DELETED").await;
        assert_eq!(version(&deleted), version(&gone));
        assert_ne!(version(&deleted), version(&going));
    }
    // Finalizers hold it beyond its grace period; the policy for its dependents can still be changed, as long
    // as no collector has acted on it.
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    admin.post(PODS, &pod).await.expect(201);
    let held = admin.delete(&format!("{PODS}/p?propagationPolicy=Foreground")).await.expect(200);
    assert_eq!(held["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    admin.delete(&format!("{PODS}/p?propagationPolicy=Background")).await.expect(200);
    admin.get(&format!("{PODS}/p")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_deletion_gets_its_turn_among_writers() {
    let server = TestServer::start().await;
    let admin = Arc::new(server.admin());
    let item = format!("{CONFIG_MAPS}/busy");
    admin.post(CONFIG_MAPS, &config_map("busy", "0")).await.expect(201);
    let writers: Vec<_> = (0..16)
        .map(|writer| {
            let (admin, item) = (Arc::clone(&admin), item.clone());
            tokio::spawn(async move {
                let mut round = 0;
                loop {
                    let change = json!({"data": {format!("k{writer}"): round.to_string()}});
                    let answer = admin.merge(&item, &change).await;
                    if answer.status != 200 {
                        answer.refused(404, "NotFound");
                        return round;
                    }
                    round += 1;
                }
            })
        })
        .collect();
    let busy = |object: &Value| object["data"].as_object().is_some_and(|data| data.len() > 8);
    while !busy(&admin.get(&item).await.expect(200)) {}
    admin.delete(&item).await.expect(200);
    for writer in writers {
        writer.await.unwrap();
    }
    admin.get(&item).await.refused(404, "NotFound");
}

fn daemon_set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}
