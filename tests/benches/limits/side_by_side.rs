//! GETs of one object from two servers in turns: what a feature costs.

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

/// A server with the feature, and one without it, each with its name. The caller is a user whom no exempt
/// level takes.
pub async fn gets(
    report: &mut Report,
    (what, server): (&str, &TestServer),
    (limit, other): (&str, &TestServer),
    wanted: Wanted,
) {
    for server in [server, other] {
        let map = config_map("a", &"x".repeat(VALUE_BYTES));
        server.admin().post(CONFIG_MAPS, &map).await.expect(201);
    }
    let shape = get(&format!("{CONFIG_MAPS}/a")).by("Bearer tok-bob");
    let ours = Load::open(server, server.address(), Protocol::Http1, READERS).await;
    let others = Load::open(other, other.address(), Protocol::Http1, READERS).await;
    let (mut measured, mut best) = (Vec::new(), Vec::new());
    let cpu = process::cpu_seconds(server.pid());
    for turn in 0..=TURNS {
        let (a, b) = (ours.run(TURN, shape.clone()).await, others.run(TURN, shape.clone()).await);
        // The first turn warms up.
        if turn > 0 {
            measured.push(a);
            best.push(b);
        }
    }
    let cpu = (process::cpu_seconds(server.pid()) - cpu) / ours.answers() as f64;
    report.ratio(what, limit, &measured, &best, cpu, wanted);
}
