//! What priority and fairness costs a GET of a user whom no exempt level takes, beside a server without it.

use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, config_map},
};

use super::{
    READERS, TURN, TURNS, VALUE_BYTES,
    load::{Load, get},
    process,
    report::{Report, Wanted},
};

/// GET with it on and off, in turns.
pub async fn measure(report: &mut Report) {
    let start =
        |flag: &'static str| TestServer::options().flag("--authorization-mode=AlwaysAllow").flag(flag);
    let fair = start("--enable-priority-and-fairness=true").start().await;
    let plain = start("--enable-priority-and-fairness=false").start().await;
    for server in [&fair, &plain] {
        let map = config_map("a", &"x".repeat(VALUE_BYTES));
        server.admin().post(CONFIG_MAPS, &map).await.expect(201);
    }
    let shape = get(&format!("{CONFIG_MAPS}/a")).by("Bearer tok-bob");
    let ours = Load::open(&fair, fair.address(), Protocol::Http1, READERS).await;
    let limit = Load::open(&plain, plain.address(), Protocol::Http1, READERS).await;
    let (mut measured, mut best) = (Vec::new(), Vec::new());
    let cpu = process::cpu_seconds(fair.pid());
    for turn in 0..=TURNS {
        let (a, b) = (ours.run(TURN, shape.clone()).await, limit.run(TURN, shape.clone()).await);
        // The first turn warms up.
        if turn > 0 {
            measured.push(a);
            best.push(b);
        }
    }
    let cpu = (process::cpu_seconds(fair.pid()) - cpu) / ours.answers() as f64;
    report.ratio("GET with fairness", "GET without", &measured, &best, cpu, Wanted::AtLeast(0.96));
}
