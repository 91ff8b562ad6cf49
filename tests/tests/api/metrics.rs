//! Metrics: requests are counted by route; no text that a client chose becomes a label.

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
};

#[tokio::test]
async fn requests_are_counted_by_route() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    let apply = admin.request(http::Method::PATCH, &format!("{CONFIG_MAPS}/d?fieldManager=m"));
    let configuration = config_map("d", "1").to_string();
    apply.body("application/apply-patch+yaml", configuration).send().await.expect(201);
    admin.get(&format!("{CONFIG_MAPS}/none")).await.refused(404, "NotFound");
    let text = admin.get("/metrics").await.text();
    for (verb, count) in [("POST", " 3"), ("APPLY", " 1")] {
        let verb = format!("verb=\"{verb}\"");
        let counted = text
            .lines()
            .find(|line| {
                line.starts_with("apiserver_request_total{")
                    && [r#"code="201""#, r#"resource="configmaps""#, &verb]
                        .iter()
                        .all(|part| line.contains(part))
            })
            .unwrap_or_else(|| panic!("no count of {verb}:\n{text}"));
        assert!(counted.ends_with(count), "{counted}");
    }
    assert!(text.contains("apiserver_request_duration_seconds_bucket{"), "{text}");
}

#[tokio::test]
async fn made_up_paths_and_methods_make_no_series() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let series =
        async || admin.get("/metrics").await.text().lines().filter(|line| !line.starts_with('#')).count();
    let made_up = async |number: usize| {
        admin.get(&format!("/made/up/{number}")).await;
        admin.get(&format!("/api/v1/made-up-{number}")).await;
        admin.get(&format!("/apis/made-up-{number}.example.com/v1/things")).await;
        admin.get(&format!("/api/v1/namespaces/made-up-{number}/configmaps")).await;
        let method = http::Method::from_bytes(format!("MADEUP{number}").as_bytes()).unwrap();
        admin
            .request(method, "/api/v1/configmaps")
            .header("user-agent", &format!("agent-{number}"))
            .send()
            .await;
    };
    made_up(0).await;
    series().await;
    let before = series().await;
    for number in 1..20 {
        made_up(number).await;
    }
    assert_eq!(series().await, before);
}
