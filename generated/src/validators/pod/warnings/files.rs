//! Warnings for files with overlapping paths.

use std::{fmt, rc::Rc};

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// How many files of a pod are compared with those before them in their volume.
const MAX_COMPARED: usize = 2_000;

/// Warns of two files in a volume with the same path, or with one path below the other: Rust, because no
/// expression compares paths.
pub fn overlapping_files(volumes: &[Volume], _path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut left = MAX_COMPARED;
    for volume in volumes {
        let name = volume.name.shown();
        if let Some(source) = &volume.config_map {
            let what = format_args!("volume {name} (ConfigMap {})", source.name.shown());
            Files::default().add(&paths(&source.items), what, &mut left, cx);
        }
        if let Some(source) = &volume.secret {
            let what = format_args!("volume {name} (Secret {})", source.secret_name.shown());
            Files::default().add(&paths(&source.items), what, &mut left, cx);
        }
        if let Some(source) = &volume.downward_api {
            let what = format_args!("volume {name} (DownwardAPI)");
            Files::default().add(&file_paths(&source.items), what, &mut left, cx);
        }
        let sources = volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten());
        let (mut files, mut latest) = (Files::default(), Vec::new());
        for source in sources {
            // A source that lists no files counts as the one before it once more, as in the reference.
            if let Some((paths, source)) = projection(source) {
                (latest, files.source) = (paths, Some(source.into()));
            }
            files.add(&latest, format_args!("volume {name} (Projected)"), &mut left, cx);
        }
    }
}

/// The files of one volume so far.
#[derive(Default)]
struct Files<'v> {
    all: Vec<File<'v>>,
    /// Where files that are added come from, in a volume of several sources.
    source: Option<Rc<str>>,
}

struct File<'v> {
    path: &'v str,
    source: Option<Rc<str>>,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            None => out.write_str(&self.path.shown()),
            Some(source) => write!(out, "{} ({source})", self.path.shown()),
        }
    }
}

impl<'v> Files<'v> {
    /// Adds files, and warns of those that overlap with one before: Rust, because each is compared with all
    /// before it, up to a number of them.
    fn add(
        &mut self,
        paths: &[&'v str],
        what: fmt::Arguments<'_>,
        left: &mut usize,
        cx: &mut Validation<'_>,
    ) {
        for path in paths {
            if *left == 0 || cx.is_full_of_warnings() {
                return;
            }
            *left -= 1;
            let file = File { path: path.trim_end_matches('/'), source: self.source.clone() };
            for other in self.all.iter().filter(|other| overlap(file.path, other.path)) {
                cx.warn(&Path::ROOT, format_args!("{what}: overlapping paths: {file} with {other}"));
            }
            self.all.push(file);
        }
    }
}

/// Whether two paths are the same, or one is below the other. Neither has a slash at its end.
fn overlap(one: &str, other: &str) -> bool {
    let is_at_or_below = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_given = !one.is_empty() && !other.is_empty();
    is_given && (is_at_or_below(one, other) || is_at_or_below(other, one))
}

/// The paths of the files of a projected source, and the name of the source in warnings. None where it lists
/// no files.
fn projection(source: &VolumeProjection) -> Option<(Vec<&str>, String)> {
    let (paths, name) = if let Some(source) = &source.config_map {
        (paths(&source.items), format!("ConfigMap {}", source.name.shown()))
    } else if let Some(source) = &source.secret {
        (paths(&source.items), format!("Secret {}", source.name.shown()))
    } else if let Some(source) = &source.downward_api {
        (file_paths(&source.items), "DownwardAPI".to_owned())
    } else if let Some(source) = &source.service_account_token {
        (vec![source.path.as_str()], "ServiceAccountToken".to_owned())
    } else {
        let source = source.cluster_trust_bundle.as_ref()?;
        let name = source.name.as_ref().or(source.signer_name.as_ref());
        let name = name.map(String::as_str).unwrap_or_default();
        (vec![source.path.as_str()], format!("ClusterTrustBundle {}", name.shown()))
    };
    (!paths.is_empty()).then_some((paths, name))
}

fn paths(items: &[KeyToPath]) -> Vec<&str> {
    items.iter().map(|item| item.path.as_str()).collect()
}

fn file_paths(items: &[DownwardAPIVolumeFile]) -> Vec<&str> {
    items.iter().map(|item| item.path.as_str()).collect()
}
