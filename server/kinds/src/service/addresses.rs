//! Services: addresses that stricter readers refuse, or spell otherwise.

use std::net::IpAddr;

use orch_api::core::v1::ServiceSpec;
use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use super::NONE;

/// Warns of addresses and networks that the server accepts, but others may not.
pub(super) fn warn_of_spellings(value: &ServiceSpec, cx: &mut Validation<'_>) {
    let path = Path::ROOT.field("spec");
    let lists = [("clusterIPs", &value.cluster_ips), ("externalIPs", &value.external_ips)];
    for (field, addresses) in lists {
        let is_set = field != "clusterIPs" || !["", NONE].contains(&value.cluster_ip.as_str());
        for (index, text) in addresses.iter().enumerate().filter(|_| is_set) {
            warn(cx, &path.field(field).index(index), "IP address", "address", text, address(text));
        }
    }
    let balancer = &value.load_balancer_ip;
    if !balancer.is_empty() {
        let at = path.field("loadBalancerIP");
        warn(cx, &at, "IP address", "address", balancer, address(balancer));
    }
    for (index, text) in value.load_balancer_source_ranges.iter().enumerate() {
        let at = path.field("loadBalancerSourceRanges");
        warn(cx, &at.index(index), "IP prefix", "prefix", text, network(text));
    }
}

/// `found` is the standard spelling, or why there is none. Rust, because no expression says what is wrong
/// with an address.
fn warn(
    cx: &mut Validation<'_>,
    at: &Path<'_>,
    what: &str,
    noun: &str,
    text: &str,
    found: Result<(IpAddr, String), String>,
) {
    let warning = match found {
        Err(fault) => {
            let mut letters = cx.vocabulary.name.chars();
            let product: String =
                letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            format!("{what} was accepted, but will be invalid in a future {product} release: {fault}")
        }
        Ok((IpAddr::V6(_), standard)) if standard != text => {
            let (text, standard) = (text.shown(), standard.shown());
            format!(
                "IPv6 {noun} {text} is not in RFC 5952 canonical format ({standard}), \
                 which may cause controller apply-loops"
            )
        }
        Ok(_) => return,
    };
    cx.warn(at, warning);
}

fn address(text: &str) -> Result<(IpAddr, String), String> {
    let address: Result<IpAddr, _> = text.parse();
    let address = address.map_err(|_| format!("ParseAddr({}): {}", text.shown(), fault(text)))?;
    Ok((address, address.to_string()))
}

fn network(text: &str) -> Result<(IpAddr, String), String> {
    let told = |fault: &str| format!("netip.ParsePrefix({}): {fault}", text.shown());
    let (base, bits) = text.rsplit_once('/').ok_or_else(|| told("no '/'"))?;
    let (base, standard) = address(base).map_err(|fault| told(&fault))?;
    let is_number = bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    if !is_number {
        return Err(told(&format!("bad bits after slash: {}", bits.shown())));
    }
    Ok((base, format!("{standard}/{bits}")))
}

/// What is wrong with an address, in the words of the reference's library.
fn fault(text: &str) -> String {
    match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => v4_fault(text),
        Some(b'%') => "missing IPv6 address".to_owned(),
        _ => "unable to parse IP".to_owned(),
    }
}

fn v4_fault(text: &str) -> String {
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    for (at, ch) in text.char_indices() {
        let rest = &text[at..];
        if let Some(digit) = ch.to_digit(10) {
            if digits == 1 && value == 0 {
                return "IPv4 field has octet with leading zero".to_owned();
            }
            (value, digits) = (value * 10 + digit, digits + 1);
            if value > 255 {
                return "IPv4 field has value >255".to_owned();
            }
        } else if ch != '.' {
            return at_rest("unexpected character", rest);
        } else if digits == 0 || rest.len() == 1 {
            return at_rest("IPv4 field must have at least one digit", rest);
        } else if fields == 3 {
            return "IPv4 address too long".to_owned();
        } else {
            (value, digits, fields) = (0, 0, fields + 1);
        }
    }
    "IPv4 address too short".to_owned()
}

fn at_rest(fault: &str, rest: &str) -> String {
    format!("{fault} (at {})", rest.shown())
}

#[cfg(test)]
mod tests {
    use super::{fault, network};

    #[test]
    fn faults_are_those_of_the_reference() {
        for (text, told) in [
            ("a", "unable to parse IP"),
            ("a.b", r#"unexpected character (at "a.b")"#),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1..2", r#"IPv4 field must have at least one digit (at ".2")"#),
            ("1.2.3.", r#"IPv4 field must have at least one digit (at ".")"#),
            ("01.2.3.4", "IPv4 field has octet with leading zero"),
            ("1.2.3.256", "IPv4 field has value >255"),
        ] {
            assert_eq!(fault(text), told, "{text}");
        }
        let told = network(" 1.2.3.4/8").unwrap_err();
        let inner = r#"ParseAddr(" 1.2.3.4"): unexpected character (at " 1.2.3.4")"#;
        assert_eq!(told, format!(r#"netip.ParsePrefix(" 1.2.3.4/8"): {inner}"#));
        assert!(network("1.2.3.4/8 ").is_err() && network("1.2.3.4/8").is_ok());
    }
}
