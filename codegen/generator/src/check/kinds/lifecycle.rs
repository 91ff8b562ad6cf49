//! The life of kinds in releases.

use orch_runtime::release::Release;

use crate::{
    check::walk, diagnostic::Diagnostics, idl::LifecycleExtension, load::is_version, lower::Lowered,
    model::Replacement, source::Spanned,
};

/// Releases are `major.minor`, in order, and what to use instead is a kind.
pub(in crate::check) fn lifecycles(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let Some(lifecycle) = &written.extension.lifecycle else { continue };
        let mut last: Option<Release> = None;
        for text in stages(lifecycle) {
            let Ok(release) = text.value.parse::<Release>() else {
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
        if let Some(replacement) = &lifecycle.replacement
            && !replacement.value.parse().is_ok_and(|it: Replacement| is_version(&it.version))
        {
            let help = "group, version and kind: `example.com/v2 Widget`, or `v2 Widget` in the core group";
            diagnostics.error(&replacement.span, format!("`{}` is not a kind", replacement.value), help);
        }
    }
}

fn stages(lifecycle: &LifecycleExtension) -> impl Iterator<Item = &Spanned<String>> {
    [&lifecycle.introduced, &lifecycle.deprecated, &lifecycle.removed].into_iter().flatten()
}
