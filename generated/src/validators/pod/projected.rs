//! Volumes whose files come from the downward API or from several sources.
//!
//! Some errors about a file are reported at the volume, without the index.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule,
};

use super::env::{DownwardApi, field_selector, resource_selector};
use crate::core::v1::{
    ClusterTrustBundleProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource, KeyToPath,
    ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeProjection,
};

/// The shortest and the longest lifetime of a token, in seconds.
const TOKEN_SECONDS: (i64, i64) = (10 * 60, 1 << 32);

/// Each file has exactly one source: a field or a resource.
pub fn downward_api(value: &DownwardAPIVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    for file in &value.items {
        downward_api_file(file, path, cx);
    }
}

fn downward_api_file(file: &DownwardAPIVolumeFile, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("path");
    if file.path.is_empty() {
        cx.push(FieldError::required(&at, ""));
    }
    rule::format(&file.path, constraint::file_path, &at, cx);
    match (&file.field_ref, &file.resource_field_ref) {
        (Some(field), resource) => {
            field_selector(field, DownwardApi::Files, &path.field("fieldRef"), cx);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                cx.push(FieldError::invalid(path, "resource", detail));
            }
        }
        (None, Some(resource)) => {
            resource_selector(resource, DownwardApi::Files, &path.field("resourceFieldRef"), cx);
        }
        (None, None) => {
            cx.push(FieldError::required(path, "one of fieldRef and resourceFieldRef is required"));
        }
    }
    if let Some(mode) = &file.mode {
        file_mode(*mode, &path.field("mode"), cx);
    }
}

/// Permission bits of a file: from 0 to 0777.
fn file_mode(value: i32, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !(0..=0o777).contains(&value) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        cx.push(FieldError::invalid(path, &value, detail));
    }
}

/// Each source has one type, and the paths of files are unique.
pub fn projected(value: &ProjectedVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let sources = path.field("sources");
    let mut files = BTreeSet::new();
    for (index, source) in value.sources.iter().flatten().enumerate() {
        projection(source, path, &sources.index(index), &mut files, cx);
    }
}

fn projection<'v>(
    source: &'v VolumeProjection,
    volume: &Path<'_>,
    path: &Path<'_>,
    files: &mut BTreeSet<&'v str>,
    cx: &mut Validation<'_>,
) {
    let mut add = |file: &'v str, owner: &str, cx: &mut Validation<'_>| {
        if !file.is_empty() && !files.insert(file) {
            cx.push(FieldError::invalid(volume, owner, "conflicting duplicate paths"));
        }
    };
    let paths = |items: &'v [KeyToPath]| items.iter().map(|item| item.path.as_str());
    if let Some(secret) = &source.secret {
        for file in paths(&secret.items) {
            add(file, &secret.name, cx);
        }
    }
    if let Some(config_map) = &source.config_map {
        for file in paths(&config_map.items) {
            add(file, &config_map.name, cx);
        }
    }
    if let Some(downward) = &source.downward_api {
        let at = path.field("downwardAPI");
        for file in &downward.items {
            downward_api_file(file, &at, cx);
            add(&file.path, &file.path, cx);
        }
    }
    if let Some(token) = &source.service_account_token {
        token_file(token, volume, &path.field("serviceAccountToken"), cx);
        add(&token.path, &token.path, cx);
    }
    if let Some(bundle) = &source.cluster_trust_bundle {
        trust_bundle(bundle, &path.field("clusterTrustBundle"), cx);
        add(&bundle.path, &bundle.path, cx);
    }
    let given = [
        source.secret.is_some(),
        source.config_map.is_some(),
        source.downward_api.is_some(),
        source.service_account_token.is_some(),
        source.cluster_trust_bundle.is_some(),
    ];
    match given.into_iter().filter(|given| *given).count() {
        0 => cx.push(FieldError::required(path, "must specify a volume type")),
        1 => {}
        _ => cx.push(FieldError::forbidden(path, "may not specify more than 1 volume type")),
    }
}

fn token_file(
    token: &ServiceAccountTokenProjection,
    volume: &Path<'_>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (shortest, longest) = TOKEN_SECONDS;
    let detail = match token.expiration_seconds {
        Some(seconds) if seconds < shortest => "may not specify a duration less than 10 minutes",
        Some(seconds) if seconds > longest => "may not specify a duration larger than 2^32 seconds",
        _ => "",
    };
    if !detail.is_empty() {
        let at = path.field("expirationSeconds");
        cx.push(FieldError::invalid(&at, &token.expiration_seconds, detail));
    }
    if token.path.is_empty() {
        cx.push(FieldError::required(&volume.field("path"), ""));
    } else {
        rule::format(&token.path, constraint::file_path, &volume.field("path"), cx);
    }
}

fn trust_bundle(bundle: &ClusterTrustBundleProjection, path: &Path<'_>, cx: &mut Validation<'_>) {
    match (&bundle.name, &bundle.signer_name) {
        (Some(_), Some(_)) => {
            let detail = "only one of name and signerName may be used";
            cx.push(FieldError::invalid(path, "", detail));
        }
        (None, None) => {
            cx.push(FieldError::required(path, "either name or signerName must be specified"));
        }
        (Some(name), None) if name.is_empty() => {
            cx.push(FieldError::required(&path.field("name"), "must be a valid object name"));
        }
        (None, Some(signer)) if signer.is_empty() => {
            cx.push(FieldError::required(&path.field("signerName"), "must be a valid signer name"));
        }
        _ => {}
    }
    if bundle.name.is_some() && bundle.label_selector.is_some() {
        let detail = "labelSelector must be unset if name is specified";
        cx.push(FieldError::invalid(&path.field("labelSelector"), "", detail));
    }
    if bundle.path.is_empty() {
        cx.push(FieldError::required(&path.field("path"), ""));
    } else {
        rule::format(&bundle.path, constraint::file_path, &path.field("path"), cx);
    }
}
