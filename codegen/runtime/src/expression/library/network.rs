//! Addresses and networks.

use std::net::IpAddr;

use super::{Table, count, text};
use crate::expression::{fault::Fault, value::Value};

pub(super) const TABLE: Table = &[
    ("ip(string) -> net.IP", |args, _| read_ip(text(&args[0])?).map(Value::Ip)),
    ("isIP(string) -> bool", |args, _| Ok(Value::Bool(read_ip(text(&args[0])?).is_ok()))),
    ("ip.isCanonical(string) -> bool", |args, _| {
        let text = text(&args[0])?;
        Ok(Value::Bool(read_ip(text)?.to_string() == text))
    }),
    ("string(net.IP) -> string", |args, _| Ok(Value::from(ip(&args[0])?.to_string()))),
    ("(net.IP).family() -> int", |args, _| Ok(Value::Int(if ip(&args[0])?.is_ipv4() { 4 } else { 6 }))),
    ("(net.IP).isUnspecified() -> bool", |args, _| Ok(Value::Bool(ip(&args[0])?.is_unspecified()))),
    ("(net.IP).isLoopback() -> bool", |args, _| Ok(Value::Bool(ip(&args[0])?.is_loopback()))),
    ("(net.IP).isLinkLocalMulticast() -> bool", |args, _| {
        Ok(Value::Bool(match ip(&args[0])? {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }))
    }),
    ("(net.IP).isLinkLocalUnicast() -> bool", |args, _| Ok(Value::Bool(is_link_local(ip(&args[0])?)))),
    ("(net.IP).isGlobalUnicast() -> bool", |args, _| {
        let address = ip(&args[0])?;
        let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
        let is_local = address.is_unspecified() || address.is_loopback() || is_link_local(address);
        Ok(Value::Bool(!is_broadcast && !is_local && !address.is_multicast()))
    }),
    ("cidr(string) -> net.CIDR", |args, _| {
        read_cidr(text(&args[0])?).map(|(ip, bits)| Value::Cidr(ip, bits))
    }),
    ("isCIDR(string) -> bool", |args, _| Ok(Value::Bool(read_cidr(text(&args[0])?).is_ok()))),
    ("string(net.CIDR) -> string", |args, _| {
        let (address, bits) = cidr(&args[0])?;
        Ok(Value::from(format!("{address}/{bits}")))
    }),
    ("(net.CIDR).ip() -> net.IP", |args, _| Ok(Value::Ip(cidr(&args[0])?.0))),
    ("(net.CIDR).prefixLength() -> int", |args, _| Ok(count(usize::from(cidr(&args[0])?.1)))),
    ("(net.CIDR).masked() -> net.CIDR", |args, _| {
        let (address, bits) = cidr(&args[0])?;
        Ok(Value::Cidr(masked(address, bits), bits))
    }),
    ("(net.CIDR).containsIP(net.IP) -> bool", |args, _| Ok(contains(cidr(&args[0])?, ip(&args[1])?))),
    ("(net.CIDR).containsIP(string) -> bool", |args, _| {
        Ok(contains(cidr(&args[0])?, read_ip(text(&args[1])?)?))
    }),
    ("(net.CIDR).containsCIDR(net.CIDR) -> bool", |args, _| Ok(includes(cidr(&args[0])?, cidr(&args[1])?))),
    ("(net.CIDR).containsCIDR(string) -> bool", |args, _| {
        Ok(includes(cidr(&args[0])?, read_cidr(text(&args[1])?)?))
    }),
];

fn ip(value: &Value) -> Result<IpAddr, Fault> {
    if let Value::Ip(address) = value { Ok(*address) } else { Err(Fault::wrong_type()) }
}

fn cidr(value: &Value) -> Result<(IpAddr, u8), Fault> {
    if let Value::Cidr(address, bits) = value { Ok((*address, *bits)) } else { Err(Fault::wrong_type()) }
}

/// An address. One of version 4 that is written as one of version 6 with dots is refused: programs disagree
/// on what it is.
fn read_ip(text: &str) -> Result<IpAddr, Fault> {
    let problem = |what: &str| Fault::invalid(format!("{text:?} is no IP address{what}"));
    if text.contains('%') {
        return Err(problem(": zones are not allowed"));
    }
    if text.contains(':') && text.contains('.') {
        return Err(problem(": IPv4 inside of IPv6 is not allowed"));
    }
    text.parse().map_err(|_| problem(""))
}

/// A network; bits behind the prefix may be set.
fn read_cidr(text: &str) -> Result<(IpAddr, u8), Fault> {
    let problem = || Fault::invalid(format!("{text:?} is no network"));
    let (address, bits) = text.split_once('/').ok_or_else(problem)?;
    let address = read_ip(address)?;
    let is_number = bits == "0" || !bits.starts_with('0') && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = bits.parse().ok().filter(|bits| is_number && *bits <= width(address)).ok_or_else(problem)?;
    Ok((address, bits))
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// With the bits behind the prefix cleared.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

fn contains((network, bits): (IpAddr, u8), address: IpAddr) -> Value {
    let is_same_family = network.is_ipv4() == address.is_ipv4();
    Value::Bool(is_same_family && masked(network, bits) == masked(address, bits))
}

/// Whether all addresses of the second network are in the first.
fn includes(outer: (IpAddr, u8), (inner, bits): (IpAddr, u8)) -> Value {
    if bits < outer.1 { Value::Bool(false) } else { contains(outer, inner) }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}
