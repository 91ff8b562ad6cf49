//! What the probes of this server check.

use futures_util::FutureExt;
use orch_config::ServingConfig;
use orch_controllers::stats::Monitor;
use orch_http::documents::health::{Checks, Hook, Probe};
use orch_storage::{Patrolled, Storage};
use tokio::sync::watch;

/// What these hooks stand for is done before anything listens: namespaces, roles, priority classes, the
/// server's own service, plugins, and the counts of objects. The reference also has
/// start-cluster-authentication-info-controller, for aggregated servers; this server has none.
const DONE_HOOKS: &[&str] = &[
    "start-system-namespaces-controller",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "bootstrap-controller",
    "start-apiserver-admission-initializer",
    "storage-object-count-tracker-hook",
];

/// The checks behind the probes. The names are those of the reference, which monitoring asks for one by one.
pub fn checks(
    config: &ServingConfig,
    storage: &Storage,
    told: &watch::Receiver<bool>,
    monitor: &Monitor,
) -> Checks {
    let checks = Checks::new(config.livez_grace_period);
    checks.register("log", Probe::ALL, || Ok(()));
    check_storage(&checks, storage);
    check_controllers_watch(&checks, monitor);
    check_data(&checks, storage);
    let told = told.clone();
    checks.register("shutdown", &[Probe::Ready], move || {
        if *told.borrow() { Err("the server is shutting down".to_owned()) } else { Ok(()) }
    });
    for hook in DONE_HOOKS {
        checks.register_hook(hook).finish();
    }
    check_controllers(&checks, monitor);
    checks
}

/// Whether the store answers.
fn check_storage(checks: &Checks, storage: &Storage) {
    for (name, probes) in [("etcd", Probe::ALL), ("etcd-readiness", &[Probe::Ready])] {
        let store = storage.clone();
        checks.register(name, probes, move || {
            // Where the answer takes a while, the next probe tells it.
            let now = store.barrier().now_or_never().and_then(Result::err);
            now.or_else(|| store.trouble()).map_or(Ok(()), |error| Err(error.to_string()))
        });
    }
}

/// Whether every controller watches.
fn check_controllers_watch(checks: &Checks, monitor: &Monitor) {
    let watching = monitor.clone();
    checks.register("informer-sync", &[Probe::Ready], move || match watching.not_watching().as_slice() {
        [] => Ok(()),
        names => Err(format!("{} controllers do not watch yet: {}", names.len(), names.join(", "))),
    });
}

/// Whether writes are taken, and what damage was found, as a remark.
///
/// Damage of some objects is no reason to keep requests for all others away. And a server that takes no
/// writes must not be restarted by a liveness probe: that would mend nothing.
fn check_data(checks: &Checks, storage: &Storage) {
    let (store, remarked) = (storage.clone(), storage.clone());
    checks.register_remarked(
        "data",
        &[Probe::Ready],
        move || {
            store.patrolled().stopped.map_or(Ok(()), |reason| Err(format!("no writes are taken: {reason}")))
        },
        move || remark(&remarked.patrolled()),
    );
}

/// Whether each controller runs, and whether what it does succeeds.
fn check_controllers(checks: &Checks, monitor: &Monitor) {
    for name in monitor.names() {
        let (health, remark) = (monitor.clone(), monitor.clone());
        checks.register_remarked(
            format!("controller/{name}"),
            &[Probe::Ready],
            move || health.health(name),
            // One that lags does its work later, which is no reason to keep requests away.
            move || remark.remark(name),
        );
    }
}

/// The checks of priority and fairness, where that is on. What the first two stand for is done before
/// anything listens: its objects are there, and requests are placed by them. The last one is to be finished
/// when seats begin to be lent.
pub fn of_fairness(checks: &Checks) -> Hook {
    let hook = |part: &str| checks.register_hook(&format!("priority-and-fairness-{part}"));
    for part in ["config-producer", "config-consumer"] {
        hook(part).finish();
    }
    hook("filter")
}

/// What was found in the database since the start, in words.
fn remark(found: &Patrolled) -> String {
    let Patrolled { rounds, rows, damaged_rows, unreadable, .. } = found;
    let so_far = format!("read through {rounds} times since the start, {rows} rows");
    if found.is_clean() {
        return format!("{so_far}, no damage found");
    }
    format!(
        "{so_far}; DAMAGED: {damaged_rows} rows, and {unreadable} places that cannot be read; see the log"
    )
}
