//! The suite that every store passes.

use std::sync::Arc;

use orch_storage::conformance::model::{self, Length};
use orch_storage::conformance::{self, Fixture, RETENTION};
use orch_storage::store::BoxFuture;
use orch_storage::{ManualClock, Storage};
use orch_storage_etcd::EtcdConfig;

use crate::member::Member;
use crate::support::{config, prefix};

struct OverEtcd(Member);

impl Fixture for OverEtcd {
    type Location = String;

    fn location(&self) -> String {
        prefix()
    }

    fn keeps_order(&self) -> bool {
        false
    }

    fn open<'a>(&'a self, prefix: &'a String, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage> {
        let config = EtcdConfig { retention: RETENTION, clock, ..config(&self.0, prefix) };
        Box::pin(async move { orch_storage_etcd::open(config).await.unwrap() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    let Some(member) = Member::start() else { return };
    let seed = rand::random();
    println!("seed {seed}");
    conformance::run(&OverEtcd(member), seed).await;
}

#[test]
fn readers_see_what_was_written() {
    let Some(member) = Member::start() else { return };
    model::run(&OverEtcd(member), 3, Length { rounds: 4, operations: 40 });
}
