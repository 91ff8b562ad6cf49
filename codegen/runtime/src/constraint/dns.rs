//! Names that can stand in the domain name system: labels and subdomains in lower case (RFC 1123).

use super::too_long;

/// The longest label, in bytes.
const LABEL_MAX: usize = 63;
/// The longest subdomain, in bytes.
const SUBDOMAIN_MAX: usize = 253;

const LABEL_FAULT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
    '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
    validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_FAULT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with \
    an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
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

/// [`dns_label`] that begins with a letter (RFC 1035).
pub fn dns_1035_label(value: &str) -> Vec<String> {
    label_1035_faults(value.as_bytes())
}

/// [`dns_1035_label`] for the beginning of a name: a dash may end it.
pub fn dns_1035_label_prefix(value: &str) -> Vec<String> {
    label_1035_faults(&mask_trailing_dash(value))
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

fn label_1035_faults(value: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > LABEL_MAX {
        faults.push(too_long(LABEL_MAX));
    }
    if !is_label(value) || value[0].is_ascii_digit() {
        faults.push(LABEL_1035_FAULT.to_owned());
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

/// The prefix as it is judged: the last two bytes give way to a letter when the very last is a dash. So one
/// byte more than the maximum is accepted, and anything before the dash. This is the rule of the Kubernetes
/// API; nothing wrong comes through, because the completed name is judged as well.
fn mask_trailing_dash(value: &str) -> std::borrow::Cow<'_, [u8]> {
    let bytes = value.as_bytes();
    match bytes {
        [start @ .., _, b'-'] => [start, b"a"].concat().into(),
        _ => bytes.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let table: &[(&str, &[&str])] = &[
            ("a", &[]),
            ("0-a", &[]),
            ("", &[LABEL_FAULT]),
            ("-a", &[LABEL_FAULT]),
            ("a-", &[LABEL_FAULT]),
            ("aB", &[LABEL_FAULT]),
            ("é", &[LABEL_FAULT]),
            ("a_b", &[LABEL_FAULT]),
            ("a.b", &["must not contain dots"]),
            ("a..b", &[LABEL_FAULT]),
            (&"a".repeat(63), &[]),
            (&"a".repeat(64), &["must be no more than 63 characters"]),
            (&"A".repeat(64), &["must be no more than 63 characters", LABEL_FAULT]),
        ];
        for (text, faults) in table {
            assert_eq!(dns_label(text), *faults, "{text}");
        }
    }

    #[test]
    fn labels_that_begin_with_a_letter() {
        let table: &[(&str, &[&str])] = &[
            ("a", &[]),
            ("a-0", &[]),
            ("", &[LABEL_1035_FAULT]),
            ("0-a", &[LABEL_1035_FAULT]),
            ("a.b", &[LABEL_1035_FAULT]),
            (&"a".repeat(64), &["must be no more than 63 characters"]),
        ];
        for (text, faults) in table {
            assert_eq!(dns_1035_label(text), *faults, "{text}");
        }
        assert!(dns_1035_label_prefix("a-").is_empty());
    }

    #[test]
    fn subdomains() {
        let table: &[(&str, &[&str])] = &[
            ("a", &[]),
            ("a-b.0.c", &[]),
            ("", &[SUBDOMAIN_FAULT]),
            (".a", &[SUBDOMAIN_FAULT]),
            ("a.", &[SUBDOMAIN_FAULT]),
            ("a..b", &[SUBDOMAIN_FAULT]),
            ("a.-b", &[SUBDOMAIN_FAULT]),
            ("UPPER", &[SUBDOMAIN_FAULT]),
            (&"a".repeat(253), &[]),
            (&"a".repeat(254), &["must be no more than 253 characters"]),
            (&"_".repeat(254), &["must be no more than 253 characters", SUBDOMAIN_FAULT]),
        ];
        for (text, faults) in table {
            assert_eq!(dns_subdomain(text), *faults, "{text}");
        }
    }

    #[test]
    fn a_prefix_may_end_in_a_dash() {
        for text in ["a-", "a--", "ab-"] {
            assert!(dns_label_prefix(text).is_empty() && dns_subdomain_prefix(text).is_empty(), "{text}");
        }
        for text in ["-", "", "a_b-", "Gen_", "é-a-"] {
            assert_eq!(dns_label_prefix(text), [LABEL_FAULT], "{text}");
            assert_eq!(dns_subdomain_prefix(text), [SUBDOMAIN_FAULT], "{text}");
        }
        assert!(dns_subdomain_prefix("a.b-").is_empty());
        // Judged as `aa`; the complete name is judged as it is.
        assert!(dns_label_prefix("a_-").is_empty());
        assert_eq!(dns_label_prefix("a.b-"), ["must not contain dots"]);
        assert!(dns_label_prefix(&format!("{}-", "a".repeat(63))).is_empty());
        assert_eq!(dns_label_prefix(&format!("{}-", "a".repeat(64))), ["must be no more than 63 characters"]);
    }
}
