//! Addresses: IP, CIDR and URI.

use std::net::IpAddr;

use super::unless;

const IP_FAULT: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR_FAULT: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const URI_FAULT: &str = "must be an absolute URI (e.g. 'https://example.com/path')";

/// An IPv4 or IPv6 address. Numbers with leading zeros are refused: programs disagree on what they mean.
pub fn ip(value: &str) -> Vec<String> {
    unless(value.parse::<IpAddr>().is_ok(), IP_FAULT)
}

/// An IPv4 or IPv6 network: an address, a slash and the number of leading bits. Bits after those may be set.
pub fn cidr(value: &str) -> Vec<String> {
    let is_cidr = value.split_once('/').is_some_and(|(address, bits)| {
        let limit = match address.parse() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        let canonical = bits == "0" || !bits.starts_with('0');
        canonical
            && bits.bytes().all(|byte| byte.is_ascii_digit())
            && bits.parse().is_ok_and(|bits: u8| bits <= limit)
    });
    unless(is_cidr, CIDR_FAULT)
}

/// A URI with a scheme, written in the characters that RFC 3986 allows.
pub fn uri(value: &str) -> Vec<String> {
    let is_uri = value.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|ch: char| ch.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            && !rest.is_empty()
            && is_uri_text(rest.as_bytes())
    });
    unless(is_uri, URI_FAULT)
}

/// Unreserved and reserved characters, and `%` only before two hexadecimal digits.
fn is_uri_text(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(at, &byte)| match byte {
        b'%' => text.get(at + 1..at + 3).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit)),
        _ => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for text in ["10.9.8.7", "0.0.0.0", "::", "2001:db8::ffff", "::ffff:1.2.3.4"] {
            assert!(ip(text).is_empty(), "{text}");
        }
        for text in ["", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "10.0.0.0/8", "fe80::1%eth0", ":::"] {
            assert_eq!(ip(text), [IP_FAULT], "{text}");
        }
    }

    #[test]
    fn networks() {
        for text in ["10.9.8.0/24", "10.9.8.7/24", "0.0.0.0/0", "1.2.3.4/32", "2001:db8::/64", "::/128"] {
            assert!(cidr(text).is_empty(), "{text}");
        }
        let wrong = [
            "",
            "/",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/08",
            "10.0.0.0/+8",
            "10.0.0/8",
            "10.0.0.0/8/8",
            "::/999",
            "10.0.0.0/-1",
        ];
        for text in wrong {
            assert_eq!(cidr(text), [CIDR_FAULT], "{text}");
        }
    }

    #[test]
    fn uris() {
        for text in ["https://example.com/path?a=b#c", "urn:a:b", "h+t-t.p1:x", "a:%2F", "http://[::1]:80/"] {
            assert!(uri(text).is_empty(), "{text}");
        }
        for text in ["", "example.com", "/path", "1a:b", "a b:c", "a:", "a:b c", "a:%2", "a:%zz", "a:é", ":a"]
        {
            assert_eq!(uri(text), [URI_FAULT], "{text}");
        }
    }
}
