//! Fields behind feature gates: dropped from what clients send without the gate, unless the stored object
//! uses them.

use std::process::Stdio;

use http::Method;
use orch_tests::{
    TestServer,
    client::Client,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

const OFF: &str = "--feature-gates=AllAlpha=false";
const ON: &str = "--feature-gates=AllAlpha=true";

/// A pod with fields behind three gates, one of them in a list in a list.
fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "containers": [{
                "name": "c", "image": "x:1",
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            }],
            "volumes": [
                {"name": "a", "projected": {"sources": [
                    {"configMap": {"name": "m"}, },
                    {"clusterTrustBundle": {"name": "b", "path": "p"}},
                ]}},
                {"name": "i", "image": {"reference": "r", "pullPolicy": "Always"}},
            ],
        },
    })
}

/// The pod without what would be empty without its only field: a source, and a volume.
fn bare(name: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["volumes"][0]["projected"]["sources"].as_array_mut().unwrap().pop();
    pod["spec"]["volumes"].as_array_mut().unwrap().pop();
    pod
}

fn given(pod: &Value) -> (bool, bool, bool) {
    let has = |pointer: &str| pod.pointer(pointer).is_some();
    (
        has("/spec/volumes/0/projected/sources/1/clusterTrustBundle"),
        has("/spec/volumes/1/image"),
        has("/spec/containers/0/resizePolicy"),
    )
}

async fn put(admin: &Client, path: &str, object: &Value) -> Value {
    admin.put(path, object).await.expect(200)
}

#[tokio::test]
async fn fields_behind_a_gate_that_is_off_are_dropped() {
    let server = TestServer::start().await;
    let admin = server.admin();
    // All are alpha, so that nothing is left of a source, which is none then. Without the image of a volume,
    // volume and mounts are gone.
    let why = admin.post(PODS, &pod("of-nothing")).await.refused(422, "Invalid");
    assert!(why.contains("projected.sources[1]: Required value: must specify a volume type"), "{why}");
    let mut of_an_image = pod("of-an-image");
    of_an_image["spec"]["volumes"][0] = bare("a")["spec"]["volumes"][0].clone();
    of_an_image["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "i", "mountPath": "/i"}]);
    let created = admin.post(PODS, &of_an_image).await.expect(201);
    assert_eq!(given(&created), (false, false, false));
    let of_image = |list: &str| {
        let items = created.pointer(list).and_then(Value::as_array).into_iter().flatten();
        items.filter(|item| item["name"] == "i").count()
    };
    assert_eq!((of_image("/spec/volumes"), of_image("/spec/containers/0/volumeMounts")), (0, 0));
    assert_eq!(given(&admin.post(PODS, &bare("a")).await.expect(201)), (false, false, false));

    let server = TestServer::options().flag(ON).start().await;
    assert_eq!(given(&server.admin().post(PODS, &pod("a")).await.expect(201)), (true, true, true));
    let flag = "--feature-gates=AllAlpha=true,InPlacePodVerticalScaling=false";
    let server = TestServer::options().flag(flag).start().await;
    assert_eq!(given(&server.admin().post(PODS, &pod("a")).await.expect(201)), (true, true, false));
}

#[tokio::test]
async fn gates_hold_for_templates_too() {
    let options = TestServer::options().flag("--feature-gates=InPlacePodVerticalScaling=false");
    let server = options.flag("--controllers=*,-daemonset-controller").start().await;
    let admin = server.admin();
    let container = &pod("a")["spec"]["containers"][0];
    let daemon_set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]},
        }},
    });
    let created = admin.post(DAEMON_SETS, &daemon_set).await.expect(201);
    assert_eq!(created.pointer("/spec/template/spec/containers/0/resizePolicy"), None);
    let item = format!("{DAEMON_SETS}/d");
    let updated = put(&admin, &item, &daemon_set).await;
    assert_eq!(
        updated["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"],
        "nothing changed"
    );
    let patched = admin.request(Method::PATCH, &format!("{item}?fieldManager=x"));
    let patched = patched.body("application/apply-patch+yaml", daemon_set.to_string());
    let patched = patched.send().await.expect(200);
    assert_eq!(patched.pointer("/spec/template/spec/containers/0/resizePolicy"), None);
}

#[tokio::test]
async fn a_field_that_is_in_use_stays() {
    let mut server = TestServer::options().flag(ON).start().await;
    server.admin().post(PODS, &pod("a")).await.expect(201);
    assert!(server.stop().await.success());
    server.restart_with(OFF).await;
    let admin = server.admin();
    let path = format!("{PODS}/a");
    let mut stored = admin.get(&path).await.expect(200);
    assert_eq!(given(&stored), (true, true, true), "what is stored stays readable");
    stored["spec"]["containers"][0]["image"] = json!("x:2");
    assert_eq!(given(&put(&admin, &path, &stored).await), (true, true, true));
    let labelled = admin.merge(&path, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
    assert_eq!(given(&labelled), (true, true, true));
    assert_eq!(given(&admin.post(PODS, &bare("b")).await.expect(201)), (false, false, false));
}

/// A selector has one form, and none limits nothing. Without the gate a review is about all objects.
#[tokio::test]
async fn selectors_of_reviews_have_one_form() {
    const REVIEWS: &str = "/apis/authorization.orch.io/v1/selfsubjectaccessreviews";
    let review = |selector: &str, value: Value| {
        let attributes = json!({"verb": "list", "resource": "pods", selector: value});
        json!({"spec": {"resourceAttributes": attributes}})
    };
    let both = json!({"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]});
    for (gate, status) in [("true", 400), ("false", 201)] {
        let flag = format!("--feature-gates=AuthorizeWithSelectors={gate}");
        let server = TestServer::options().flag(flag).start().await;
        for selector in ["fieldSelector", "labelSelector"] {
            let answer = server.admin().post(REVIEWS, &review(selector, both.clone())).await;
            let answer = answer.expect(status);
            let told = &answer["spec"]["resourceAttributes"][selector];
            assert!(told.is_null(), "{gate} {selector}: {answer}");
            let answer = server.admin().post(REVIEWS, &review(selector, json!({}))).await.expect(201);
            assert_eq!(answer["status"]["allowed"], true, "{gate} {selector}");
        }
    }
}

#[tokio::test]
async fn attributes_of_volumes_are_off_unless_asked_for() {
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            "volumeAttributesClassName": "gold",
        },
    });
    for (flag, expected) in [
        ("--feature-gates=AllAlpha=false", json!(null)),
        ("--feature-gates=VolumeAttributesClass=true", json!("gold")),
    ] {
        let server = TestServer::options().flag(flag).start().await;
        let created = server.admin().post(CLAIMS, &claim).await.expect(201);
        assert_eq!(created["spec"]["volumeAttributesClassName"], expected, "{flag}");
        let list = server.admin().get(&format!("{CLAIMS}?limit=1")).await.expect(200);
        assert_eq!(list["items"][0]["spec"]["volumeAttributesClassName"], expected, "{flag}");
    }
}

/// Gates of the server itself: what they turn off is off, and a gate that is locked ends the start.
#[tokio::test]
async fn gates_of_the_server_take_effect_or_are_locked() {
    let off = "--feature-gates=WatchList=false,APIResponseCompression=false";
    for (flag, is_on) in [("--feature-gates=RetryGenerateName=true", true), (off, false)] {
        let server = TestServer::options().flag(flag).start().await;
        let admin = server.admin();
        let value = "x".repeat(200_000);
        admin.post(CONFIG_MAPS, &config_map("large", &value)).await.expect(201);
        let list = admin.request(Method::GET, CONFIG_MAPS).header("accept-encoding", "gzip").send().await;
        assert_eq!(list.header("content-encoding"), if is_on { "gzip" } else { "" }, "{flag}");
        let path = format!(
            "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&\
             resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
        );
        let watch = admin.get(&path).await;
        assert_eq!(watch.status, if is_on { 200 } else { 422 }, "{flag}");
        let detail = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        assert_eq!(watch.text().contains(detail), !is_on, "{flag}");
        let metrics = admin.get("/metrics").await.text();
        let enabled = format!(r#"orch_feature_enabled{{name="WatchList",stage="BETA"}} {}"#, u8::from(is_on));
        assert!(metrics.contains(&enabled), "{metrics}");
        assert!(
            metrics.contains(r#"orch_feature_enabled{name="RetryGenerateName",stage=""} 1"#),
            "{metrics}"
        );
        assert_eq!(server.log().contains("will be removed in a future release"), is_on, "{}", server.log());
    }
    let directory = tempfile::tempdir().unwrap();
    let mut command = TestServer::command();
    command
        .args(["--feature-gates=RetryGenerateName=false", "--secure-port=0", "--data-dir"])
        .arg(directory.path().join("data"))
        .stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // The server ends with its input.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    let expected = "cannot set feature gate RetryGenerateName to false, feature is locked to true";
    assert!(message.contains(expected), "{message}");
}
