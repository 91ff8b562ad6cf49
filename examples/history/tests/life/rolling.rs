//! Two servers over one etcd are exchanged, one after the other, by those of the next release, which stores
//! and prefers another version. Clients of both versions go on, and no request fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use orch_tests::{Client, TestServer, client::Next, server::ServerOptions};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, OwnedRwLockReadGuard, RwLock},
    task::JoinHandle,
};

use crate::{
    member::Member,
    program::{BETA, autoscaler, path, program, server_of},
};

/// The servers that are asked, in turn: what a load balancer knows.
#[derive(Clone)]
struct Balancer {
    clients: [Client; 2],
    /// A server that is being exchanged is not asked.
    in_turn: [Arc<RwLock<bool>>; 2],
    next: Arc<AtomicUsize>,
}

impl Balancer {
    /// The next server, which is not stopped while the guard is held.
    async fn turn(&self) -> (Client, OwnedRwLockReadGuard<bool>) {
        loop {
            let number = self.next.fetch_add(1, SeqCst) % 2;
            let in_turn = Arc::clone(&self.in_turn[number]).read_owned().await;
            if *in_turn {
                return (self.clients[number].clone(), in_turn);
            }
        }
    }

    async fn get(&self, path: &str) -> Value {
        let (client, _held) = self.turn().await;
        client.get(path).await.expect(200)
    }

    async fn merge(&self, path: &str, change: &Value) -> Value {
        let (client, _held) = self.turn().await;
        client.merge(path, change).await.expect(200)
    }
}

/// Writes and reads an object in one version until it is told to stop: how many requests were answered.
fn user(balancer: &Balancer, version: &'static str, stop: &Arc<AtomicBool>) -> JoinHandle<u32> {
    let (balancer, stop) = (balancer.clone(), Arc::clone(stop));
    tokio::spawn(async move {
        let item = format!("{}/{version}", path(version));
        let spec = json!({"scaleTargetRef": {"kind": "A", "name": "a"}, "maxReplicas": 1});
        let object = autoscaler(version, version, spec);
        balancer.turn().await.0.post(&path(version), &object).await.expect(201);
        let mut count = 1;
        while !stop.load(SeqCst) {
            count += 1;
            let change = json!({"spec": {"maxReplicas": count}});
            let api_version = format!("example.orch.io/{version}");
            assert_eq!(balancer.merge(&item, &change).await["apiVersion"], api_version);
            // The other server shows it at once.
            let read = balancer.get(&item).await;
            assert_eq!(
                (&read["spec"]["maxReplicas"], &read["apiVersion"]),
                (&json!(count), &json!(api_version))
            );
            assert!(!balancer.get(&path(version)).await["items"].as_array().unwrap().is_empty());
        }
        count
    })
}

type Seen = Arc<Mutex<Vec<Value>>>;

/// Follows one object in a version, on whichever server there is, from where it was: what it has seen.
fn watcher(balancer: &Balancer, version: &'static str, name: &'static str) -> (Seen, JoinHandle<()>) {
    let (balancer, seen) = (balancer.clone(), Arc::new(Mutex::new(Vec::new())));
    let told = Arc::clone(&seen);
    let task = tokio::spawn(async move {
        let mut from = "0".to_owned();
        loop {
            let fields = format!("fieldSelector=metadata.name%3D{name}");
            let query = format!("{}?watch=1&resourceVersion={from}&{fields}", path(version));
            let (client, held) = balancer.turn().await;
            let mut watch = client.watch(&query).await;
            drop(held);
            while let Next::Event(event) = watch.next(Duration::from_secs(30)).await {
                assert_eq!(event["object"]["apiVersion"], format!("example.orch.io/{version}"), "{event}");
                event["object"]["metadata"]["resourceVersion"].as_str().unwrap().clone_into(&mut from);
                told.lock().await.push(event["object"]["spec"]["maxReplicas"].clone());
            }
        }
    });
    (seen, task)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_two_releases_are_exchanged_without_a_failed_request() {
    let Some(member) = Member::start() else { return };
    let flags = vec![
        BETA.to_owned(),
        "--storage=etcd".to_owned(),
        format!("--etcd-servers={}", member.url),
        "--etcd-prefix=/rolling".to_owned(),
    ];
    let of_last_release = || flags.iter().fold(server_of("1.31"), ServerOptions::flag);
    let mut servers = [of_last_release().start().await, of_last_release().start().await];
    let balancer = Balancer {
        clients: [servers[0].admin(), servers[1].admin()],
        in_turn: [true, true].map(|in_turn| Arc::new(RwLock::new(in_turn))),
        next: Arc::default(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let users = ["v1beta1", "v1"].map(|version| user(&balancer, version, &stop));
    tokio::time::sleep(Duration::from_millis(200)).await;
    // Each follows what the other one writes.
    let watchers =
        [("v1", "v1beta1"), ("v1beta1", "v1")].map(|(version, name)| watcher(&balancer, version, name));

    for server in &servers {
        assert_eq!(preferred(server).await, "v1beta1", "the release before 1.31 knows no other version");
    }
    for (server, in_turn) in servers.iter_mut().zip(&balancer.in_turn) {
        *in_turn.write().await = false;
        assert!(server.stop().await.success());
        server.restart_as(program("1.32"), flags.clone()).await;
        *in_turn.write().await = true;
        // Servers of both releases work, and then those of the new one.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    stop.store(true, SeqCst);
    for ((user, (seen, watcher)), version) in users.into_iter().zip(watchers).zip(["v1beta1", "v1"]) {
        let last = user.await.expect("no request fails");
        let caught_up = async {
            while seen.lock().await.last() != Some(&json!(last)) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), caught_up)
            .await
            .expect("the watcher sees the last change");
        // Each change once and in order, across both exchanges.
        let seen = seen.lock().await;
        let first = seen[0].as_u64().unwrap();
        let all: Vec<Value> = (first..=u64::from(last)).map(Value::from).collect();
        assert_eq!(*seen, all, "changes of {version}");
        watcher.abort();
    }
    for server in &servers {
        assert_eq!(preferred(server).await, "v1");
    }
    is_stored_anew(&servers[0]).await;
}

/// The version that clients take where they have a choice.
async fn preferred(server: &TestServer) -> String {
    let group = server.admin().get("/apis/example.orch.io").await.expect(200);
    assert_eq!(group["versions"].as_array().unwrap().len(), 2);
    assert_eq!(group["versions"][0], group["preferredVersion"]);
    group["preferredVersion"]["version"].as_str().unwrap().to_owned()
}

/// What the new release writes, it stores in the new version.
async fn is_stored_anew(server: &TestServer) {
    let resources = server.admin().get("/apis/example.orch.io/v1").await.expect(200);
    let other = server.admin().get("/apis/example.orch.io/v1beta1").await.expect(200);
    let hash = |resources: &Value| resources["resources"][0]["storageVersionHash"].clone();
    assert_eq!(hash(&resources), hash(&other), "both versions have the hash of the stored one");
}
