//! Three servers over one etcd are one server to whoever asks them in turn.

use futures_util::future::join_all;
use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, config_map, name, names, version},
    server::ServerOptions,
};
use serde_json::{Value, json};

use crate::member::Member;

pub fn over(member: &Member, prefix: &str) -> ServerOptions {
    behind(&member.url, prefix)
}

/// Options of a server that reaches etcd there.
pub fn behind(url: &str, prefix: &str) -> ServerOptions {
    TestServer::options()
        .flag("--storage=etcd")
        .flag(format!("--etcd-servers={url}"))
        .flag(format!("--etcd-prefix={prefix}"))
}

/// They start at the same time, so that each may be the first.
async fn three(member: &Member, prefix: &str) -> Vec<TestServer> {
    join_all((0..3).map(|_| over(member, prefix).start())).await
}

fn number(object: &Value) -> u64 {
    version(object).parse().expect("a version is a number")
}

fn one(name: &str) -> String {
    format!("{CONFIG_MAPS}/{name}")
}

/// What one server has answered, every other one shows from then on, and versions never go back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_on_one_server_is_read_on_the_next() {
    let Some(member) = Member::start() else { return };
    let servers = three(&member, "/in-turn").await;
    let clients: Vec<Client> = servers.iter().map(TestServer::admin).collect();
    let turn = |round: usize| &clients[round % clients.len()];

    let mut last = turn(0).post(CONFIG_MAPS, &config_map("counter", "0")).await.expect(201);
    for round in 1..60 {
        let read = turn(round).get(&one("counter")).await.expect(200);
        assert_eq!(read, last, "round {round}");
        let change = json!({"data": {"value": round.to_string()}});
        let written = turn(round + 1).merge(&one("counter"), &change).await.expect(200);
        assert!(number(&written) > number(&last), "round {round}");
        let listed = turn(round + 2).get(CONFIG_MAPS).await.expect(200);
        assert!(number(&listed) >= number(&written), "round {round}");
        let shown = listed["items"].as_array().expect("a list").iter().find(|item| name(item) == "counter");
        assert_eq!(shown.map(|item| &item["metadata"]), Some(&written["metadata"]), "round {round}");
        last = written;
    }
    let again = turn(1).post(CONFIG_MAPS, &config_map("counter", "x")).await;
    again.refused(409, "AlreadyExists");
    let mut stale = last.clone();
    stale["metadata"]["resourceVersion"] = json!("1");
    turn(2).put(&one("counter"), &stale).await.refused(409, "Conflict");
    turn(0).delete(&one("counter")).await.expect(200);
    turn(1).get(&one("counter")).await.refused(404, "NotFound");
    turn(2).post(CONFIG_MAPS, &config_map("counter", "new")).await.expect(201);
}

/// Watches on all servers tell the same events, and one goes on where another one ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_and_pages_go_on_on_another_server() {
    let Some(member) = Member::start() else { return };
    let mut servers = three(&member, "/go-on").await;
    let clients: Vec<Client> = servers.iter().map(TestServer::admin).collect();
    let first = clients[0].post(CONFIG_MAPS, &config_map("o0", "1")).await.expect(201);
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&first));
    let mut watches = Vec::new();
    for client in &clients {
        watches.push(client.watch(&path).await);
    }
    let mut written = Vec::new();
    for index in 1..9 {
        let object = config_map(&format!("o{index}"), "1");
        written.push(clients[index % 3].post(CONFIG_MAPS, &object).await.expect(201));
    }
    clients[1].delete(&one("o8")).await.expect(200);
    for watch in &mut watches {
        for object in &written {
            assert_eq!(watch.expect("ADDED").await, *object);
        }
    }
    let mut removed = Vec::new();
    for watch in &mut watches {
        removed.push(watch.expect("DELETED").await);
    }
    assert!(removed.iter().all(|object| *object == removed[0]), "{removed:?}");
    assert!(number(&removed[0]) > number(&written[7]));

    let seen = version(&written[3]);
    servers[1].kill().await;
    let mut resumed = clients[2].watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={seen}")).await;
    assert_eq!(resumed.expect("ADDED").await, written[4]);

    let page = clients[0].get(&format!("{CONFIG_MAPS}?limit=3")).await.expect(200);
    let token = page["metadata"]["continue"].as_str().expect("there is more");
    clients[0].post(CONFIG_MAPS, &config_map("o3-later", "1")).await.expect(201);
    let rest = clients[2].get(&format!("{CONFIG_MAPS}?limit=9&continue={token}")).await.expect(200);
    assert_eq!((names(&page), names(&rest)), (vec!["o0", "o1", "o2"], vec!["o3", "o4", "o5", "o6", "o7"]));
    assert_eq!(version(&rest), version(&page));

    servers[1].restart().await;
    let client = servers[1].admin();
    let mut resumed = client.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={seen}")).await;
    assert_eq!(name(&resumed.expect("ADDED").await), "o5", "history outlives the server that told it");
    assert!(servers[0].stop().await.success());
    client.get(&one("o3-later")).await.expect(200);
}

/// A directory with keys of its own belongs to other data.
#[tokio::test]
async fn a_server_with_other_keys_does_not_start() {
    let Some(member) = Member::start() else { return };
    let _first = over(&member, "/keys").start().await;
    let mut other = over(&member, "/other-keys").start().await;
    assert!(other.stop().await.success());
    let flags: Vec<String> = ["--storage=etcd", "--etcd-prefix=/keys", "--secure-port=0", "--data-dir"]
        .map(str::to_owned)
        .into_iter()
        .chain([other.data_dir().display().to_string(), format!("--etcd-servers={}", member.url)])
        .collect();
    let mut command = TestServer::command();
    command.args(&flags).stderr(std::process::Stdio::piped());
    let mut process = command.spawn().expect("the server can be started");
    let input = process.stdin.take();
    let output = process.wait_with_output().await.expect("the server ends");
    drop(input);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--data-dir: ") && text.contains("is not the one"), "{text}");
}
