//! What audit says of requests beside what they are: annotations, and as whom they are made. And bodies that
//! cannot stand in an event as they are.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::json;

use crate::audit::Audited;

const METADATA: &str = "- level: Metadata\n";

/// Kinds that will go are told of requests that are let in, by audit and by metrics.
#[tokio::test]
async fn requests_for_deprecated_kinds_are_told() {
    const OLD: &str = "/apis/flowcontrol.apiserver.orch.io/v1beta3/flowschemas";
    let flag = "--runtime-config=flowcontrol.apiserver.orch.io/v1beta3";
    let audited = Audited::start(METADATA, TestServer::options().flag(flag)).await;
    let admin = audited.server.admin();
    let gauges = async || -> Vec<String> {
        let metrics = admin.get("/metrics").await.text();
        let lines = metrics.lines().filter(|line| line.starts_with("apiserver_requested_deprecated_apis{"));
        lines.map(str::to_owned).collect()
    };
    let refused = format!("{OLD}/refused");
    audited.server.user("bob").get(&refused).await.refused(403, "Forbidden");
    let annotations = audited.completed(&refused).await["annotations"].take();
    assert_eq!(annotations.get("orch.io/deprecated"), None, "{annotations}");
    assert_eq!(gauges().await, [""; 0]);

    admin.get(&format!("{OLD}/probes")).await.expect(200);
    let annotations = audited.completed("/probes").await["annotations"].take();
    assert_eq!(annotations["orch.io/deprecated"], "true", "{annotations}");
    assert_eq!(annotations["orch.io/removed-release"], "1.32", "{annotations}");
    let expected = "apiserver_requested_deprecated_apis{group=\"flowcontrol.apiserver.orch.io\",\
                    removed_release=\"1.32\",resource=\"flowschemas\",subresource=\"\",version=\"v1beta3\"} 1";
    assert_eq!(gauges().await, [expected]);
    admin.get("/apis/flowcontrol.apiserver.orch.io/v1/flowschemas/probes").await.expect(200);
    let annotations = audited.completed("/v1/flowschemas/probes").await["annotations"].take();
    assert_eq!(annotations.get("orch.io/deprecated"), None, "{annotations}");
}

#[tokio::test]
async fn deletes_without_a_look_are_told() {
    let flag = "--feature-gates=AllowUnsafeMalformedObjectDeletion=true";
    let audited = Audited::start(METADATA, TestServer::options().flag(flag)).await;
    let admin = audited.server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for (option, expected) in [
        (json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true}), Some(json!(""))),
        (json!({}), None),
    ] {
        admin.request(Method::DELETE, &format!("{CONFIG_MAPS}/a")).json(&option).send().await;
        let event = audited.completed("configmaps/a").await;
        let told = event["annotations"].get("apiserver.orch.io/unsafe-delete-ignore-read-error");
        assert_eq!(told, expected.as_ref(), "{event}");
    }
}

#[tokio::test]
async fn whoever_asks_as_somebody_else_is_told_with_that_one() {
    let audited = Audited::start(METADATA, TestServer::options()).await;
    let ask = audited.server.admin();
    let request = ask.request(Method::GET, CONFIG_MAPS).add_header("Impersonate-User", "bob");
    request.add_header("Impersonate-Group", "devs").send().await.refused(403, "Forbidden");
    let event = audited.completed(CONFIG_MAPS).await;
    assert_eq!(event["user"]["username"], "admin");
    assert_eq!(event["impersonatedUser"]["username"], "bob", "{event}");
    assert_eq!(event["impersonatedUser"]["groups"], json!(["devs", "system:authenticated"]), "{event}");
    assert_eq!(event["annotations"]["authorization.orch.io/decision"], "forbid");
}

#[tokio::test]
async fn what_others_cannot_read_is_a_text() {
    let audited = Audited::start("- level: Request\n", TestServer::options()).await;
    let admin = audited.server.admin();
    for (manager, body, expected) in [
        ("bytes", &b"{\"a\":\"\xff\"}"[..], "{\"a\":\"\u{fffd}\"}"),
        ("half", br#"{"\ud800":1}"#, r#"{"\ud800":1}"#),
    ] {
        let request = admin.request(Method::POST, &format!("{CONFIG_MAPS}?fieldManager={manager}"));
        request.body("application/json", body.to_vec()).header("user-agent", "agent/\u{e9}").send().await;
        let event = audited.completed(manager).await;
        assert_eq!(event["requestObject"], expected, "{event}");
        assert_eq!(event["userAgent"], "agent/\u{e9}", "{event}");
    }
}
