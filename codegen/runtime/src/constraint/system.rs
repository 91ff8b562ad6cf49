//! Names that operating systems and network protocols use.

use super::{too_long, unless};

/// The longest name of a port, in bytes.
const PORT_NAME_MAX: usize = 15;
/// The longest name of a kernel parameter, in bytes.
const SYSCTL_NAME_MAX: usize = 253;

/// The name of a port (RFC 6335): lower-case letters, digits and single hyphens between them, with a letter.
pub fn port_name(value: &str) -> Vec<String> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let mut faults = Vec::new();
    if value.len() > PORT_NAME_MAX {
        faults.push(too_long(PORT_NAME_MAX));
    }
    for (is_broken, fault) in [
        (
            !value.bytes().all(is_allowed),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!value.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (value.contains("--"), "must not contain consecutive hyphens"),
        (value.starts_with('-') || value.ends_with('-'), "must not begin or end with a hyphen"),
    ] {
        if is_broken {
            faults.push(fault.to_owned());
        }
    }
    faults
}

/// The name of an environment variable: printable ASCII characters other than `=`.
pub fn env_name(value: &str) -> Vec<String> {
    let is_correct = value.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=');
    let fault =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    unless(is_correct, fault)
}

/// The name of an HTTP header: letters, digits and hyphens.
pub fn header_name(value: &str) -> Vec<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let fault = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex \
                 used for validation is '[-A-Za-z0-9]+')";
    unless(!value.is_empty() && value.bytes().all(is_allowed), fault)
}

/// The name of a kernel parameter: parts of lower-case letters, digits, hyphens and underscores, between dots
/// or slashes.
pub fn sysctl_name(value: &str) -> Vec<String> {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(is_end)
            && bytes.last().is_some_and(is_end)
            && bytes.iter().all(|byte| is_end(byte) || matches!(byte, b'-' | b'_'))
    };
    let fault = "must have at most 253 characters and match regex \
                 ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    unless(value.len() <= SYSCTL_NAME_MAX && value.split(['.', '/']).all(is_part), fault)
}

/// Text without white space at its ends.
pub fn trimmed(value: &str) -> Vec<String> {
    unless(value.trim() == value, "must not have leading or trailing whitespace")
}

/// Pairs of host and port between commas, each with one colon; an IPv6 address is in brackets. Each wrong
/// pair is a fault of its own.
pub fn host_ports(value: &str) -> Vec<String> {
    let fault = "must be a host:port pair or multiple pairs separated by commas";
    value.split(',').filter(|pair| !is_host_and_port(pair)).map(|_| fault.to_owned()).collect()
}

fn is_host_and_port(pair: &str) -> bool {
    match pair.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").is_some_and(|(_, port)| !port.contains([':', ']'])),
        None => {
            pair.split_once(':').is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains(':'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rule: fn(&str) -> Vec<String>, table: &[(&str, usize)]) {
        for (text, faults) in table {
            assert_eq!(rule(text).len(), *faults, "{text}: {:?}", rule(text));
        }
    }

    #[test]
    fn names_of_ports() {
        sizes(port_name, &[("http", 0), ("a-1", 0), ("1", 1), ("", 1), ("A", 2), ("a--b", 1), ("-a", 1)]);
        assert_eq!(port_name("abcdefghijklmnop"), ["must be no more than 15 characters"]);
    }

    #[test]
    fn names_of_variables_headers_and_parameters() {
        sizes(env_name, &[("A b.c", 0), ("a=b", 1), ("é", 1), ("", 0)]);
        sizes(header_name, &[("X-Y", 0), ("", 1), ("X Y", 1)]);
        let long = "a".repeat(254);
        sizes(
            sysctl_name,
            &[
                ("net.core/a_b-c", 0),
                ("a", 0),
                ("", 1),
                ("a.", 1),
                ("A", 1),
                ("-a", 1),
                ("a..b", 1),
                (long.as_str(), 1),
            ],
        );
        sizes(trimmed, &[("a b", 0), (" a", 1), ("a\n", 1)]);
    }

    #[test]
    fn pairs_of_host_and_port() {
        sizes(
            host_ports,
            &[("a:1", 0), ("a:1,[::1]:2", 0), ("a", 1), ("a:1:2,b", 2), ("[::1]", 1), ("a]:1", 1), ("", 1)],
        );
    }
}
