//! The life of kinds in releases.

use crate::{check::walk, diagnostic::Diagnostics, idl::LifecycleExtension, lower::Lowered, source::Spanned};

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
