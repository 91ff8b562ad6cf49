//! Warnings for files with overlapping paths.

use std::{collections::BTreeSet, fmt};

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// How many files of a pod are compared with the others of their volume. Each is compared with all before it,
/// and a list of sources is compared again for each source.
const MAX_COMPARED: usize = 4_000;

/// Warns of two files in a volume with the same path, or with one path below the other: Rust, because no
/// expression compares paths.
pub fn overlapping_files(volumes: &[Volume], _path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut left = MAX_COMPARED;
    let mut warn_of_overlapping_paths =
        |paths: &[&str], what: fmt::Arguments<'_>, cx: &mut Validation<'_>| {
            let compared = &paths[..paths.len().min(left)];
            left -= compared.len();
            overlapping_paths(compared, what, cx);
        };
    for volume in volumes {
        let name = volume.name.shown();
        if let Some(source) = &volume.config_map {
            let source_name = source.name.shown();
            let what = format_args!("volume {name} (ConfigMap {source_name})");
            warn_of_overlapping_paths(&paths(&source.items), what, cx);
        }
        if let Some(source) = &volume.secret {
            let source_name = source.secret_name.shown();
            let what = format_args!("volume {name} (Secret {source_name})");
            warn_of_overlapping_paths(&paths(&source.items), what, cx);
        }
        if let Some(source) = &volume.downward_api {
            warn_of_overlapping_paths(
                &file_paths(&source.items),
                format_args!("volume {name} (DownwardAPI)"),
                cx,
            );
        }
        let sources = volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten());
        let mut all = BTreeSet::new();
        for source in sources {
            let (paths, what) = projection(source);
            // The name of the volume may be long, and is written only where there is a warning.
            let what = format_args!("volume {name} (Projected {what})");
            warn_of_overlapping_paths(&paths, what, cx);
            if all.len() > MAX_COMPARED {
                break;
            }
            let together: BTreeSet<&str> = paths.iter().chain(&all).copied().collect();
            let repeated = paths.iter().filter(|path| all.contains(*path)).copied();
            let mut together: Vec<&str> = together.into_iter().chain(repeated).collect();
            together.sort_unstable();
            warn_of_overlapping_paths(&together, what, cx);
            all.extend(paths);
        }
    }
}

/// The paths of the files of a projected source, and the name of the source in warnings.
fn projection(source: &VolumeProjection) -> (Vec<&str>, String) {
    if let Some(source) = &source.config_map {
        (paths(&source.items), format!("ConfigMap {}", source.name.shown()))
    } else if let Some(source) = &source.secret {
        (paths(&source.items), format!("Secret {}", source.name.shown()))
    } else if let Some(source) = &source.downward_api {
        (file_paths(&source.items), "DownwardAPI".to_owned())
    } else if let Some(source) = &source.service_account_token {
        (vec![&source.path], "ServiceAccountToken".to_owned())
    } else if let Some(source) = &source.cluster_trust_bundle {
        let name = source.name.as_ref().or(source.signer_name.as_ref());
        let name = name.map(String::as_str).unwrap_or_default();
        (vec![&source.path], format!("ClusterTrustBundle {}", name.shown()))
    } else {
        (Vec::new(), String::new())
    }
}

fn paths(items: &[KeyToPath]) -> Vec<&str> {
    items.iter().map(|item| item.path.as_str()).collect()
}

fn file_paths(items: &[DownwardAPIVolumeFile]) -> Vec<&str> {
    items.iter().map(|item| item.path.as_str()).collect()
}

/// The paths of one source: Rust, because each is compared with all before it, up to a number of them.
fn overlapping_paths(paths: &[&str], what: fmt::Arguments<'_>, cx: &mut Validation<'_>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for path in paths.iter().map(|path| path.trim_end_matches('/')) {
        let hides = |other: &&&str| {
            // Neither has a slash at its end.
            let is_below = |one: &str, other: &str| one.starts_with(other);
            !path.is_empty() && !other.is_empty() && (is_below(other, path) || is_below(path, other))
        };
        if let Some(other) = seen.iter().find(hides) {
            if cx.is_full_of_warnings() {
                return;
            }
            let text = format!("{what}: overlapping paths: {} with {}", path.shown(), other.shown());
            cx.warn(&Path::ROOT, text);
        }
        seen.insert(path);
    }
}
