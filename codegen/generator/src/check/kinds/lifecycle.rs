//! Versions of one kind, and their life in releases.

use std::collections::BTreeMap;

use crate::{check::walk, diagnostic::Diagnostics, idl::LifecycleExtension, lower::Lowered, source::Spanned};

/// Objects of a kind are stored in one version.
pub(in crate::check) fn one_storage_version(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut versions: BTreeMap<(&str, &str), Vec<walk::WrittenResource<'_>>> = BTreeMap::new();
    for written in walk::resources(lowered).into_iter().filter(|written| !written.resource.is_virtual) {
        let key = (written.group_version.group.as_str(), written.resource.kind.as_str());
        versions.entry(key).or_default().push(written);
    }
    for versions in versions.values() {
        let storing: Vec<_> = versions.iter().filter(|written| written.resource.storage_version).collect();
        let Some(first) = storing.first() else {
            let span = &versions[0].resource.span;
            let help = "remove `storageVersion: false` from one of its versions";
            diagnostics.error(span, format!("no version of `{}` is stored", versions[0].resource.kind), help);
            continue;
        };
        for other in &storing[1..] {
            let message = format!(
                "two versions of `{}` are stored: {} and {}",
                other.resource.kind, first.group_version.version, other.group_version.version
            );
            diagnostics.error(&other.resource.span, message, "add `storageVersion: false` to one of the two");
        }
    }
}

/// Releases are `major.minor`, in order.
pub(in crate::check) fn lifecycles(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let Some(lifecycle) = &written.extension.lifecycle else { continue };
        let mut last: Option<(u32, u32)> = None;
        for text in stages(lifecycle) {
            let Some(release) = release(&text.value) else {
                let message = format!("`{}` is not a release", text.value);
                diagnostics.error(&text.span, message, "a release is two numbers in quotes: \"1.2\"");
                continue;
            };
            if last.is_some_and(|last| release <= last) {
                let help = "a kind is introduced, deprecated and removed, in that order";
                diagnostics.error(&text.span, format!("`{}` is too early", text.value), help);
            }
            last = Some(release);
        }
        if let (Some(removed), None) = (&lifecycle.removed, &lifecycle.deprecated) {
            let help = "clients are warned before it goes: add `deprecated`";
            diagnostics.error(&removed.span, "removed without being deprecated", help);
        }
    }
}

fn stages(lifecycle: &LifecycleExtension) -> impl Iterator<Item = &Spanned<String>> {
    [&lifecycle.introduced, &lifecycle.deprecated, &lifecycle.removed].into_iter().flatten()
}

fn release(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn releases() {
        assert_eq!(release("1.32"), Some((1, 32)));
        assert!(release("1.9") < release("1.10"));
        for bad in ["", "1", "v1.2", "1.2.3", "1.x"] {
            assert_eq!(release(bad), None, "{bad}");
        }
    }
}
