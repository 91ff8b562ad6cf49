//! What docs/REPLICAS.md says to type is typed: data are moved to three members with TLS, three servers
//! serve them, and go on when a member and a server are lost; two servers share one machine.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use http::Method;
use orch_tests::{
    TestServer,
    authority::Authority,
    objects::{CONFIG_MAPS, config_map, name},
};

use crate::{member::Member, migrate::run};

/// The flags of the commands in the guide that have this text in them, with other places for those of the
/// guide.
fn documented(text: &str, places: &BTreeMap<&str, String>) -> Vec<Vec<String>> {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/REPLICAS.md");
    let guide = std::fs::read_to_string(guide).expect("there is a guide").replace("\\\n", "");
    let is_meant = |line: &&str| line.starts_with("orch-apiserver") && line.contains(text);
    let commands = guide.lines().filter(is_meant).map(|command| {
        let command = command.trim_end_matches('&').to_owned();
        // The longest first: one may begin with another one.
        let there = |command: String, (place, other): (&&str, &String)| command.replace(place, other);
        let command = places.iter().rev().fold(command, there);
        command.split_whitespace().skip(1).map(str::to_owned).collect()
    });
    commands.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guide_is_followed() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let write = |name: &str, text: &str| std::fs::write(file(name), text).expect("the file can be written");
    let authority = Authority::new("etcd");
    write("ca.crt", authority.pem());
    for (name, (certificate, key)) in [
        ("member", authority.server_pair("localhost")),
        ("client", authority.pair("orch", None, Duration::from_hours(1))),
    ] {
        write(&format!("{name}.crt"), &certificate);
        write(&format!("{name}.key"), &key);
    }
    let flags = [
        format!("--cert-file={}", file("member.crt")),
        format!("--key-file={}", file("member.key")),
        format!("--trusted-ca-file={}", file("ca.crt")),
        "--client-cert-auth".to_owned(),
    ];
    let flags = flags.each_ref().map(String::as_str);
    let Some(mut members) = Member::start_cluster(3, &flags) else { return };

    let mut old = TestServer::start().await;
    old.admin().post(CONFIG_MAPS, &config_map("kept", "1")).await.expect(201);
    assert!(old.stop().await.success());
    let places = BTreeMap::from([
        ("https://10.0.0.1:2379", members[0].url.clone()),
        ("https://10.0.0.2:2379", members[1].url.clone()),
        ("https://10.0.0.3:2379", members[2].url.clone()),
        ("/etc/orch/etcd-ca.crt", file("ca.crt")),
        ("/etc/orch/etcd-client.crt", file("client.crt")),
        ("/etc/orch/etcd-client.key", file("client.key")),
        ("/var/lib/orch", old.data_dir().display().to_string()),
    ]);
    let (code, said) = run(documented("migrate-storage", &places)[0].iter().map(String::as_str)).await;
    assert_eq!(code, Some(0), "{said}");

    let start = &documented("--storage=etcd", &places)[0];
    // Those of the test are others.
    let is_own = |flag: &&String| !flag.starts_with("--data-dir") && !flag.starts_with("--bind-address");
    let start: Vec<&String> = start.iter().filter(is_own).collect();
    assert!(start.len() >= 5, "{start:?}");
    let options = || start.iter().fold(TestServer::options(), |options, flag| options.flag(flag.as_str()));
    let mut servers = join_all((0..3).map(|_| options().start())).await;
    let one = format!("{CONFIG_MAPS}/kept");
    for server in &servers {
        assert_eq!(name(&server.admin().get(&one).await.expect(200)), "kept");
    }
    members[0].kill();
    servers[2].kill().await;
    let client = servers[1].admin();
    let mut answers = Vec::new();
    for attempt in 0..100 {
        let object = config_map(&format!("later-{attempt}"), "1");
        let answer = client.request(Method::POST, CONFIG_MAPS).json(&object).send().await;
        answers.push(answer.status);
        if answer.status == 201 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!("{answers:?}");
    assert_eq!(answers.pop(), Some(201), "{answers:?}");
    assert!(answers.iter().all(|status| matches!(status, 503 | 504)), "{answers:?}");
    // Memory is read without etcd.
    let list = servers[0].admin().get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await.expect(200);
    assert!(list["items"].as_array().is_some_and(|items| !items.is_empty()));
}

/// The example for one machine, with ports and directories of the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_machine() {
    let Some(member) = Member::start() else { return };
    let places = BTreeMap::from([("http://127.0.0.1:2379", member.url.clone())]);
    let commands = documented("http://127.0.0.1:2379", &places);
    assert_eq!(commands.len(), 2, "{commands:?}");
    let is_own = |flag: &&String| flag.starts_with("--data-dir") || flag.starts_with("--secure-port");
    for own in commands[0].iter().filter(is_own) {
        assert!(!commands[1].contains(own), "both servers have {own}");
    }
    let options = commands.iter().map(|flags| {
        let flags = flags.iter().filter(|flag| !is_own(flag));
        flags.fold(TestServer::options(), |options, flag| options.flag(flag.as_str())).start()
    });
    let servers = join_all(options).await;
    servers[0].admin().post(CONFIG_MAPS, &config_map("shared", "1")).await.expect(201);
    let found = servers[1].admin().get(&format!("{CONFIG_MAPS}/shared")).await.expect(200);
    assert_eq!(name(&found), "shared");
}
