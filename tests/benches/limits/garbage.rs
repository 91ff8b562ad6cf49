//! One owner with many dependents: how soon all are gone, and what other requests notice of it.

use std::time::{Duration, Instant};

use http::Method;
use orch_tests::objects::{config_map, name};
use serde_json::json;

use crate::{
    COLLECTION, MANY, load,
    report::{Report, Wanted},
    writing,
};

/// Deletes an owner in the foreground, and reads it until it is gone.
pub async fn measure(report: &mut Report) {
    let (server, writers, _) = writing().await;
    let admin = server.admin();
    let owner = admin.post(COLLECTION, &config_map("owner", "1")).await.expect(201);
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": name(&owner), "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": true,
    });
    let mut dependent = config_map("NAME", "1");
    dependent["metadata"]["ownerReferences"] = json!([reference]);
    writers.send(MANY, load::create(COLLECTION, &dependent.to_string())).await;
    let item = format!("{COLLECTION}/owner");
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"});
    let begun = Instant::now();
    admin.request(Method::DELETE, &item).json(&options).send().await.expect(200);
    let mut times = Vec::new();
    loop {
        let asked = Instant::now();
        let status = admin.get(&item).await.status;
        times.push(asked.elapsed());
        if status == 404 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    times.sort_unstable();
    let slow = times[times.len() * 99 / 100];
    report.time("100,000 dependents gone", begun.elapsed(), Wanted::AtMost(20_000.0));
    report.time("99% of GETs meanwhile", slow, Wanted::AtMost(5.0));
}
