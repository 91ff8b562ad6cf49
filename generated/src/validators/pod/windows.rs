//! Windows: host process containers, and fields that a pod of another operating system
//! cannot have.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{Container, EphemeralContainer, PodSecurityContext, PodSpec, SecurityContext};

const NOT_FOR_LINUX: &str = "windows options cannot be set for a linux pod";
const NOT_FOR_WINDOWS: &str = "cannot be set for a windows pod";

/// All containers are host process containers, or none. If all are, the pod uses the network of the host.
pub(super) fn host_process(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let of_pod = value.security_context.as_ref().and_then(|security| security.windows_options.as_ref());
    let of_pod = of_pod.and_then(|options| options.host_process);
    let (mut all, mut on_host) = (0, 0);
    each_container(value, |list, index, security| {
        all += 1;
        let own = security.and_then(|security| security.windows_options.as_ref()?.host_process);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let container = path.field(list);
            let security = container.index(index);
            let options = security.field("securityContext");
            let at = options.field("windowsOptions");
            let detail =
                format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            cx.push(FieldError::invalid(&at.field("hostProcess"), &own, &detail));
        }
        if own.or(of_pod) == Some(true) {
            on_host += 1;
        }
    });
    if on_host == 0 {
        return;
    }
    if on_host != all {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        cx.push(FieldError::invalid(path, "", detail));
    }
    if !value.host_network {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        cx.push(FieldError::invalid(&path.field("hostNetwork"), &false, detail));
    }
}

/// A pod with an operating system has no options of another system.
pub(super) fn operating_system(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let refused: fn(&SecurityContext) -> Vec<(&'static str, bool)> =
        match value.os.as_ref().map(|os| os.name.as_str()) {
            Some("linux") => |security| vec![("windowsOptions", security.windows_options.is_some())],
            Some("windows") => forbidden_in_windows_containers,
            _ => return,
        };
    let is_linux = value.os.as_ref().is_some_and(|os| os.name == "linux");
    let detail = if is_linux { NOT_FOR_LINUX } else { NOT_FOR_WINDOWS };
    let of_pod = if is_linux { forbidden_on_linux(value) } else { forbidden_on_windows(value) };
    for (parent, field, _) in of_pod.into_iter().filter(|(_, _, is_given)| *is_given) {
        let security = path.field(parent);
        let parent = if parent.is_empty() { path } else { &security };
        cx.push(FieldError::forbidden(&parent.field(field), detail));
    }
    each_container(value, |list, index, security| {
        for (field, _) in security.map(refused).into_iter().flatten().filter(|(_, is_given)| *is_given) {
            let containers = path.field(list);
            let container = containers.index(index);
            let security = container.field("securityContext");
            cx.push(FieldError::forbidden(&security.field(field), detail));
        }
    });
}

/// The parent of a field (empty: the spec itself), the name of the field, and whether it is given.
type Given = (&'static str, &'static str, bool);

const SECURITY: &str = "securityContext";

fn forbidden_on_linux(value: &PodSpec) -> Vec<Given> {
    let security = value.security_context.as_ref();
    vec![(SECURITY, "windowsOptions", security.is_some_and(|security| security.windows_options.is_some()))]
}

fn forbidden_on_windows(value: &PodSpec) -> Vec<Given> {
    let absent = PodSecurityContext::default();
    let security = value.security_context.as_ref().unwrap_or(&absent);
    vec![
        (SECURITY, "appArmorProfile", security.app_armor_profile.is_some()),
        (SECURITY, "seLinuxOptions", security.se_linux_options.is_some()),
        ("", "hostUsers", value.host_users.is_some()),
        ("", "hostPID", value.host_pid),
        ("", "hostIPC", value.host_ipc),
        (SECURITY, "seccompProfile", security.seccomp_profile.is_some()),
        (SECURITY, "fsGroup", security.fs_group.is_some()),
        (SECURITY, "fsGroupChangePolicy", security.fs_group_change_policy.is_some()),
        (SECURITY, "sysctls", !security.sysctls.is_empty()),
        ("", "shareProcessNamespace", value.share_process_namespace.is_some()),
        (SECURITY, "runAsUser", security.run_as_user.is_some()),
        (SECURITY, "runAsGroup", security.run_as_group.is_some()),
        (SECURITY, "supplementalGroups", !security.supplemental_groups.is_empty()),
        (SECURITY, "supplementalGroupsPolicy", security.supplemental_groups_policy.is_some()),
    ]
}

fn forbidden_in_windows_containers(security: &SecurityContext) -> Vec<(&'static str, bool)> {
    vec![
        ("appArmorProfile", security.app_armor_profile.is_some()),
        ("seLinuxOptions", security.se_linux_options.is_some()),
        ("seccompProfile", security.seccomp_profile.is_some()),
        ("capabilities", security.capabilities.is_some()),
        ("readOnlyRootFilesystem", security.read_only_root_filesystem.is_some()),
        ("privileged", security.privileged.is_some()),
        ("allowPrivilegeEscalation", security.allow_privilege_escalation.is_some()),
        ("procMount", security.proc_mount.is_some()),
        ("runAsUser", security.run_as_user.is_some()),
        ("runAsGroup", security.run_as_group.is_some()),
    ]
}

/// Calls `each` with the list, index and security context of each container, in the order of errors.
fn each_container<'s>(
    value: &'s PodSpec,
    mut each: impl FnMut(&'static str, usize, Option<&'s SecurityContext>),
) {
    let of = |container: &'s Container| container.security_context.as_ref();
    for (list, containers) in [("initContainers", &value.init_containers), ("containers", &value.containers)]
    {
        for (index, container) in containers.iter().enumerate() {
            each(list, index, of(container));
        }
    }
    let of = |container: &'s EphemeralContainer| container.security_context.as_ref();
    for (index, container) in value.ephemeral_containers.iter().enumerate() {
        each("ephemeralContainers", index, of(container));
    }
}
