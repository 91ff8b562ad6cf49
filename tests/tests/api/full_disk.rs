//! A full disk: writes are refused, reads and deletions go on, nothing is lost, and writes work again once
//! there is room.

use std::{io::Write as _, time::Duration};

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, NAMESPACES, config_map, names, namespace},
    skip::skipped,
};
use serde_json::json;

const MEBIBYTE: u64 = 1024 * 1024;

#[tokio::test]
async fn a_full_disk_refuses_writes_and_loses_none() {
    let mut server = TestServer::options().largest_file(6 * MEBIBYTE).start().await;
    let admin = server.admin();
    let (mut kept, refused) = fill(&admin).await;
    assert!([500, 507].contains(&refused.status), "{refused:?}");
    assert!(!refused.text().contains("code: "), "the database's own words are for the log: {refused:?}");

    // Reads go on, and further writes are refused or kept like the first.
    assert_eq!(admin.get("/livez").await.text(), "ok");
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), kept);
    let answer = admin.post(CONFIG_MAPS, &config_map("small", "1")).await;
    if answer.status == 201 {
        kept.push("small".to_owned());
    }
    server.kill().await;
    server.restart().await;
    let admin = server.admin();
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), kept);
    admin.post(CONFIG_MAPS, &config_map("again", "1")).await.expect(201);
}

#[tokio::test]
async fn a_full_disk_lets_deletions_through() {
    let mut server = match TestServer::options().start_on_disk(24 * MEBIBYTE).await {
        Ok(server) => server,
        Err(why) => return skipped("deletions on a full disk", &why),
    };
    let admin = server.admin();
    // What is kept for deletions is there some moments after the start.
    let reserve = server.data_dir().join("orch.db.reserve");
    while reserve.metadata().map_or(true, |file| file.len() < 8 * MEBIBYTE) {
        assert_eq!(admin.get("/livez").await.text(), "ok");
    }
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "finalizers": ["example.com/a", "example.com/b"]}});
    admin.post(CONFIG_MAPS, &held).await.expect(201);
    admin.post(NAMESPACES, &namespace("going")).await.expect(201);
    let (kept, refused) = fill(&admin).await;
    let message = refused.refused(507, "InsufficientStorage");
    assert_eq!(message, "the disk is full: only deletions are taken until there is room; reads go on");
    admin
        .merge(&format!("{CONFIG_MAPS}/{}", kept[0]), &json!({"data": {"value": "y"}}))
        .await
        .refused(507, "InsufficientStorage");

    // A namespace with what is in it, although its conditions cannot be stored.
    let going = format!("{NAMESPACES}/going");
    admin.delete(&going).await.expect(200);
    let gone = async {
        while admin.get(&going).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.expect("the namespace goes");

    // Finalizers included, of one object and of many.
    let item = format!("{CONFIG_MAPS}/held");
    admin.delete(&item).await.expect(200);
    for finalizers in [json!(["example.com/b"]), json!(null)] {
        admin.merge(&item, &json!({"metadata": {"finalizers": finalizers}})).await.expect(200);
    }
    admin.get(&item).await.refused(404, "NotFound");
    let (one, rest) = kept.split_first().unwrap();
    admin.delete(&format!("{CONFIG_MAPS}/{one}")).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), rest);
    server.kill().await;
    server.restart().await;
    let admin = server.admin();
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), rest, "nothing is lost");
    admin.request(Method::DELETE, CONFIG_MAPS).send().await.expect(200);
    assert_eq!(admin.get(CONFIG_MAPS).await.expect(200)["items"], json!([]));
}

/// Log and data share the disk, and something else fills it up.
#[tokio::test]
async fn a_full_disk_that_holds_the_log_too_does_not_end_the_server() {
    let options = TestServer::options().log("data/log").flag("-v3");
    let mut server = match options.start_on_disk(24 * MEBIBYTE).await {
        Ok(server) => server,
        Err(why) => return skipped("a log on a full disk", &why),
    };
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("before", "1")).await.expect(201);
    let (log, filler) = (server.data_dir().join("log"), server.data_dir().join("filler"));
    let told = || String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    let lost = async || {
        let metrics = admin.get("/metrics").await.text();
        let lost = metrics.lines().find_map(|line| line.strip_prefix("apiserver_log_lines_lost_total "));
        lost.unwrap().parse::<u64>().unwrap()
    };
    while lost().await < 10 {
        let mut file = std::fs::File::options().create(true).append(true).open(&filler).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["before"]);
    }
    let refused = admin.post(CONFIG_MAPS, &config_map("full", &"x".repeat(1_000_000))).await;
    assert!([201, 507].contains(&refused.status), "{refused:?}");
    admin.delete(&format!("{CONFIG_MAPS}/before")).await.expect(200);

    std::fs::remove_file(&filler).unwrap();
    while admin.post(CONFIG_MAPS, &config_map("after", "1")).await.status != 201 {}
    while !told().contains("lines of this log could not be written") {
        admin.get(CONFIG_MAPS).await.expect(200);
    }
    assert!(server.stop().await.success());
}

/// Makes objects until one is refused: the names of those that are stored, and the refusal.
async fn fill(admin: &Client) -> (Vec<String>, Answer) {
    let value = "x".repeat(100_000);
    let mut kept = Vec::new();
    loop {
        let name = format!("n{:03}", kept.len());
        let answer = admin.post(CONFIG_MAPS, &config_map(&name, &value)).await;
        if answer.status != 201 {
            return (kept, answer);
        }
        kept.push(name);
        assert!(kept.len() < 300, "the disk does not fill up");
    }
}
