//! A server whose database has lost acknowledged writes says so, and goes on only where it is told to.

use std::{fs, process::Stdio};

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, name, names, version},
};

/// A server with three objects that was killed and whose write-ahead log is gone; with the version of the last
/// object.
async fn robbed() -> (TestServer, u64) {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let mut last = 0;
    for name in ["a", "b", "c"] {
        last = version(&admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201)).parse().unwrap();
    }
    server.kill().await;
    fs::remove_file(server.data_dir().join("orch.db-wal")).unwrap();
    (server, last)
}

/// The exit code and the last line on standard error of a server with these flags that does not start.
async fn ended(server: &TestServer, flags: &[&str]) -> (Option<i32>, String) {
    let mut command = TestServer::command();
    command.arg("--data-dir").arg(server.data_dir()).arg("--secure-port=0").args(flags);
    command.stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    let said = String::from_utf8(output.stderr).unwrap();
    let all = format!("{}{}", String::from_utf8(output.stdout).unwrap(), said);
    let line = said.lines().last().unwrap_or_default().to_owned();
    (output.status.code(), if flags.is_empty() { line } else { all })
}

#[tokio::test]
async fn a_lost_log_is_said_and_nothing_is_overwritten() {
    let (server, last) = robbed().await;
    let before = fs::read(server.data_dir().join("orch.db")).unwrap();
    for _ in 0..2 {
        let (code, said) = ended(&server, &[]).await;
        assert_eq!(code, Some(2), "{said}");
        for word in
            ["--data-dir: ", "orch.db lacks writes", &format!(" to {last} are missing"), "--accept-data-loss"]
        {
            assert!(said.contains(word), "{word:?} is not in: {said}");
        }
        let (code, said) = ended(&server, &["--self-check"]).await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(&format!(" to {last} are missing")), "{said}");
    }
    assert!(fs::read(server.data_dir().join("orch.db")).unwrap()[100..] == before[100..]);
}

#[tokio::test]
async fn a_new_history_repeats_no_version() {
    let (mut server, last) = robbed().await;
    server.restart_with("--accept-data-loss").await;
    let admin = server.admin();
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert!(names(&list).is_empty(), "{list}");
    assert!(version(&list).parse::<u64>().unwrap() > last);
    for old in [2, last - 1, last] {
        let exact = format!("{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact");
        admin.get(&exact).await.refused(410, "Expired");
        let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={old}")).await;
        let event = watch.event().await;
        assert_eq!((event["type"].as_str(), event["object"]["code"].as_u64()), (Some("ERROR"), Some(410)));
    }
    let new = admin.post(CONFIG_MAPS, &config_map("a", "2")).await.expect(201);
    assert!(version(&new).parse::<u64>().unwrap() > last);

    // The flag may stay, and nothing more happens.
    server.kill().await;
    server.restart().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&list))).await;
    assert_eq!(name(&watch.expect("ADDED").await), "a");
    assert!(server.log().contains("a new history begins"), "{}", server.log());
}
