//! A server whose database has lost acknowledged writes says so, and goes on only where it is told to.

use std::{
    fs,
    process::{Output, Stdio},
    time::Duration,
};

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, name, names, version},
};
use serde_json::json;
use tokio::{process::Command, time::sleep};

use crate::restart::edit;

/// A server with three objects that was killed and whose write-ahead log is gone; with the version of the
/// last object.
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
    let (code, said) = run(command).await;
    (code, if flags.is_empty() { said.lines().last().unwrap_or_default().to_owned() } else { said })
}

/// The exit code and all output of a subcommand on the data of a server.
async fn perform(server: &TestServer, name: &str, arguments: &[&str]) -> (Option<i32>, String) {
    run(command(server, name, arguments)).await
}

fn command(server: &TestServer, name: &str, arguments: &[&str]) -> Command {
    let mut command = TestServer::command();
    command.arg(name).arg("--data-dir").arg(server.data_dir()).args(arguments);
    command
}

async fn run(command: Command) -> (Option<i32>, String) {
    let output = output(command).await;
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

async fn output(mut command: Command) -> Output {
    let mut process = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Its other end stays open, or the process would end with it.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    output
}

/// Starts a process, kills it before long, and does so several times.
async fn kill(mut command: Command) {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for _ in 0..5 {
        let mut process = command.spawn().unwrap();
        sleep(Duration::from_millis(rand::random_range(0..40))).await;
        process.kill().await.unwrap();
    }
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

/// A row whose value is damaged stays, and is told as what it is.
#[tokio::test]
async fn a_damaged_row_stays_after_a_repair() {
    let gate = "--feature-gates=AllowUnsafeMalformedObjectDeletion=true";
    let mut server = TestServer::options().flag(gate).start().await;
    server.admin().post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    assert!(server.stop().await.success());
    edit(&server.data_dir(), "UPDATE log SET value = CAST('?' || substr(value, 2) AS BLOB) WHERE name = 'b'")
        .await;
    let (code, said) = perform(&server, "repair", &[]).await;
    assert!(
        code == Some(0) && said.contains("1 damaged rows stay, and a check goes on naming them"),
        "{said}"
    );
    let (code, said) = perform(&server, "check", &[]).await;
    assert!(code == Some(1) && said.contains("its object cannot be read"), "{said}");
    // What is to be done about it.
    server.restart().await;
    let option = json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true});
    let admin = server.admin();
    admin.request(Method::DELETE, &format!("{CONFIG_MAPS}/b")).json(&option).send().await.expect(200);
    assert!(server.stop().await.success());
    for command in ["compact", "check"] {
        let (code, said) = perform(&server, command, &[]).await;
        assert_eq!(code, Some(0), "{command}: {said}");
    }
}

/// One damaged page, which the database itself cannot pass.
#[tokio::test]
async fn a_damaged_page_is_repaired() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let value = "x".repeat(3000);
    let mut last = 0;
    for index in 0..60 {
        let map = config_map(&format!("map-{index:03}"), &value);
        last = version(&admin.post(CONFIG_MAPS, &map).await.expect(201)).parse().unwrap();
    }
    assert!(server.stop().await.success());
    let database = server.data_dir().join("orch.db");
    let mut bytes = fs::read(&database).unwrap();
    let is_held = |page: &[u8]| page[0] == 0x0d && page.windows(7).any(|bytes| bytes == b"map-030");
    let hit = bytes.chunks_mut(8192).find(|page| is_held(page)).unwrap();
    hit[..16].fill(0xff);
    fs::write(&database, bytes).unwrap();

    let (code, said) = ended(&server, &[]).await;
    assert!(code == Some(2) && said.contains("is damaged") && said.contains("the command repair"), "{said}");
    let (code, said) = perform(&server, "check", &[]).await;
    assert!(code == Some(1), "{said}");
    let (code, said) = perform(&server, "repair", &[]).await;
    assert!(code == Some(0) && said.contains("its history begins at revision"), "{said}");
    let (code, said) = perform(&server, "check", &[]).await;
    assert!(code == Some(0) || said.contains("its object cannot be read"), "{said}");

    server.restart().await;
    let list = server.admin().get(CONFIG_MAPS).await.expect(200);
    assert!(names(&list).len() >= 58, "{:?}", names(&list));
    assert!(version(&list).parse::<u64>().unwrap() > last);
}

#[tokio::test]
async fn a_copy_of_a_running_server_is_restored() {
    let server = TestServer::start().await;
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let copy = server.scratch_dir().join("copy.db");
    let (code, said) = perform(&server, "backup", &[copy.to_str().unwrap()]).await;
    assert!(code == Some(0) && said.contains(" objects in "), "{said}");
    let late = server.admin().post(CONFIG_MAPS, &config_map("late", "1")).await.expect(201);
    let (code, said) = perform(&server, "backup", &[copy.to_str().unwrap()]).await;
    assert!(code == Some(2) && said.contains("is there already"), "{said}");
    let (code, said) = perform(&server, "restore", &[copy.to_str().unwrap()]).await;
    assert!(code == Some(2) && said.contains("in use by another server"), "{said}");

    let mut other = TestServer::start().await;
    assert!(other.stop().await.success());
    for file in ["orch.db", "orch.db.mark"] {
        fs::remove_file(other.data_dir().join(file)).unwrap();
    }
    let (code, said) = perform(&other, "restore", &[copy.to_str().unwrap()]).await;
    assert_eq!(code, Some(0), "{said}");
    other.restart().await;
    let list = other.admin().get(CONFIG_MAPS).await.expect(200);
    assert_eq!(names(&list), ["a"]);
    assert!(version(&list).parse::<u64>().unwrap() > version(&late).parse::<u64>().unwrap());
}

/// The bytes on stdout are the database; nothing stays beside the one that was copied, even where another
/// process was killed.
#[tokio::test]
async fn a_copy_goes_to_stdout() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", &"x".repeat(500_000))).await.expect(201);
    kill(command(&server, "backup", &["-"])).await;
    let copied = output(command(&server, "backup", &["-"])).await;
    assert!(copied.status.success() && copied.stderr.is_empty(), "{copied:?}");
    let left = fs::read_dir(server.data_dir()).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().contains("copy")).count(), 0);

    let copy = server.scratch_dir().join("copy.db");
    fs::write(&copy, copied.stdout).unwrap();
    let mut other = TestServer::start().await;
    assert!(other.stop().await.success());
    for file in ["orch.db", "orch.db.mark"] {
        fs::remove_file(other.data_dir().join(file)).unwrap();
    }
    kill(command(&other, "restore", &[copy.to_str().unwrap()])).await;
    let (code, said) = perform(&other, "restore", &[copy.to_str().unwrap()]).await;
    assert!(code == Some(0) || said.contains("is there already"), "{said}");
    other.restart().await;
    assert_eq!(names(&other.admin().get(CONFIG_MAPS).await.expect(200)), ["a"], "{said}");
}
