//! Names that can stand in the domain name system: labels and subdomains in lower case (RFC 1123).

use super::too_long;

/// The longest label, in bytes.
const LABEL_MAX: usize = 63;
/// The longest subdomain, in bytes.
const SUBDOMAIN_MAX: usize = 253;

const LABEL_FAULT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
    '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
    validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
/// For labels that fail by nothing but their dots.
const LABEL_DOTS: &str = "must not contain dots";
const SUBDOMAIN_FAULT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
    characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
    used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// At most 63 bytes of lower-case letters, digits and inner dashes.
pub fn dns_label(value: &str) -> Vec<String> {
    label_faults(value.as_bytes())
}

/// [`dns_label`] for the beginning of a name: a dash may end it.
pub fn dns_label_prefix(value: &str) -> Vec<String> {
    label_faults(&mask_trailing_dash(value))
}

/// At most 253 bytes: labels (each of any length) with dots between them.
pub fn dns_subdomain(value: &str) -> Vec<String> {
    subdomain_faults(value.as_bytes())
}

/// [`dns_subdomain`] for the beginning of a name: a dash may end it.
pub fn dns_subdomain_prefix(value: &str) -> Vec<String> {
    subdomain_faults(&mask_trailing_dash(value))
}

fn label_faults(value: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > LABEL_MAX {
        faults.push(too_long(LABEL_MAX));
    }
    if !is_label(value) {
        let fault = if is_subdomain(value) { LABEL_DOTS } else { LABEL_FAULT };
        faults.push(fault.to_owned());
    }
    faults
}

fn subdomain_faults(value: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > SUBDOMAIN_MAX {
        faults.push(too_long(SUBDOMAIN_MAX));
    }
    if !is_subdomain(value) {
        faults.push(SUBDOMAIN_FAULT.to_owned());
    }
    faults
}

fn is_subdomain(value: &[u8]) -> bool {
    value.split(|&byte| byte == b'.').all(is_label)
}

fn is_label(value: &[u8]) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    value.first().is_some_and(alphanumeric)
        && value.last().is_some_and(alphanumeric)
        && value.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
}

/// The prefix as it is judged: the last two bytes give way to a letter when the very last is a dash. That a
/// shorter text is judged is part of the rule: 254 bytes with a dash at the end are accepted.
fn mask_trailing_dash(value: &str) -> std::borrow::Cow<'_, [u8]> {
    let bytes = value.as_bytes();
    match bytes {
        [start @ .., _, b'-'] => [start, b"a"].concat().into(),
        _ => bytes.into(),
    }
}
