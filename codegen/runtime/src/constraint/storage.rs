//! Names of storage: drivers, provisioners, iSCSI.

use std::sync::LazyLock;

use regex::Regex;

use super::{dns::dns_subdomain, name::qualified_name, unless};

/// A DNS subdomain in letters of either case.
pub fn driver_name(value: &str) -> Vec<String> {
    dns_subdomain(&value.to_lowercase())
}

/// A qualified name in letters of either case.
pub fn provisioner_name(value: &str) -> Vec<String> {
    qualified_name(&value.to_lowercase())
}

/// An iSCSI name of type `iqn` or `eui` (RFC 3720), or `naa` (RFC 3980).
pub fn iqn(value: &str) -> Vec<String> {
    let is_correct = match value.get(..3) {
        Some("iqn") => IQN.is_match(value),
        Some("eui") => EUI.is_match(value),
        Some("naa") => NAA.is_match(value),
        _ => return vec!["must be valid format starting with iqn, eui, or naa".to_owned()],
    };
    unless(is_correct, "must be valid format")
}

/// `iqn.2001-04.com.example:storage`, `eui.02004567A425678D`, `naa.52004567BA64678D52004567BA64678D`
static IQN: LazyLock<Regex> =
    LazyLock::new(|| fixed(r"iqn\.[0-9]{4}-[0-9]{2}\.[0-9A-Za-z.-]+:[^,;*&$|\t\n\x0B\f\r ]+$"));
static EUI: LazyLock<Regex> = LazyLock::new(|| fixed("^eui.[0-9A-Za-z]{16}$"));
static NAA: LazyLock<Regex> = LazyLock::new(|| fixed("^naa.[0-9A-Za-z]{32}$"));

fn fixed(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iscsi_names() {
        for text in [
            "iqn.2001-04.com.example:storage:disk",
            "eui.02004567A425678D",
            "naa.52004567BA64678D52004567BA64678D",
        ] {
            assert!(iqn(text).is_empty(), "{text}");
        }
        for text in ["iqn.2001-04.com.example", "iqn.2001-04.a:b c", "eui.0200", "naa.1"] {
            assert_eq!(iqn(text), ["must be valid format"], "{text}");
        }
        for text in ["", "iq", "é", "wwn.1"] {
            assert_eq!(iqn(text), ["must be valid format starting with iqn, eui, or naa"], "{text}");
        }
    }

    #[test]
    fn names_in_letters_of_either_case() {
        assert!(driver_name("CSI.Example.com").is_empty() && !driver_name("a_b").is_empty());
        assert!(provisioner_name("Example.com/Disk").is_empty() && !provisioner_name("a b").is_empty());
    }
}
