//! The `AppArmor` profiles of a new pod. Annotations name them for nodes of old releases, fields for others;
//! each is filled in from the other.

use orch_api::core::v1::{AppArmorProfile, Pod, SecurityContext};
use orch_runtime::vocabulary::Vocabulary;

const RUNTIME_DEFAULT: &str = "runtime/default";
const UNCONFINED: &str = "unconfined";
const LOCALHOST: &str = "localhost/";
const MAX_PROFILE_BYTES: usize = 4095;

/// As many bytes as all annotations of an object may have: with more, the pod is refused anyway.
const MAX_ADDED_BYTES: usize = 256 * 1024;

const DEPRECATED: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";

/// Fills in annotations and fields of all containers. Returns warnings of annotations without a field.
pub(super) fn complete(pod: &mut Pod, vocabulary: &Vocabulary) -> Vec<String> {
    let mut warnings = Vec::new();
    let Pod { metadata, spec, .. } = pod;
    if spec.os.as_ref().is_some_and(|os| os.name == "windows") {
        return warnings;
    }
    let of_pod = spec.security_context.as_ref().and_then(|security| security.app_armor_profile.clone());
    let mut added = 0;
    let prefix = prefix(vocabulary);
    let containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
    let containers = containers.map(|it| (&it.name, &mut it.security_context));
    let ephemeral = spec.ephemeral_containers.iter_mut().map(|it| (&it.name, &mut it.security_context));
    for (name, security) in containers.chain(ephemeral) {
        let own = security.as_ref().and_then(|security| security.app_armor_profile.as_ref());
        let key = format!("{prefix}{name}");
        let Some(annotation) = metadata.annotations.get(&key) else {
            if added <= MAX_ADDED_BYTES
                && let Some(text) = own.or(of_pod.as_ref()).and_then(annotation_of)
            {
                added += key.len() + text.len();
                metadata.annotations.insert(key, text);
            }
            continue;
        };
        let profile = profile_of(annotation);
        if own.is_some() || (profile.is_some() && profile == of_pod) {
            continue;
        }
        if let Some(profile) = profile {
            security.get_or_insert_default().app_armor_profile = Some(profile);
        }
        warnings.push(format!("metadata.annotations[{key}]: {DEPRECATED}"));
    }
    warnings
}

/// Whether the pod names a profile anywhere, in a field or an annotation.
pub(super) fn adds_items(pod: &Pod, vocabulary: &Vocabulary) -> bool {
    let Pod { metadata, spec, .. } = pod;
    let of_pod = spec.security_context.iter().map(|security| &security.app_armor_profile);
    let containers = spec.init_containers.iter().chain(&spec.containers).map(|it| &it.security_context);
    let ephemeral = spec.ephemeral_containers.iter().map(|it| &it.security_context);
    let names_profile = |it: &SecurityContext| it.app_armor_profile.is_some();
    let mut annotations = metadata.annotations.keys();
    let prefix = prefix(vocabulary);
    of_pod.flatten().next().is_some()
        || containers.chain(ephemeral).flatten().any(names_profile)
        || annotations.any(|key| key.starts_with(&prefix))
}

/// The prefix of annotation keys; the name of the container follows.
fn prefix(vocabulary: &Vocabulary) -> String {
    format!("container.apparmor.security.beta.{}/", vocabulary.label_domain)
}

/// The annotation that says what the field says; none for a field that is not valid.
fn annotation_of(profile: &AppArmorProfile) -> Option<String> {
    match profile.type_.as_str() {
        "Unconfined" => Some(UNCONFINED.to_owned()),
        "RuntimeDefault" => Some(RUNTIME_DEFAULT.to_owned()),
        "Localhost" => profile.localhost_profile.as_ref().map(|name| format!("{LOCALHOST}{name}")),
        _ => None,
    }
}

/// The field that says what the annotation says; none where it would not be valid.
fn profile_of(annotation: &str) -> Option<AppArmorProfile> {
    let without_name = |type_: &str| AppArmorProfile { type_: type_.to_owned(), localhost_profile: None };
    match annotation {
        UNCONFINED => Some(without_name("Unconfined")),
        RUNTIME_DEFAULT => Some(without_name("RuntimeDefault")),
        _ => {
            let name = annotation.strip_prefix(LOCALHOST)?;
            let is_valid = !name.is_empty() && name.trim() == name && name.len() <= MAX_PROFILE_BYTES;
            is_valid.then(|| AppArmorProfile {
                localhost_profile: Some(name.to_owned()),
                ..without_name("Localhost")
            })
        }
    }
}
