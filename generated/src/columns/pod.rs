//! Pods: a summary over all containers.

use std::collections::BTreeSet;

use orch_runtime::{Tree, age::age_text, resource_def::CellContext, scalar::Time};

use super::text;

/// `1/2`: the number of ready containers, and of all containers.
pub fn pod_ready(pod: &Tree, _: &CellContext<'_>) -> Tree {
    let summary = Summary::of(pod);
    format!("{}/{}", summary.ready, summary.total).into()
}

/// The phase, the reason why a container waits or ended, or `Terminating`.
pub fn pod_status(pod: &Tree, _: &CellContext<'_>) -> Tree {
    Summary::of(pod).status.into()
}

/// `3 (5m ago)`: the number of restarts, and the age of the last one.
pub fn pod_restarts(pod: &Tree, context: &CellContext<'_>) -> Tree {
    let Summary { restarts, .. } = Summary::of(pod);
    match restarts.last {
        Some(last) if restarts.count > 0 => {
            let seconds = context.now.as_unix_seconds() - last.as_unix_seconds();
            format!("{} ({} ago)", restarts.count, age_text(seconds)).into()
        }
        _ => restarts.count.to_string().into(),
    }
}

/// The pod's first address.
pub fn pod_ip(pod: &Tree, _: &CellContext<'_>) -> Tree {
    let first = text(pod, "/status/podIPs/0/ip");
    if first.is_empty() { text(pod, "/status/podIP") } else { first }.into()
}

/// `1/2`: the number of readiness gates whose condition holds, and of all gates; null if there are none.
pub fn pod_readiness_gates(pod: &Tree, _: &CellContext<'_>) -> Tree {
    let gates = list(pod, "/spec/readinessGates");
    let is_open = |gate: &&Tree| has_condition(pod, text(gate, "/conditionType"));
    match gates.len() {
        0 => Tree::Null,
        total => format!("{}/{total}", gates.iter().filter(is_open).count()).into(),
    }
}

/// What the columns show about a pod.
struct Summary {
    ready: usize,
    total: usize,
    status: String,
    restarts: Restarts,
}

#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Time>,
}

impl Restarts {
    fn add(&mut self, status: &Tree) {
        self.count += status.get("restartCount").and_then(Tree::as_i64).unwrap_or_default();
        let ended = text(status, "/lastState/terminated/finishedAt").parse::<Time>().ok();
        self.last = self.last.max(ended);
    }
}

impl Summary {
    fn of(pod: &Tree) -> Self {
        let mut summary = Summary {
            ready: 0,
            total: list(pod, "/spec/containers").len()
                + list(pod, "/spec/initContainers").iter().filter(|it| is_sidecar(it)).count(),
            status: phase(pod),
            restarts: Restarts::default(),
        };
        let (is_initializing, sidecar_restarts) = summary.init_containers(pod);
        if !is_initializing || has_condition(pod, "Initialized") {
            summary.restarts = sidecar_restarts;
            summary.containers(pod);
        }
        let is_deleted = !text(pod, "/metadata/deletionTimestamp").is_empty();
        if is_deleted && text(pod, "/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.status);
        } else if is_deleted && !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut summary.status);
        }
        summary
    }

    /// Reads the init containers up to the first one that has not finished. Returns whether there is such a
    /// container, and the restarts of the sidecars before it and of itself.
    fn init_containers(&mut self, pod: &Tree) -> (bool, Restarts) {
        let specs = list(pod, "/spec/initContainers");
        let sidecars: BTreeSet<&str> =
            specs.iter().filter(|spec| is_sidecar(spec)).map(|spec| text(spec, "/name")).collect();
        let mut sidecar_restarts = Restarts::default();
        for (index, status) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
            self.restarts.add(status);
            let is_sidecar = sidecars.contains(text(status, "/name"));
            if is_sidecar {
                sidecar_restarts.add(status);
            }
            let exit_code = status.pointer("/state/terminated/exitCode").and_then(Tree::as_i64);
            let is_started = status.get("started").and_then(Tree::as_bool) == Some(true);
            if exit_code == Some(0) {
                continue;
            }
            if is_sidecar && is_started {
                self.ready += usize::from(is_ready(status));
                continue;
            }
            let waiting = text(status, "/state/waiting/reason");
            self.status = if let Some(reason) = termination(status) {
                format!("Init:{reason}")
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", specs.len())
            };
            return (true, sidecar_restarts);
        }
        (false, sidecar_restarts)
    }

    fn containers(&mut self, pod: &Tree) {
        let mut is_running = false;
        for status in list(pod, "/status/containerStatuses").iter().rev() {
            self.restarts.add(status);
            let waiting = text(status, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.status);
            } else if let Some(reason) = termination(status) {
                self.status = reason;
            } else if is_ready(status) && status.pointer("/state/running").is_some() {
                is_running = true;
                self.ready += 1;
            }
        }
        if self.status == "Completed" && is_running {
            let is_ready = has_condition(pod, "Ready");
            if is_ready { "Running" } else { "NotReady" }.clone_into(&mut self.status);
        }
    }
}

fn phase(pod: &Tree) -> String {
    let gated = |it: &Tree| text(it, "/type") == "PodScheduled" && text(it, "/reason") == "SchedulingGated";
    if list(pod, "/status/conditions").iter().any(gated) {
        return "SchedulingGated".to_owned();
    }
    let reason = text(pod, "/status/reason");
    if reason.is_empty() { text(pod, "/status/phase") } else { reason }.to_owned()
}

/// Why a container terminated; none if it has not.
fn termination(status: &Tree) -> Option<String> {
    let terminated = status.pointer("/state/terminated").filter(|state| !state.is_null())?;
    let reason = text(terminated, "/reason");
    if !reason.is_empty() {
        return Some(reason.to_owned());
    }
    let number = |name: &str| terminated.get(name).and_then(Tree::as_i64).unwrap_or_default();
    Some(match number("signal") {
        0 => format!("ExitCode:{}", number("exitCode")),
        signal => format!("Signal:{signal}"),
    })
}

/// Whether an init container is a sidecar, which keeps running beside the main containers.
fn is_sidecar(container: &Tree) -> bool {
    text(container, "/restartPolicy") == "Always"
}

fn is_ready(status: &Tree) -> bool {
    status.get("ready").and_then(Tree::as_bool) == Some(true)
}

fn has_condition(pod: &Tree, condition: &str) -> bool {
    let holds = |it: &Tree| text(it, "/type") == condition && text(it, "/status") == "True";
    list(pod, "/status/conditions").iter().any(holds)
}

fn list<'t>(tree: &'t Tree, pointer: &str) -> &'t [Tree] {
    tree.pointer(pointer).and_then(Tree::as_array).map_or(&[], Vec::as_slice)
}
