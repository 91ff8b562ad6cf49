//! Pods: one look at all containers, as people expect it in lists.

use orch_runtime::{Tree, age::age_text, resource_def::CellContext, scalar::Time};

use super::text;

/// `1/2`: how many containers are ready, of how many.
pub fn pod_ready(pod: &Tree, _: &CellContext<'_>) -> Tree {
    let look = Look::at(pod);
    format!("{}/{}", look.ready, look.total).into()
}

/// The phase, or what is the matter with a container, or that the pod is going.
pub fn pod_status(pod: &Tree, _: &CellContext<'_>) -> Tree {
    Look::at(pod).status.into()
}

/// `3 (5m ago)`: how often containers were restarted, and when last.
pub fn pod_restarts(pod: &Tree, context: &CellContext<'_>) -> Tree {
    let Look { restarts, .. } = Look::at(pod);
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

/// `1/2`: how many readiness gates are open; nothing where there are none.
pub fn pod_readiness_gates(pod: &Tree, _: &CellContext<'_>) -> Tree {
    let gates = list(pod, "/spec/readinessGates");
    let is_open = |gate: &&Tree| has_condition(pod, text(gate, "/conditionType"));
    match gates.len() {
        0 => Tree::Null,
        total => format!("{}/{total}", gates.iter().filter(is_open).count()).into(),
    }
}

/// What a list says about a pod.
struct Look {
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

impl Look {
    fn at(pod: &Tree) -> Self {
        let mut look = Look {
            ready: 0,
            total: list(pod, "/spec/containers").len()
                + list(pod, "/spec/initContainers").iter().filter(|it| stays(it)).count(),
            status: phase(pod),
            restarts: Restarts::default(),
        };
        let (is_initializing, of_staying) = look.init_containers(pod);
        if !is_initializing || has_condition(pod, "Initialized") {
            look.restarts = of_staying;
            look.containers(pod);
        }
        let is_going = !text(pod, "/metadata/deletionTimestamp").is_empty();
        if is_going && text(pod, "/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut look.status);
        } else if is_going && !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut look.status);
        }
        look
    }

    /// Looks up to the first init container that is not done; returns whether there is one, and the restarts of those
    /// that stay.
    fn init_containers(&mut self, pod: &Tree) -> (bool, Restarts) {
        let specs = list(pod, "/spec/initContainers");
        let mut of_staying = Restarts::default();
        for (index, status) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
            self.restarts.add(status);
            let stays = specs.iter().any(|spec| spec.get("name") == status.get("name") && stays(spec));
            if stays {
                of_staying.add(status);
            }
            let exit_code = status.pointer("/state/terminated/exitCode").and_then(Tree::as_i64);
            let is_started = status.get("started").and_then(Tree::as_bool) == Some(true);
            if exit_code == Some(0) {
                continue;
            }
            if stays && is_started {
                self.ready += usize::from(is_ready(status));
                continue;
            }
            let waiting = text(status, "/state/waiting/reason");
            self.status = if let Some(reason) = end(status) {
                format!("Init:{reason}")
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", specs.len())
            };
            return (true, of_staying);
        }
        (false, of_staying)
    }

    fn containers(&mut self, pod: &Tree) {
        let mut is_running = false;
        for status in list(pod, "/status/containerStatuses").iter().rev() {
            self.restarts.add(status);
            let waiting = text(status, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.status);
            } else if let Some(reason) = end(status) {
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

/// How a container ended, if it did.
fn end(status: &Tree) -> Option<String> {
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

/// Whether an init container keeps running beside the others.
fn stays(container: &Tree) -> bool {
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
