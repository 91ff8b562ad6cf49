//! Volumes whose files come from several sources.

use std::collections::BTreeSet;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{KeyToPath, ProjectedVolumeSource, VolumeProjection};

/// The paths of files are unique: Rust, because an error shows the owner of the file. Those of tokens draw a
/// warning only, as in the reference.
pub fn projected(value: &ProjectedVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut files = BTreeSet::new();
    for source in value.sources.iter().flatten() {
        projection(source, path, &mut files, cx);
    }
}

/// The files of one source: Rust, because the error shows who owns the file, and not the file.
fn projection<'v>(
    source: &'v VolumeProjection,
    volume: &Path<'_>,
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
        for file in &downward.items {
            add(&file.path, &file.path, cx);
        }
    }
    if let Some(bundle) = &source.cluster_trust_bundle {
        add(&bundle.path, &bundle.path, cx);
    }
}
