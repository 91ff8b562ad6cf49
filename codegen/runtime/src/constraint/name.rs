//! Names inside objects and URLs: path segments, keys and values of labels, keys of configuration data.

use super::{dns::dns_subdomain, too_long};

/// The longest name part of a qualified name, and the longest label value, in bytes.
const NAME_MAX: usize = 63;
/// The longest key of configuration data, in bytes.
const CONFIG_KEY_MAX: usize = 253;

const NAME_PART_FAULT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
    with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_FAULT: &str = "a valid label must be an empty string or consist of alphanumeric characters, \
    '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
    '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY_FAULT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' \
    (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// A text that can stand between two slashes of a URL.
pub fn path_segment(value: &str) -> Vec<String> {
    match value {
        "." => vec!["may not be '.'".to_owned()],
        ".." => vec!["may not be '..'".to_owned()],
        _ => path_segment_prefix(value),
    }
}

/// [`path_segment`] for the beginning of a name: it may be dots so far.
pub fn path_segment_prefix(value: &str) -> Vec<String> {
    ['/', '%']
        .into_iter()
        .filter(|&illegal| value.contains(illegal))
        .map(|illegal| format!("may not contain '{illegal}'"))
        .collect()
}

/// The key of an annotation: letters in its domain may be large.
pub fn annotation_key(value: &str) -> Vec<String> {
    qualified_name(&value.to_lowercase())
}

/// The key of a label or annotation, or a finalizer: an optional subdomain and a slash, then a name of at
/// most 63 bytes.
pub fn qualified_name(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut parts = value.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else {
                faults.extend(dns_subdomain(prefix).iter().map(|fault| format!("prefix part {fault}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a qualified name {NAME_PART_FAULT} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_MAX {
        faults.push(format!("name part {}", too_long(NAME_MAX)));
    }
    if !is_name_part(name) {
        faults.push(format!("name part {NAME_PART_FAULT}"));
    }
    faults
}

/// The value of a label: empty, or a name of at most 63 bytes.
pub fn label_value(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > NAME_MAX {
        faults.push(too_long(NAME_MAX));
    }
    if !value.is_empty() && !is_name_part(value) {
        faults.push(LABEL_VALUE_FAULT.to_owned());
    }
    faults
}

/// A key of configuration data, which becomes a file's name: at most 253 bytes, not leading out of a folder.
pub fn config_key(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > CONFIG_KEY_MAX {
        faults.push(too_long(CONFIG_KEY_MAX));
    }
    if value.is_empty() || !value.bytes().all(is_name_byte) {
        faults.push(CONFIG_KEY_FAULT.to_owned());
    }
    match value {
        "." => faults.push("must not be '.'".to_owned()),
        ".." => faults.push("must not be '..'".to_owned()),
        _ if value.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_name_part(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && value.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_part_fault() -> String {
        format!("name part {NAME_PART_FAULT}")
    }

    #[test]
    fn path_segments() {
        let table: &[(&str, &[&str])] = &[
            ("system:node", &[]),
            ("", &[]),
            ("...", &[]),
            (".", &["may not be '.'"]),
            ("..", &["may not be '..'"]),
            ("a%b", &["may not contain '%'"]),
            ("%/", &["may not contain '/'", "may not contain '%'"]),
        ];
        for (text, faults) in table {
            assert_eq!(path_segment(text), *faults, "{text}");
        }
        assert!(path_segment_prefix("..").is_empty());
        assert_eq!(path_segment_prefix("a/"), ["may not contain '/'"]);
    }

    #[test]
    fn qualified_names() {
        for text in ["a", "A.b_c-0", "example.com/MyName", "0/0", &format!("a/{}", "b".repeat(63))] {
            assert!(qualified_name(text).is_empty(), "{text}");
        }
        let empty = "name part must be non-empty".to_owned();
        let subdomain = format!("prefix part {}", dns_subdomain("a b")[0]);
        let table = [
            ("", vec![empty.clone(), name_part_fault()]),
            ("a/", vec![empty, name_part_fault()]),
            ("/a", vec!["prefix part must be non-empty".to_owned()]),
            ("bad key", vec![name_part_fault()]),
            ("-env", vec![name_part_fault()]),
            ("a b/c", vec![subdomain.clone()]),
            ("A/c d", vec![subdomain, name_part_fault()]),
        ];
        for (text, faults) in table {
            assert_eq!(qualified_name(text), faults, "{text}");
        }
        assert_eq!(qualified_name(&"a".repeat(64)), ["name part must be no more than 63 characters"]);
        let prefix = format!("{}/a", "p".repeat(254));
        assert_eq!(qualified_name(&prefix), ["prefix part must be no more than 253 characters"]);
        let slashes = qualified_name("a/b/c");
        assert_eq!(slashes.len(), 1);
        assert!(
            slashes[0]
                .starts_with("a qualified name must consist of alphanumeric characters, '-', '_' or '.'")
        );
        assert!(
            slashes[0].ends_with("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
        );
    }

    #[test]
    fn label_values() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("MyValue", &[]),
            ("my_value-1.2", &[]),
            ("bad value", &[LABEL_VALUE_FAULT]),
            ("_a", &[LABEL_VALUE_FAULT]),
            ("a.", &[LABEL_VALUE_FAULT]),
            (&"a".repeat(63), &[]),
            (&"a".repeat(64), &["must be no more than 63 characters"]),
        ];
        for (text, faults) in table {
            assert_eq!(label_value(text), *faults, "{text}");
        }
    }

    #[test]
    fn config_keys() {
        let table: &[(&str, &[&str])] = &[
            ("key.name", &[]),
            ("-._", &[]),
            (".a", &[]),
            ("", &[CONFIG_KEY_FAULT]),
            ("a/b", &[CONFIG_KEY_FAULT]),
            ("bad key", &[CONFIG_KEY_FAULT]),
            (".", &["must not be '.'"]),
            ("..", &["must not be '..'"]),
            ("..a", &["must not start with '..'"]),
            (".. ", &[CONFIG_KEY_FAULT, "must not start with '..'"]),
            (&"k".repeat(253), &[]),
            (&"k".repeat(254), &["must be no more than 253 characters"]),
        ];
        for (text, faults) in table {
            assert_eq!(config_key(text), *faults, "{text}");
        }
    }
}
