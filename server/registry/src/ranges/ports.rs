//! A range of ports, from which objects get some.

use std::{fmt, ops::RangeInclusive};

/// A range of ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRange(RangeInclusive<i32>);

impl PortRange {
    /// Reads `30000-32767`.
    ///
    /// # Errors
    /// What is wrong with it, in words for the operator.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text} is not a range of ports: write the first and the last, as 30000-32767");
        let (first, last) = text.split_once('-').ok_or_else(wrong)?;
        let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0).ok_or_else(wrong);
        let (first, last) = (port(first)?, port(last)?);
        if first > last {
            return Err(wrong());
        }
        Ok(PortRange(first.into()..=last.into()))
    }

    /// Whether a port is one of them.
    pub fn contains(&self, port: i32) -> bool {
        self.0.contains(&port)
    }

    /// All of them, in their order.
    pub fn all(&self) -> RangeInclusive<i32> {
        self.0.clone()
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0.start(), self.0.end())
    }
}

#[cfg(test)]
mod tests {
    use super::PortRange;

    #[test]
    fn ports_are_given_in_their_order() {
        let ports = PortRange::parse("80-81").unwrap();
        assert_eq!((ports.contains(79), ports.contains(81), ports.contains(82)), (false, true, false));
        assert_eq!(ports.all().collect::<Vec<_>>(), [80, 81]);
        assert_eq!(ports.to_string(), "80-81");
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["", "80", "81-80", "0-5", "80-65536", "a-b", "80-81-82", "-1-5"] {
            assert!(PortRange::parse(text).unwrap_err().starts_with(text), "{text}");
        }
    }
}
