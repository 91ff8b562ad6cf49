//! Profiles that annotations and fields name: they agree.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{
    AppArmorProfile, Container, Pod, PodSpec, PodTemplateSpec, SeccompProfile, SecurityContext,
};

type Annotations = BTreeMap<String, String>;

/// The names of profiles in annotations.
const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
const UNCONFINED: &str = "unconfined";
const LOCALHOST: &str = "localhost/";

/// Annotations and fields of a pod name the same profiles.
pub fn profiles_of_pod(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    matching_profiles(&value.metadata.annotations, &value.spec, &path.field("spec"), cx);
}

/// Annotations and fields of a template name the same profiles.
pub fn profiles_of_template(value: &PodTemplateSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    matching_profiles(&value.metadata.annotations, &value.spec, &path.field("spec"), cx);
}

/// An annotation and a field that name a profile name the same one: Rust, because the name of a container
/// makes the key, and two kinds of profiles are compared.
fn matching_profiles(value: &Annotations, spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
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
                let key = format!("container.apparmor.security.beta.{domain}/{name}");
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

/// One annotation and one field: Rust, because an annotation has the type and the file in one text.
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
