//! Lists in pages: one version throughout, tokens for one list only, and what becomes of them with time.

use flate2::read::GzDecoder;
use http::Method;
use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, SECRETS, config_map, labelled, name, names, namespace, version},
};
use serde_json::{Value, json};
use std::io::Read;

async fn fill(admin: &Client, count: usize) -> Vec<String> {
    let mut filled = Vec::new();
    for index in 0..count {
        let object = config_map(&format!("o{index:02}"), "1");
        filled.push(name(&admin.post(CONFIG_MAPS, &object).await.expect(201)).to_owned());
    }
    filled
}

fn token(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn pages_show_one_version_whatever_is_written_between_them_and_over_a_restart() {
    let mut server = TestServer::start().await;
    let filled = fill(&server.admin(), 10).await;
    let first = server.admin().get(&format!("{CONFIG_MAPS}?limit=3")).await.expect(200);
    assert_eq!(first["metadata"]["remainingItemCount"], 7);
    let (mut seen, mut page, mut rounds) = (names(&first).len(), first.clone(), 0);
    let mut all: Vec<String> = names(&first).into_iter().map(str::to_owned).collect();
    while !token(&page).is_empty() {
        let admin = server.admin();
        admin.delete(&format!("{CONFIG_MAPS}/{}", filled[9 - rounds])).await.expect(200);
        admin.post(CONFIG_MAPS, &config_map(&format!("o00-{rounds}"), "1")).await.expect(201);
        if rounds == 1 {
            assert!(server.stop().await.success());
            server.restart().await;
        }
        page =
            server.admin().get(&format!("{CONFIG_MAPS}?limit=3&continue={}", token(&page))).await.expect(200);
        assert_eq!(version(&page), version(&first));
        seen += names(&page).len();
        let left = page["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
        assert_eq!(left as usize, 10 - seen);
        all.extend(names(&page).into_iter().map(str::to_owned));
        rounds += 1;
    }
    assert_eq!(all, filled);
}

#[tokio::test]
async fn a_token_is_good_for_its_own_list() {
    let server = TestServer::start().await;
    let admin = server.admin();
    fill(&admin, 4).await;
    admin.post("/api/v1/namespaces", &namespace("other")).await.expect(201);
    let page = admin.get(&format!("{CONFIG_MAPS}?limit=1")).await.expect(200);
    let token = token(&page);
    admin.get(&format!("{CONFIG_MAPS}?continue={token}")).await.expect(200);
    let mut forged = token.to_owned();
    forged.replace_range(5..6, if &token[5..6] == "A" { "B" } else { "A" });
    for path in [
        format!("{SECRETS}?continue={token}"),
        format!("/api/v1/configmaps?continue={token}"),
        format!("/api/v1/namespaces/other/configmaps?continue={token}"),
        format!("{CONFIG_MAPS}?continue={token}&labelSelector=a"),
        format!("{CONFIG_MAPS}?continue={token}&fieldSelector=metadata.name!%3Da"),
        format!("{CONFIG_MAPS}?continue={forged}"),
        format!("{CONFIG_MAPS}?continue={token}&resourceVersion={}", version(&page)),
    ] {
        admin.get(&path).await.refused(400, "BadRequest");
    }
    let stranger = TestServer::start().await;
    stranger.admin().get(&format!("{CONFIG_MAPS}?continue={token}")).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn an_expired_list_can_be_finished_at_the_newest_version() {
    let server = TestServer::options().flag("--history-retention=1ms").start().await;
    let admin = server.admin();
    fill(&admin, 6).await;
    let page = admin.get(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    // History is forgotten as writes go on.
    let expired = loop {
        admin.post(CONFIG_MAPS, &json!({"metadata": {"generateName": "z"}})).await.expect(201);
        let answer = admin.get(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&page))).await;
        if answer.status != 200 {
            break answer;
        }
    };
    expired.refused(410, "Expired");
    let status = expired.json();
    let rest = admin.get(&format!("{CONFIG_MAPS}?limit=4&continue={}", token(&status))).await.expect(200);
    assert_eq!(names(&rest)[..3], ["o02", "o03", "o04"]);
    assert_ne!(version(&rest), version(&page));
}

#[tokio::test]
async fn a_collection_is_deleted_in_pages() {
    let server = TestServer::start().await;
    let admin = server.admin();
    fill(&admin, 5).await;
    let mut deleted = admin.delete(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["o02", "o03", "o04"]);
    while !token(&deleted).is_empty() {
        deleted =
            admin.delete(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&deleted))).await.expect(200);
    }
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn an_index_selects_what_a_scan_selects() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, owner, kind) in
        [("a", "helm", "x"), ("b", "other", "x"), ("c", "helm", "y"), ("d", "helm", "x")]
    {
        let mut secret = labelled(name, json!({"owner": owner}));
        secret["kind"] = json!("Secret");
        secret["type"] = json!(kind);
        secret["data"] = json!({});
        admin.post(SECRETS, &secret).await.expect(201);
    }
    let change = json!({"metadata": {"labels": {"owner": "other"}}});
    let changed = admin.merge(&format!("{SECRETS}/d"), &change).await.expect(200);
    for (query, expected) in [
        ("labelSelector=owner%3Dhelm", vec!["a", "c"]),
        ("labelSelector=owner%20in%20(helm,helm)", vec!["a", "c"]),
        ("labelSelector=owner%20in%20(helm)&limit=1", vec!["a"]),
        ("labelSelector=owner%3Dhelm,owner!%3Dhelm", vec![]),
        ("fieldSelector=type%3Dx", vec!["a", "b", "d"]),
        ("fieldSelector=type%3Dx&labelSelector=owner%3Dother", vec!["b", "d"]),
        ("fieldSelector=type%3D", vec![]),
    ] {
        for path in [SECRETS, "/api/v1/secrets"] {
            let list = admin.get(&format!("{path}?{query}")).await.expect(200);
            assert_eq!(names(&list), expected, "{path} {query}");
        }
    }
    let before: u64 = version(&changed).parse::<u64>().unwrap() - 1;
    let then =
        format!("{SECRETS}?labelSelector=owner%3Dhelm&resourceVersion={before}&resourceVersionMatch=Exact");
    assert_eq!(names(&admin.get(&then).await.expect(200)), ["a", "c", "d"]);
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_ask() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let value = "0123456789".repeat(10_000);
    for name in ["a", "b"] {
        admin.post(CONFIG_MAPS, &config_map(name, &value)).await.expect(201);
    }
    for (path, accept, compressed) in [
        (CONFIG_MAPS.to_owned(), "application/json", true),
        (CONFIG_MAPS.to_owned(), "application/json;as=Table;v=v1;g=meta.k8s.io", false),
        (format!("{CONFIG_MAPS}?includeObject=Object"), "application/json;as=Table;v=v1;g=meta.k8s.io", true),
        (format!("{CONFIG_MAPS}?pretty=true"), "application/json", true),
        (format!("{CONFIG_MAPS}/a"), "application/json", false),
    ] {
        let request = || admin.request(Method::GET, &path).header("accept", accept);
        let plain = request().send().await;
        let asked = request().header("accept-encoding", "gzip").send().await;
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(asked.header("content-encoding"), if compressed { "gzip" } else { "" }, "{path} {accept}");
        let mut text = asked.body.to_vec();
        if compressed {
            assert!(asked.body.len() < plain.body.len() / 4);
            text.clear();
            GzDecoder::new(&asked.body[..]).read_to_end(&mut text).unwrap();
        }
        if accept.contains("Table") {
            // The ages of the objects may have changed between the requests.
            assert!(text.len().abs_diff(plain.body.len()) < 8, "{path} {accept}");
        } else {
            assert_eq!(text, plain.body, "{path} {accept}");
        }
    }
}
