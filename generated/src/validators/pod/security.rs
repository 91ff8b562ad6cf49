//! Security contexts: settings that exclude or need each other.

use std::{collections::BTreeSet, sync::LazyLock};

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
    rule::Pattern,
};

use super::paths::path_below;
use crate::core::v1::{AppArmorProfile, PodSecurityContext, SeccompProfile, SecurityContext};

/// The maximum length of a sysctl name, in bytes.
const SYSCTL_NAME_MAX: usize = 253;
/// The profile type for profiles in a file of the node.
const LOCALHOST: &str = "Localhost";

static SYSCTL_NAME: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"));

/// Privileged containers and those with `CAP_SYS_ADMIN` cannot forbid privilege escalation.
pub fn security_context(value: &SecurityContext, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.allow_privilege_escalation != Some(false) {
        return;
    }
    if value.privileged == Some(true) {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
    }
    let added = value.capabilities.iter().flat_map(|capabilities| &capabilities.add);
    if added.into_iter().any(|capability| capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
    }
}

/// No sysctl is set twice.
pub fn pod_security_context(value: &PodSecurityContext, path: &Path<'_>, cx: &mut Validation<'_>) {
    let sysctls = path.field("sysctls");
    let mut seen = BTreeSet::new();
    for (index, sysctl) in value.sysctls.iter().enumerate() {
        if !seen.insert(&sysctl.name) {
            let at = sysctls.index(index);
            cx.push(FieldError::duplicate(&at.field("name"), &sysctl.name));
        }
    }
}

/// The name of a sysctl is valid.
pub fn sysctl_name(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.len() > SYSCTL_NAME_MAX || !SYSCTL_NAME.is_match(value) {
        let detail = "must have at most 253 characters and match regex \
                      ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
        cx.push(FieldError::invalid(path, value, detail));
    }
}

/// A profile of type `Localhost` has a path; others have none.
pub fn seccomp_profile(value: &SeccompProfile, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.type_.is_empty() {
        type_missing("type is required when seccompProfile is set", path, cx);
    }
    let at = path.field("localhostProfile");
    match (value.type_ == LOCALHOST, &value.localhost_profile) {
        (true, None) => {
            cx.push(FieldError::required(&at, "must be set when seccomp type is Localhost"));
        }
        (true, Some(profile)) => path_below(profile, &at, cx),
        (false, Some(profile)) => {
            let detail = "can only be set when seccomp type is Localhost";
            cx.push(FieldError::invalid(&at, profile, detail));
        }
        (false, None) => {}
    }
}

/// A profile of type `Localhost` has a name; others have none.
pub fn app_armor_profile(value: &AppArmorProfile, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.type_.is_empty() {
        return type_missing("type is required when appArmorProfile is set", path, cx);
    }
    let at = path.field("localhostProfile");
    match (value.type_ == LOCALHOST, &value.localhost_profile) {
        (true, None) => {
            cx.push(FieldError::required(&at, "must be set when AppArmor type is Localhost"));
        }
        (true, Some(profile)) => {
            if profile.trim() != profile {
                cx.push(FieldError::invalid(&at, profile, "must not be padded with whitespace"));
            } else if profile.is_empty() {
                cx.push(FieldError::required(&at, "must be set when AppArmor type is Localhost"));
            }
        }
        (false, Some(profile)) => {
            let detail = "can only be set when AppArmor type is Localhost";
            cx.push(FieldError::invalid(&at, profile, detail));
        }
        (false, None) => {}
    }
}

/// Replaces the error for a missing type by one with more detail.
fn type_missing(detail: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("type");
    cx.retract(&at);
    cx.push(FieldError::required(&at, detail));
}
