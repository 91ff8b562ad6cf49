//! A network from which objects get addresses.

use std::{fmt, net::IpAddr};

use rand::RngExt;

/// The server picks from no more addresses than this, however large the network is.
const MAX_ADDRESSES: u128 = 1 << 16;

/// A network of one address family. Three addresses are not picked: the first, which is that of the network
/// itself; the second, which is kept for the server; and with IPv4 the last, which is for broadcasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    base: u128,
    bits: u8,
    is_v4: bool,
}

impl AddressRange {
    /// Reads `10.0.0.0/24`.
    ///
    /// # Errors
    /// What is wrong with it, in words for the operator.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault =
            || format!("{text} is no network; write an address, a slash and the number of leading bits");
        let (address, bits) = text.split_once('/').ok_or_else(fault)?;
        let address: IpAddr = address.parse().map_err(|_| fault())?;
        let (width, number) = match address {
            IpAddr::V4(v4) => (32, u128::from(v4.to_bits())),
            IpAddr::V6(v6) => (128, v6.to_bits()),
        };
        let leading: u8 = bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(fault)?;
        let bits = width - leading;
        if bits < 3 {
            return Err(format!("{text} is too small: there must be at least 8 IPs in the range"));
        }
        let base = if bits == 128 { 0 } else { number >> bits << bits };
        Ok(AddressRange { base, bits, is_v4: address.is_ipv4() })
    }

    /// `IPv4` or `IPv6`.
    pub fn family(&self) -> &'static str {
        if self.is_v4 { "IPv4" } else { "IPv6" }
    }

    /// The address that is kept for the server.
    pub fn first(&self) -> IpAddr {
        self.address(1)
    }

    /// Whether an object can have the address.
    pub fn holds(&self, address: &str) -> bool {
        let number = match address.parse() {
            Ok(IpAddr::V4(v4)) if self.is_v4 => u128::from(v4.to_bits()),
            Ok(IpAddr::V6(v6)) if !self.is_v4 => v6.to_bits(),
            _ => return false,
        };
        number.checked_sub(self.base).is_some_and(|offset| offset > 0 && offset < self.end())
    }

    /// A random address that is not taken; so an address that has just become free is not used again at once.
    pub fn free(&self, is_taken: impl Fn(&str) -> bool) -> Option<String> {
        let (first, count) = (2, self.end().min(MAX_ADDRESSES).saturating_sub(2));
        let start = if count > 0 { rand::rng().random_range(0..count) } else { 0 };
        let offsets = (0..count).map(|step| first + (start + step) % count);
        offsets.map(|offset| self.address(offset).to_string()).find(|address| !is_taken(address))
    }

    /// The number of addresses up to the last one that a service can have.
    fn end(&self) -> u128 {
        let all = if self.bits == 128 { u128::MAX } else { 1 << self.bits };
        if self.is_v4 { all - 1 } else { all }
    }

    fn address(&self, offset: u128) -> IpAddr {
        let number = self.base + offset;
        match u32::try_from(number) {
            Ok(number) if self.is_v4 => IpAddr::V4(number.into()),
            _ => IpAddr::V6(number.into()),
        }
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if self.is_v4 { 32 } else { 128 };
        write!(out, "{}/{}", self.address(0), width - self.bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::AddressRange;

    #[test]
    fn every_address_is_given_once() {
        let network = AddressRange::parse("10.0.0.9/29").unwrap();
        assert_eq!((network.to_string(), network.family()), ("10.0.0.8/29".to_owned(), "IPv4"));
        let mut taken = BTreeSet::new();
        while let Some(address) = network.free(|address| taken.contains(address)) {
            assert!(network.holds(&address));
            assert!(taken.insert(address));
        }
        let expected = (10..15).map(|last| format!("10.0.0.{last}")).collect();
        assert_eq!(taken, expected);
        for (address, is_held) in
            [("10.0.0.9", true), ("10.0.0.8", false), ("10.0.0.15", false), ("::1", false)]
        {
            assert_eq!(network.holds(address), is_held, "{address}");
        }
        let network = AddressRange::parse("fd00::/108").unwrap();
        assert_eq!(network.family(), "IPv6");
        assert!(network.holds(&network.free(|_| false).unwrap()));
    }

    #[test]
    fn what_is_no_network_is_named() {
        for text in ["", "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "x/8", "10.0.0.0/30", "10.0.0.0/32"] {
            assert!(AddressRange::parse(text).unwrap_err().contains(text), "{text}");
        }
    }
}
