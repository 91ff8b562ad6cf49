//! Instructions of the server, counted by callgrind: other load on the machine does not change them.
//!
//! A count is the difference of two runs, so that what happens once drops out. Encryption is included, by
//! code for machines without vector instructions, which is all that valgrind knows.

use std::{process::Command, time::Instant};

use orch_tests::objects::{CONFIG_MAPS, config_map};

use super::{
    VALUE_BYTES,
    counted::Counted,
    load,
    report::{Report, Wanted},
    watches, writes,
};

/// Watches of the two runs, and writes that they hear.
const WATCHES: [usize; 2] = [10, 60];
const WRITES: u64 = 64;

/// Instructions of a GET, with and without priority and fairness, of a CREATE, and of the delivery of one
/// event.
pub async fn count(report: &mut Report) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("instructions: SKIPPED, there is no valgrind");
        return;
    }
    let counted = Counted::start().await;
    let item = format!("{CONFIG_MAPS}/item");
    counted.server.admin().post(CONFIG_MAPS, &config_map("item", &"x".repeat(VALUE_BYTES))).await.expect(201);
    let each = counted.each(load::get(&item)).await;
    report.count("GET of 1 KiB, instructions", each, Wanted::Unlimited);
    writes::count(report, &counted).await;
    let [with, without] = [read("true").await, read("false").await];
    // What is wanted is a rate, to which the kernel's part belongs: see `fairness`.
    report.count("GET without fairness, part of one with it", without / with, Wanted::Unlimited);
    let [few, many] = [delivered(WATCHES[0]).await, delivered(WATCHES[1]).await];
    let events = (WATCHES[1] - WATCHES[0]) as u64 * WRITES;
    report.count(
        "delivery of an event, instructions",
        (many - few) as f64 / events as f64,
        Wanted::Unlimited,
    );
}

/// Instructions of a GET of a user whom no exempt level takes, with and without priority and fairness.
async fn read(is_fair: &str) -> f64 {
    let flag = format!("--enable-priority-and-fairness={is_fair}");
    let counted = Counted::start_with(&["--authorization-mode=AlwaysAllow", &flag]).await;
    let map = config_map("item", &"x".repeat(VALUE_BYTES));
    counted.server.admin().post(CONFIG_MAPS, &map).await.expect(201);
    counted.each(load::get(&format!("{CONFIG_MAPS}/item")).by("Bearer tok-bob")).await
}

/// Instructions while some watches hear the writes.
async fn delivered(watches: usize) -> u64 {
    let counted = Counted::start().await;
    let server = &counted.server;
    watches::prepare(server).await;
    let epoch = Instant::now();
    let heard = watches::watch(server, watches, epoch).await;
    let warm = (watches::write(server, 1000, 16, epoch).await.len() * watches) as u64;
    assert!(heard.wait(warm).await, "events are missing");
    let before = counted.instructions();
    let events = (watches::write(server, 1000, WRITES, epoch).await.len() * watches) as u64;
    assert!(heard.wait(warm + events).await, "events are missing");
    counted.instructions() - before
}
