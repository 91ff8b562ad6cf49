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

use crate::fairness::divert;

/// So long is counted.
const TIME: Duration = Duration::from_secs(8);

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
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = Vec::new();
    let answered = [("bob", numbers[0]), ("carol", numbers[1])].map(|(user, number)| {
        let answered = Arc::new(AtomicU32::new(0));
        for _ in 0..number {
            let client = server.user(user);
            let (answered, is_over) = (Arc::clone(&answered), Arc::clone(&is_over));
            clients.push(tokio::spawn(async move {
                while !is_over.load(Relaxed) {
                    let answer = client.request(Method::GET, CONFIG_MAPS).send().await;
                    match answer.status {
                        200 => drop(answered.fetch_add(1, Relaxed)),
                        429 => tokio::time::sleep(Duration::from_millis(200)).await,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            }));
        }
        answered
    });
    tokio::time::sleep(TIME / 4).await;
    let before = [0, 1].map(|flow| answered[flow].load(Relaxed));
    tokio::time::sleep(TIME).await;
    let counts = [0, 1].map(|flow| f64::from(answered[flow].load(Relaxed) - before[flow]));
    is_over.store(true, Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_share_a_level_whatever_their_number_of_clients() {
    let [many, few] = answers_to([200, 20]).await;
    assert!(many > 10.0 && few > 10.0, "{many} and {few}");
    // In one queue for all, it would be ten to one.
    assert!(few > 0.4 * many && many > 0.3 * few, "200 clients had {many} answers, 20 had {few}");
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_with_as_many_clients_have_as_many_answers() {
    let [one, other] = answers_to([200, 200]).await;
    assert!(one > 10.0 && other > 10.0, "{one} and {other}");
    assert!(one < 1.6 * other && other < 1.6 * one, "one flow had {one} answers, the other {other}");
}
