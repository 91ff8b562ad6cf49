//! A namespace with many objects: how soon it is gone.

use std::time::{Duration, Instant};

use orch_tests::objects::{NAMESPACES, config_map};

use crate::{
    COLLECTION, load,
    report::{Report, Wanted},
    writing,
};

/// So many objects are in it.
const OBJECTS: usize = 50_000;

/// Deletes the namespace, and reads it until it is gone.
pub async fn measure(report: &mut Report) {
    let (server, writers, _) = writing().await;
    writers.send(OBJECTS, load::create(COLLECTION, &config_map("NAME", "1").to_string())).await;
    let admin = server.admin();
    let item = format!("{NAMESPACES}/bench");
    let begun = Instant::now();
    admin.delete(&item).await.expect(200);
    while admin.get(&item).await.status != 404 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    report.time("a namespace of 50,000 objects gone", begun.elapsed(), Wanted::AtMost(10_000.0));
}
