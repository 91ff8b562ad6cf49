//! Annotations of pods that have a meaning: their values are valid and agree with the fields that replaced
//! them.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule,
    vocabulary::Vocabulary,
};

use crate::core::v1::{AppArmorProfile, Container, PodSpec, SeccompProfile, SecurityContext};

type Annotations = BTreeMap<String, String>;

/// The names of profiles in annotations.
const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
const UNCONFINED: &str = "unconfined";
const LOCALHOST: &str = "localhost/";

/// The annotation that marks a mirror pod, which a node runs by itself.
fn mirror_key(vocabulary: &Vocabulary) -> String {
    format!("{}/config.mirror", vocabulary.label_domain)
}

fn app_armor_prefix(vocabulary: &Vocabulary) -> String {
    format!("container.apparmor.security.beta.{}/", vocabulary.label_domain)
}

/// Known annotations of pods have valid values.
pub(super) fn annotations(value: &Annotations, spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_empty() {
        return;
    }
    let mirror = mirror_key(cx.vocabulary);
    if let Some(text) = value.get(&mirror).filter(|_| spec.node_name.is_empty()) {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        cx.push(FieldError::invalid(&path.key(&mirror), text, detail));
    }
    let cost = format!("controller.{}/pod-deletion-cost", cx.vocabulary.label_domain);
    if let Some(text) = value.get(&cost).filter(|text| !is_deletion_cost(text)) {
        cx.push(FieldError::invalid(&path.key(&cost), text, "must be a 32bit integer"));
    }
    seccomp_names(value, path, cx);
    let prefix = app_armor_prefix(cx.vocabulary);
    let names: BTreeSet<&str> = containers(spec).map(|(_, _, name, _)| name).collect();
    for (key, profile) in value {
        let Some(container) = key.strip_prefix(&prefix) else { continue };
        if !names.contains(container) {
            cx.push(FieldError::invalid(&path.key(key), container, "container not found"));
        }
        let is_known = matches!(profile.as_str(), "" | RUNTIME_DEFAULT | UNCONFINED);
        if !is_known && !profile.starts_with(LOCALHOST) {
            let detail = format!("invalid AppArmor profile name: {profile:?}");
            cx.push(FieldError::invalid(&path.key(key), profile, &detail));
        }
    }
}

/// Whether a text is a 32-bit number without a plus sign; zeros may lead only after a minus sign.
fn is_deletion_cost(text: &str) -> bool {
    let is_plain = match text.as_bytes() {
        [b'-', ..] | [b'0'] => true,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    is_plain && text.parse::<i32>().is_ok()
}

fn seccomp_names(value: &Annotations, path: &Path<'_>, cx: &mut Validation<'_>) {
    let domain = cx.vocabulary.label_domain;
    let (pod, container) = (
        format!("seccomp.security.alpha.{domain}/pod"),
        format!("container.seccomp.security.alpha.{domain}/"),
    );
    for (key, profile) in value.iter().filter(|(key, _)| **key == pod || key.starts_with(&container)) {
        match profile.strip_prefix(LOCALHOST) {
            Some(file) => rule::format(file, constraint::relative_path, &path.field(key), cx),
            None if matches!(profile.as_str(), RUNTIME_DEFAULT | DOCKER_DEFAULT | UNCONFINED) => {}
            None => {
                let detail = "must be a valid seccomp profile";
                cx.push(FieldError::invalid(&path.field(key), profile, detail));
            }
        }
    }
}

/// An annotation and a field that name a profile name the same one.
pub(super) fn matching_profiles(
    value: &Annotations,
    spec: &PodSpec,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if value.is_empty() {
        return;
    }
    let domain = cx.vocabulary.label_domain;
    let of_pod = spec.security_context.as_ref();
    let pod_key = format!("seccomp.security.alpha.{domain}/pod");
    let pod_seccomp = of_pod.and_then(|security| security.seccomp_profile.as_ref());
    matching(value.get(&pod_key), pod_seccomp.map(Profile::from), &path.field("securityContext"), cx);
    let is_windows = spec.os.as_ref().is_some_and(|os| os.name == "windows");
    for checks_app_armor in [false, true] {
        if checks_app_armor && is_windows {
            continue;
        }
        for (list, index, name, security) in containers(spec) {
            let list = path.field(list);
            let container = list.index(index);
            let at = container.field("securityContext");
            if checks_app_armor {
                let own = security.and_then(|security| security.app_armor_profile.as_ref());
                let profile = own.or_else(|| of_pod.and_then(|security| security.app_armor_profile.as_ref()));
                let key = format!("{}{name}", app_armor_prefix(cx.vocabulary));
                matching(value.get(&key), profile.map(Profile::from), &at, cx);
            } else {
                let profile = security.and_then(|security| security.seccomp_profile.as_ref());
                let key = format!("container.seccomp.security.alpha.{domain}/{name}");
                matching(value.get(&key), profile.map(Profile::from), &at, cx);
            }
        }
    }
}

/// A seccomp or `AppArmor` profile, as a field gives it.
struct Profile<'p> {
    system: &'static str,
    field: &'static str,
    type_: &'p str,
    file: Option<&'p str>,
}

impl<'p> From<&'p SeccompProfile> for Profile<'p> {
    fn from(profile: &'p SeccompProfile) -> Self {
        let file = profile.localhost_profile.as_deref();
        Profile { system: "seccomp", field: "seccompProfile", type_: &profile.type_, file }
    }
}

impl<'p> From<&'p AppArmorProfile> for Profile<'p> {
    fn from(profile: &'p AppArmorProfile) -> Self {
        let file = profile.localhost_profile.as_deref();
        Profile { system: "apparmor", field: "appArmorProfile", type_: &profile.type_, file }
    }
}

fn matching(
    annotation: Option<&String>,
    profile: Option<Profile<'_>>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (Some(annotation), Some(profile)) = (annotation, profile) else { return };
    let (is_type, is_file) = match profile.type_ {
        "Unconfined" => (annotation == UNCONFINED, true),
        "RuntimeDefault" => {
            let is_old = profile.system == "seccomp" && annotation == DOCKER_DEFAULT;
            (annotation == RUNTIME_DEFAULT || is_old, true)
        }
        "Localhost" => {
            let file = annotation.strip_prefix(LOCALHOST);
            (file.is_some(), file == profile.file)
        }
        _ => return,
    };
    let (field, what) = match (is_type, is_file) {
        (false, _) => ("type", "type"),
        (true, false) => ("localhostProfile", "profile"),
        (true, true) => return,
    };
    let at = path.field(profile.field);
    let detail = format!("{} {what} in annotation and field must match", profile.system);
    cx.push(FieldError::forbidden(&at.field(field), &detail));
}

/// An update does not change the mirror annotation or annotations about `AppArmor`.
pub(super) fn annotations_update(
    new: &Annotations,
    old: &Annotations,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (prefix, mirror) = (app_armor_prefix(cx.vocabulary), mirror_key(cx.vocabulary));
    let mut refuse = |key: &str, what: &str| {
        if key.starts_with(&prefix) {
            cx.push(FieldError::forbidden(&path.key(key), &format!("may not {what} AppArmor annotations")));
        } else if key == mirror {
            let detail = format!("may not {what} mirror pod annotation");
            cx.push(FieldError::forbidden(&path.key(key), &detail));
        }
    };
    for (key, _) in old.iter().filter(|(key, value)| new.get(*key) != Some(*value)) {
        refuse(key, "remove or update");
    }
    for key in new.keys().filter(|key| !old.contains_key(*key)) {
        refuse(key, "add");
    }
}

/// All containers: list, index, name and security context.
fn containers(spec: &PodSpec) -> impl Iterator<Item = Listed<'_>> {
    let ephemeral = spec.ephemeral_containers.iter().enumerate();
    let ephemeral = ephemeral
        .map(|(index, it)| ("ephemeralContainers", index, it.name.as_str(), it.security_context.as_ref()));
    listed("initContainers", &spec.init_containers)
        .chain(listed("containers", &spec.containers))
        .chain(ephemeral)
}

fn listed<'s>(list: &'static str, containers: &'s [Container]) -> impl Iterator<Item = Listed<'s>> {
    let all = containers.iter().enumerate();
    all.map(move |(index, it)| (list, index, it.name.as_str(), it.security_context.as_ref()))
}

type Listed<'s> = (&'static str, usize, &'s str, Option<&'s SecurityContext>);

#[cfg(test)]
mod tests {
    use super::is_deletion_cost;

    #[test]
    fn costs_are_plain_numbers() {
        for text in ["0", "5", "-5", "-05", "2147483647"] {
            assert!(is_deletion_cost(text), "{text}");
        }
        for text in ["", "+5", "05", "x", "5x", "2147483648", "-"] {
            assert!(!is_deletion_cost(text), "{text}");
        }
    }
}
