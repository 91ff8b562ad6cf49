//! The head of a schema file: OpenAPI's version, and the group and version that agree with the file's path.

use std::path::Path;

use crate::{diagnostic::Diagnostics, idl::Document, source::Spanned};

/// The folder and title of the group whose name is empty.
const CORE: &str = "core";

/// Group (`""` for the core group) and version of a file. Where the file does not say, or says it wrongly,
/// its path does, so that its types can still be referred to.
pub(super) fn group_version(
    document: &Document,
    relative: &Path,
    diagnostics: &mut Diagnostics,
) -> (String, String) {
    check_openapi(document, diagnostics);
    let title = document.info.as_ref().and_then(|info| info.title.as_ref());
    let version = document.info.as_ref().and_then(|info| info.version.as_ref());
    if title.is_none() || version.is_none() {
        let span = document.info.as_ref().map_or(&document.span, |info| &info.span);
        let help = "write `info: {title: <group>, version: v1}`, with `core` for the core group";
        diagnostics.error(span, "the file names no group and version", help).code("E0103");
    }
    if document.components.as_ref().and_then(|components| components.schemas.as_ref()).is_none() {
        diagnostics
            .error(&document.span, "the file declares no types", "add `components: {schemas: {...}}`")
            .code("E0103");
    }
    let title = title.filter(|title| check_group(title, diagnostics));
    let version = version.filter(|version| check_version(version, diagnostics));
    check_path(relative, title, version, diagnostics);

    let mut folders = relative.parent().into_iter().flat_map(Path::iter).map(|part| part.to_string_lossy());
    let (group_folder, version_folder) = (folders.next(), folders.next());
    let group = title.map(|title| title.value.clone()).or(group_folder.map(Into::into)).unwrap_or_default();
    let version = version.map(|version| version.value.clone()).or(version_folder.map(Into::into));
    (if group == CORE { String::new() } else { group }, version.unwrap_or_default())
}

fn check_openapi(document: &Document, diagnostics: &mut Diagnostics) {
    let Some(openapi) = &document.openapi else {
        diagnostics
            .error(&document.span, "not an OpenAPI document", "begin the file with `openapi: 3.1.0`")
            .code("E0103");
        return;
    };
    if !(openapi.value == "3.1" || openapi.value.starts_with("3.1.")) {
        let message = format!("OpenAPI `{}` is not supported", openapi.value);
        diagnostics.error(&openapi.span, message, "write `openapi: 3.1.0`").code("E0103");
    }
}

fn check_group(title: &Spanned<String>, diagnostics: &mut Diagnostics) -> bool {
    let good = is_dns_subdomain(&title.value);
    if !good {
        let message = format!("`{}` is not the name of a group", title.value);
        let help = "a group is a domain name in lower case, such as `example.orch.io`, or `core`";
        diagnostics.error(&title.span, message, help).code("E0103");
    }
    good
}

fn check_version(version: &Spanned<String>, diagnostics: &mut Diagnostics) -> bool {
    let good = is_version(&version.value);
    if !good {
        let message = format!("`{}` is not a version", version.value);
        diagnostics
            .error(&version.span, message, "a version is `v1`, `v1beta2`, `v2alpha1` or the like")
            .code("E0103");
    }
    good
}

fn check_path(
    relative: &Path,
    title: Option<&Spanned<String>>,
    version: Option<&Spanned<String>>,
    diagnostics: &mut Diagnostics,
) {
    let (Some(title), Some(version)) = (title, version) else { return };
    let expected = Path::new(&title.value).join(&version.value);
    if relative.parent() == Some(expected.as_path()) {
        return;
    }
    let file = relative.file_name().map_or(relative, Path::new);
    let message = format!(
        "the file is for {}/{}, and its path is `{}`",
        title.value,
        version.value,
        relative.display()
    );
    let help =
        format!("move it to `{}` of the schema folder, or change `info`", expected.join(file).display());
    diagnostics.error(&title.span, message, help).code("E0104");
}

/// Whether a name is an RFC 1123 subdomain.
pub fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_dns_label)
}

/// Whether a name is an RFC 1123 label.
fn is_dns_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Whether a word is the name of a version: `v`, a number, and optionally `alpha` or `beta` with a number.
pub fn is_version(word: &str) -> bool {
    let number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some(rest) = word.strip_prefix('v') else { return false };
    let parts = rest.split_once("alpha").or_else(|| rest.split_once("beta"));
    match parts {
        Some((major, minor)) => number(major) && number(minor),
        None => number(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for good in ["v1", "v10", "v1alpha1", "v2beta3"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["", "1", "v", "v0", "v1beta", "v1beta0", "v1gamma1", "V1", "v1beta1alpha1"] {
            assert!(!is_version(bad), "{bad}");
        }
    }

    #[test]
    fn groups() {
        for good in ["core", "apps", "example.orch.io", "a-b.c1"] {
            assert!(is_dns_subdomain(good), "{good}");
        }
        for bad in ["", "Core", "a..b", "-a", "a_b", "a."] {
            assert!(!is_dns_subdomain(bad), "{bad}");
        }
    }
}
