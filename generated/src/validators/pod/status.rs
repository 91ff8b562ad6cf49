//! Pod status: containers that cannot restart.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{ContainerStatus, Pod};

/// Containers that have ended do not run again unless the pod says so: Rust, because each container that runs
/// under the name of one that has ended counts.
pub fn ended_containers(new: &Pod, old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (spec, new, old) = (&old.spec, &new.status, &old.status);
    let status = path.field("status");
    let policy = spec.restart_policy.as_str();
    // From the end, so that the first of several equal names counts.
    let init = spec.init_containers.iter().rev();
    let policies: BTreeMap<&str, Option<&str>> =
        init.map(|container| (container.name.as_str(), container.restart_policy.as_deref())).collect();
    let is_sidecar = |name: &str| policies.get(name) == Some(&Some("Always"));
    let at = status.field("containerStatuses");
    no_restart(&new.container_statuses, &old.container_statuses, policy, &|_| false, &at, cx);
    let at = status.field("initContainerStatuses");
    no_restart(&new.init_container_statuses, &old.init_container_statuses, policy, &is_sidecar, &at, cx);
    let (new_ones, old_ones) = (&new.ephemeral_container_statuses, &old.ephemeral_container_statuses);
    let at = status.field("ephemeralContainerStatuses");
    no_restart(new_ones, old_ones, "Never", &|_| false, &at, cx);
}

/// One list of containers: Rust, because an error is told as often as the name runs.
fn no_restart(
    new: &[ContainerStatus],
    old: &[ContainerStatus],
    policy: &str,
    is_sidecar: &dyn Fn(&str) -> bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if policy == "Always" {
        return;
    }
    let mut running: BTreeMap<&str, usize> = BTreeMap::new();
    for new in new.iter().filter(|new| new.state.terminated.is_none()) {
        *running.entry(&new.name).or_default() += 1;
    }
    for (index, old) in old.iter().enumerate() {
        let Some(end) = &old.state.terminated else { continue };
        let may_restart = (end.exit_code != 0 && policy == "OnFailure") || is_sidecar(&old.name);
        let count = running.get(old.name.as_str()).copied().unwrap_or_default();
        for _ in 0..count {
            if may_restart || cx.is_full() {
                break;
            }
            let detail = "may not be transitioned to non-terminated state";
            cx.push(FieldError::forbidden(&path.index(index).field("state"), detail));
        }
    }
}
