//! Of three servers one runs a controller; another one takes over from a leader that is killed or stopped,
//! and a leader that was stopped and goes on is none any more.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use orch_tests::{Client, TestServer, objects::namespace};
use serde_json::json;

use crate::{
    member::Member,
    outbox::Outbox,
    replicas::{behind, over},
};

/// A controller that works for each namespace: it makes its account `default`.
const CONTROLLER: &str = "serviceaccount-controller";

/// A lease lasts 15 seconds after it was renewed last.
const PATIENCE: Duration = Duration::from_mins(1);

async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look().await {
            println!("{what}: {:?}", began.elapsed());
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Who holds the lease of the controller.
async fn holder(client: &Client) -> String {
    let leases = client.get("/apis/coordination.orch.io/v1/leases").await.expect(200);
    let items = leases["items"].as_array().expect("a list has items");
    let lease = items.iter().find(|lease| lease["metadata"]["name"] == CONTROLLER).expect("there is a lease");
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

/// The server that leads, as far as it knows.
fn leads(server: &TestServer) -> bool {
    let log = server.log();
    let of_controller = log.lines().filter(|line| line.contains(&format!("controller=\"{CONTROLLER}\"")));
    let count = |text: &str| of_controller.clone().filter(|line| line.contains(text)).count();
    count("this server runs the controller") > count("another server runs the controller")
}

/// Makes a namespace, and waits until the controller has done its work there.
async fn is_worked(client: &Client, name: &str) {
    client.post("/api/v1/namespaces", &namespace(name)).await.expect(201);
    let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
    until(name, async || (client.get(&account).await.status == 200).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_leads_when_the_leader_is_lost() {
    let Some(member) = Member::start() else { return };
    let mut servers = join_all((0..3).map(|_| over(&member, "/leaders").start())).await;
    let first = servers[0].admin();
    is_worked(&first, "first").await;
    let leader = async |servers: &[TestServer], lost: &[usize]| {
        let candidates = || (0..3).filter(|index| !lost.contains(index));
        until("a leader", async || candidates().find(|index| leads(&servers[*index]))).await
    };

    let stopped = leader(&servers, &[]).await;
    servers[stopped].pause(true).await;
    let asked = servers[(stopped + 1) % 3].admin();
    is_worked(&asked, "while-one-is-stopped").await;
    let next = leader(&servers, &[stopped]).await;
    let held = holder(&asked).await;
    servers[stopped].pause(false).await;
    until("it knows that it leads no more", async || (!leads(&servers[stopped])).then_some(())).await;
    assert_eq!(holder(&asked).await, held, "it took nothing back");
    assert!(leads(&servers[next]));
    is_worked(&servers[stopped].admin(), "while-it-goes-on").await;

    servers[next].kill().await;
    let asked = servers[stopped].admin();
    is_worked(&asked, "while-one-is-killed").await;
    leader(&servers, &[next]).await;
    assert_ne!(holder(&asked).await, held);
}

/// What a leader writes is under way to etcd when somebody takes its lease away, so that it comes too late.
/// Nobody else does the work meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_deposed_leader_writes_late_is_refused() {
    let Some(member) = Member::start() else { return };
    let outbox = Outbox::before(&member.url).await;
    let leader = behind(&outbox.url, "/deposed").start().await;
    let beside = over(&member, "/deposed").flag(format!("--controllers=*,-{CONTROLLER}")).start().await;
    let client = beside.admin();
    is_worked(&client, "first").await;
    assert!(leads(&leader));
    let lease = format!("/apis/coordination.orch.io/v1/namespaces/orch-system/leases/{CONTROLLER}");
    for round in 0..5 {
        outbox.hold();
        let name = format!("late-{round}");
        client.post("/api/v1/namespaces", &namespace(&name)).await.expect(201);
        let written = format!("/deposed/serviceaccounts/{name}/default");
        until("a write is under way", async || outbox.holds(&written).then_some(())).await;
        let held = json!({"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3}});
        client.merge(&lease, &held).await.expect(200);
        outbox.release();
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        // As long as somebody else has the lease, nothing is done; much less would do for a late write.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(2) {
            assert_eq!(client.get(&account).await.status, 404, "round {round}: a late write");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(holder(&client).await, "somebody", "round {round}");
        // Then it leads again, and does what is left.
        until("the account", async || (client.get(&account).await.status == 200).then_some(())).await;
        assert_ne!(holder(&client).await, "somebody", "round {round}");
    }
}
