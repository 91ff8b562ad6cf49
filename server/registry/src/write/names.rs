//! Names of new objects: generating them, and the rules for them.

use orch_machinery::meta::Meta;
use orch_runtime::{
    Tree, constraint,
    field_error::{FieldError, Validation},
    path::Path,
    resource_def::{NameFormat, ResourceDef},
};
use rand::RngExt;

use crate::{
    error::{ApiError, Result},
    request::Target,
};

/// The characters of generated name suffixes: no vowels, and no digits that look like letters.
const SUFFIX_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
/// A generated name is at most this long before its suffix.
const MAX_BASE_LENGTH: usize = 58;

/// Checks the name in a body against the name in the URL.
///
/// # Errors
/// 400 where it is absent or another one.
pub fn check_name(target: &Target<'_>, tree: &Tree) -> Result<()> {
    let name = Meta::of(tree).name();
    let url = target.name.as_ref();
    if name.is_empty() {
        let message =
            format!("the name of the object ({url} based on URL) was undeterminable: name must be provided");
        return Err(ApiError::BadRequest(message));
    }
    if name != url {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({url})");
        return Err(ApiError::BadRequest(message));
    }
    Ok(())
}

/// Reports what is wrong with the name of a new object.
pub fn validate(def: &ResourceDef, tree: &Tree, violations: &mut Validation<'_>) {
    let path = Path::ROOT.field("metadata");
    let (name, base) = (Meta::of(tree).name(), Meta::of(tree).generate_name());
    for error in base_errors(def.name_format, base) {
        violations.push(error);
    }
    let path = path.field("name");
    if name.is_empty() {
        violations.push(FieldError::required(&path, "name or generateName is required"));
        return;
    }
    let rule = match def.name_format {
        NameFormat::DnsSubdomain => constraint::dns_subdomain,
        NameFormat::DnsLabel => constraint::dns_label,
        NameFormat::Dns1035Label => constraint::dns_1035_label,
        NameFormat::PathSegment => constraint::path_segment,
    };
    violations.invalid_all(&path, name, &rule(name));
}

/// What is wrong with the beginning of a generated name.
pub fn base_errors(format: NameFormat, base: &str) -> Vec<FieldError> {
    if base.is_empty() {
        return Vec::new();
    }
    let rule = match format {
        NameFormat::DnsSubdomain => constraint::dns_subdomain_prefix,
        NameFormat::DnsLabel => constraint::dns_label_prefix,
        NameFormat::Dns1035Label => constraint::dns_1035_label_prefix,
        NameFormat::PathSegment => constraint::path_segment_prefix,
    };
    let metadata = Path::ROOT.field("metadata");
    let path = metadata.field("generateName");
    rule(base).iter().map(|fault| FieldError::invalid(&path, base, fault)).collect()
}

/// `base` and a random suffix.
pub fn generated_name(base: &str) -> String {
    let mut cut = base.len().min(MAX_BASE_LENGTH);
    while !base.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut rng = rand::rng();
    let suffix =
        (0..SUFFIX_LENGTH).map(|_| char::from(SUFFIX_ALPHABET[rng.random_range(0..SUFFIX_ALPHABET.len())]));
    base[..cut].chars().chain(suffix).collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_BASE_LENGTH, generated_name};

    #[test]
    fn generated_names_fit_and_differ() {
        let long = "a".repeat(100);
        assert_eq!(generated_name(&long).len(), MAX_BASE_LENGTH + 5);
        assert!(generated_name("web-").starts_with("web-"));
        assert_eq!(generated_name("web-").len(), 9);
        assert!(generated_name(&"é".repeat(40)).chars().count() <= MAX_BASE_LENGTH);
        assert_ne!(generated_name("x"), generated_name("x"));
    }
}
