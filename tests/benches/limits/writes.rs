//! Instructions of writes: what one costs by itself, on one connection, of a small object and of a large one.
//!
//! Field ownership is told from the rest by replacing an object whose tracking was cleared: such an object is
//! not tracked again, so all that reading, comparing, writing and storing of its entries costs is missing.

use http::Method;
use orch_tests::objects::{CONFIG_MAPS, config_map};
use serde_json::{Value, json};

use super::{
    VALUE_BYTES,
    counted::Counted,
    daemon_set::daemon_set,
    load,
    ownership::Work,
    report::{Report, Wanted},
};

const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";

/// What an apply may cost, in replacements of the same object.
const APPLY: f64 = 3.0;

/// The part of a write that field ownership may take.
const OWNERSHIP: f64 = 0.3;

/// CREATE, PUT and apply of each kind, and what follows from them.
pub async fn count(report: &mut Report, counted: &Counted) {
    let mut small = config_map("NAME", &"x".repeat(VALUE_BYTES));
    small["data"]["turn"] = json!("NAME");
    kind(report, counted, "1 KiB", CONFIG_MAPS, &small, Wanted::Unlimited).await;
    let [create, apply] =
        kind(report, counted, "a DaemonSet", DAEMON_SETS, &daemon_set(), Wanted::AtMost(APPLY)).await;
    let owned = Work::Create.instructions() - Work::CreateUnowned.instructions();
    let wanted = Wanted::AtMost(OWNERSHIP);
    report.part("field ownership, a DaemonSet", owned / create, "the CREATE", wanted);
    let merged = Work::Apply.instructions();
    report.part("merging and ownership, a DaemonSet", merged / apply, "the apply", wanted);
}

/// Instructions of a CREATE and of an apply.
async fn kind(
    report: &mut Report,
    counted: &Counted,
    what: &str,
    collection: &str,
    object: &Value,
    ratio: Wanted,
) -> [f64; 2] {
    let create = counted.each(load::create(collection, &object.to_string())).await;
    report.count(&format!("CREATE of {what}, instructions"), create, Wanted::Unlimited);

    let (item, template) = prepared(counted, collection, object, "replaced").await;
    let put = counted.each(load::replace(&item, &template)).await;
    report.count(&format!("PUT of {what}, instructions"), put, Wanted::Unlimited);

    let (item, template) = prepared(counted, collection, object, "untracked").await;
    let clear = json!({"metadata": {"managedFields": []}});
    counted.server.admin().merge(&item, &clear).await.expect(200);
    let untracked = counted.each(load::replace(&item, &template)).await;
    let share = (put - untracked) / put;
    report.part(&format!("field ownership, {what}"), share, "the PUT", Wanted::AtMost(OWNERSHIP));

    let (item, template) = applied(counted, collection, object).await;
    let apply = counted.each(load::apply(&item, &template)).await;
    report.count(&format!("apply of {what}, instructions"), apply, Wanted::Unlimited);
    report.part(&format!("apply of {what}"), apply / put, "the PUT", ratio);
    [create, apply]
}

/// Creates an object, whose status another manager writes where it has one. Its path, and what is written to
/// it.
async fn prepared(counted: &Counted, collection: &str, object: &Value, name: &str) -> (String, String) {
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    let item = format!("{collection}/{name}");
    counted.server.admin().post(collection, &object).await.expect(201);
    report_status(counted, collection, &item).await;
    (item, object.to_string())
}

/// The same, made by apply.
async fn applied(counted: &Counted, collection: &str, object: &Value) -> (String, String) {
    let mut object = object.clone();
    object["metadata"]["name"] = json!("applied");
    let item = format!("{collection}/applied");
    let path = format!("{item}?fieldManager=bench");
    let admin = counted.server.admin();
    let request = admin.request(Method::PATCH, &path);
    request.body("application/apply-patch+yaml", object.to_string()).send().await.expect(201);
    report_status(counted, collection, &item).await;
    (path, object.to_string())
}

async fn report_status(counted: &Counted, collection: &str, item: &str) {
    if collection != DAEMON_SETS {
        return;
    }
    let numbers = json!({"currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberAvailable": 3,
        "numberMisscheduled": 0, "numberReady": 3, "observedGeneration": 1, "updatedNumberScheduled": 3});
    let path = format!("{item}/status?fieldManager=controller");
    counted.server.admin().merge(&path, &json!({"status": numbers})).await.expect(200);
}
