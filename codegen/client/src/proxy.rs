//! Which proxy requests to a server go through: that of its kubeconfig entry, or else that of the
//! environment, as programs in Go read it: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in capitals or not.
//! Servers on this machine are not reached through a proxy of the environment.

use std::net::{IpAddr, Ipv6Addr};

use http::Uri;

use crate::error::Error;

/// The proxy for this server; `variable` reads the environment.
///
/// # Errors
/// Where what is configured is no URL.
pub fn proxy(
    configured: Option<&str>,
    server: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Uri>, Error> {
    if let Some(text) = configured.filter(|text| !text.is_empty()) {
        return url(text, "proxy-url").map(Some);
    }
    let given = |name: &str| {
        let values = [variable(name), variable(&name.to_ascii_lowercase())];
        values.into_iter().flatten().find(|value| !value.is_empty())
    };
    let name = if server.scheme_str() == Some("http") { "HTTP_PROXY" } else { "HTTPS_PROXY" };
    let Some(text) = given(name) else { return Ok(None) };
    if is_direct(server, &given("NO_PROXY").unwrap_or_default()) {
        return Ok(None);
    }
    url(&text, name).map(Some)
}

/// A proxy without a scheme speaks HTTP. The text is not repeated, because it may have a password.
fn url(text: &str, place: &str) -> Result<Uri, Error> {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let parsed = text.parse::<Uri>().ok().filter(|uri| uri.host().is_some());
    parsed.ok_or_else(|| Error::Kubeconfig(format!("{place} is no URL of a proxy")))
}

/// Whether a server is on this machine or in the list: `*`, names with the names below them, addresses,
/// networks, each also with a port.
fn is_direct(server: &Uri, list: &str) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let usual = if server.scheme_str() == Some("http") { 80 } else { 443 };
    let port = server.port_u16().unwrap_or(usual);
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let (name, entry_port) = with_port(entry);
        entry == "*"
            || entry_port.is_none_or(|entry_port| entry_port == port)
                && match address {
                    Some(address) => holds(name, address),
                    None => is_at_or_below(&host, name),
                }
    })
}

/// An entry and its port.
fn with_port(entry: &str) -> (&str, Option<u16>) {
    let is_address = entry.parse::<IpAddr>().is_ok();
    match entry.rsplit_once(':').filter(|_| !is_address) {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, port.parse().ok()),
        _ => (entry, None),
    }
}

/// `.example.com` is what is below it, `example.com` that and itself.
fn is_at_or_below(host: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('*').unwrap_or(&name);
    let is_below = host.strip_suffix(name.trim_start_matches('.')).is_some_and(|front| front.ends_with('.'));
    is_below || host == name
}

/// Whether an address, or a network with the number of its leading bits, holds this one.
fn holds(entry: &str, address: IpAddr) -> bool {
    let (network, bits) = match entry.split_once('/') {
        Some((network, bits)) => (network, bits.parse::<u32>().ok()),
        None => (entry, Some(u32::MAX)),
    };
    let network = network.trim_matches(['[', ']']).parse::<IpAddr>();
    let (Ok(network), Some(bits)) = (network, bits) else { return false };
    // As numbers of 128 bits, those of the shorter addresses in front.
    let (width, pair) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (32, [network, address].map(|one| u128::from(one.to_bits()) << 96))
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => (128, [network, address].map(Ipv6Addr::to_bits)),
        _ => return false,
    };
    let bits = bits.min(width);
    let rest = 128 - bits;
    let [network, address] = pair.map(|one| one.checked_shr(rest).unwrap_or_default());
    network == address
}

#[cfg(test)]
mod tests {
    use super::proxy;

    const SERVER: &str = "https://api.example.com:6443";

    fn chosen(
        configured: &str,
        server: &str,
        environment: &[(&str, &str)],
    ) -> Result<Option<String>, String> {
        let variable = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let chosen = proxy(Some(configured), &server.parse().unwrap(), variable);
        chosen.map(|uri| uri.map(|uri| uri.to_string())).map_err(|error| error.to_string())
    }

    #[test]
    fn the_entry_counts_before_the_environment() {
        for (configured, server, environment, expected) in [
            ("", SERVER, &[][..], None),
            (
                "socks5://p:1",
                SERVER,
                &[("HTTPS_PROXY", "http://q"), ("NO_PROXY", "*")],
                Some("socks5://p:1/"),
            ),
            ("", SERVER, &[("HTTPS_PROXY", "http://q")], Some("http://q/")),
            ("", SERVER, &[("https_proxy", "q:3128")], Some("http://q:3128/")),
            ("", SERVER, &[("HTTP_PROXY", "http://q")], None),
            ("", "http://api.example.com", &[("HTTP_PROXY", "http://q")], Some("http://q/")),
            ("", "https://127.0.0.1:6443", &[("HTTPS_PROXY", "http://q")], None),
            ("", "https://[::1]:6443", &[("HTTPS_PROXY", "http://q")], None),
            ("", "https://localhost:6443", &[("HTTPS_PROXY", "http://q")], None),
            ("http://p", "https://localhost:6443", &[], Some("http://p/")),
        ] {
            let found = chosen(configured, server, environment).unwrap();
            assert_eq!(found.as_deref(), expected, "{configured} {server} {environment:?}");
        }
    }

    #[test]
    fn what_is_in_the_list_is_reached_directly() {
        for (list, server, is_direct) in [
            ("*", SERVER, true),
            ("example.com", SERVER, true),
            (".example.com", SERVER, true),
            ("*.example.com", SERVER, true),
            ("EXAMPLE.com", SERVER, true),
            ("api.example.com", SERVER, true),
            (".api.example.com", SERVER, false),
            ("ple.com", SERVER, false),
            ("a, example.com ,b", SERVER, true),
            ("example.com:6443", SERVER, true),
            ("example.com:443", SERVER, false),
            ("10.0.0.0/8", SERVER, false),
            ("10.0.0.0/8", "https://10.1.2.3", true),
            ("10.0.0.0/8:443", "https://10.1.2.3", true),
            ("10.1.2.3", "https://10.1.2.3", true),
            ("10.1.2.4", "https://10.1.2.3", false),
            ("0.0.0.0/0", "https://10.1.2.3", true),
            ("2001:db8::/32", "https://[2001:db8:1::1]", true),
            ("2001:db8::1", "https://[2001:db8::1]", true),
            ("::/0", "https://10.1.2.3", false),
            ("", "https://10.1.2.3", false),
        ] {
            let found = chosen("", server, &[("HTTPS_PROXY", "http://q"), ("NO_PROXY", list)]).unwrap();
            assert_eq!(found.is_none(), is_direct, "{list} {server}");
        }
    }

    #[test]
    fn a_wrong_proxy_is_not_repeated() {
        let error = chosen("http://u:hunter2@", SERVER, &[]).unwrap_err();
        assert!(error.ends_with("proxy-url is no URL of a proxy"), "{error}");
    }
}
