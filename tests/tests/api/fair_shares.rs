//! Who gets how much of a level for which many clients compete.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::fairness::divert;

/// So many answers are counted that chance matters little. A busy machine gives fewer in a second, so they
/// are not counted by time.
const ANSWERS: u32 = 400;

/// The answers to two flows of one level, of so many clients that ask without a pause.
async fn answers_to(numbers: [usize; 2]) -> [f64; 2] {
    // Every level has one seat: with as many as there are processors, nobody would wait for one.
    let options = TestServer::options().flag("--authorization-mode=AlwaysAllow");
    let options = options.flag("--max-requests-inflight=1").flag("--max-mutating-requests-inflight=1");
    let server = options.start().await;
    let admin = server.admin();
    let value = "x".repeat(4096);
    for index in 0..60 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), &value)).await.expect(201);
    }
    let queuing = json!({"queues": 64, "handSize": 6, "queueLengthLimit": 50});
    divert(&admin, 1, &json!({"type": "Queue", "queuing": queuing})).await;
    let (is_over, asking) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let mut clients = Vec::new();
    let answered = [("bob", numbers[0]), ("carol", numbers[1])].map(|(user, number)| {
        let answered = Arc::new(AtomicU32::new(0));
        for _ in 0..number {
            let client = server.user(user);
            let (answered, is_over) = (Arc::clone(&answered), Arc::clone(&is_over));
            let asking = Arc::clone(&asking);
            clients.push(tokio::spawn(async move {
                let mut is_first = true;
                while !is_over.load(Relaxed) {
                    let request = client.request(Method::GET, CONFIG_MAPS).patience(Duration::from_mins(2));
                    let answer = request.send().await;
                    match answer.status {
                        200 => {
                            answered.fetch_add(1, Relaxed);
                            asking.fetch_add(u32::from(is_first), Relaxed);
                            is_first = false;
                        }
                        429 => tokio::time::sleep(Duration::from_millis(200)).await,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            }));
        }
        answered
    });
    let now = || [0, 1].map(|flow| answered[flow].load(Relaxed));
    let until = async |is_so: &dyn Fn() -> bool| {
        while !is_so() && !clients.iter().any(JoinHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Connecting takes some of them longer than others.
    until(&|| asking.load(Relaxed) as usize == numbers.iter().sum::<usize>()).await;
    let before = now();
    until(&|| now().iter().sum::<u32>() >= before.iter().sum::<u32>() + ANSWERS).await;
    let after = now();
    let counts = [0, 1].map(|flow| f64::from(after[flow] - before[flow]));
    is_over.store(true, Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_share_a_level_whatever_their_number_of_clients() {
    let [many, few] = answers_to([200, 20]).await;
    // In one queue for all, it would be ten to one. On a busy machine few clients do not always ask for all
    // of their half.
    assert!(few > 0.25 * many && many > 0.3 * few, "200 clients had {many} answers, 20 had {few}");
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_with_as_many_clients_have_as_many_answers() {
    let [one, other] = answers_to([200, 200]).await;
    assert!(one < 1.6 * other && other < 1.6 * one, "one flow had {one} answers, the other {other}");
}
