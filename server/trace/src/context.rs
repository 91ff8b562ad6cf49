//! The context of a trace, as requests carry it (W3C Trace Context, level 1).

/// The name of the header with trace, span and flags.
pub const TRACEPARENT: &str = "traceparent";
/// The name of the header with what vendors add.
pub const TRACESTATE: &str = "tracestate";

/// The longest `tracestate` that is passed on, in bytes: the one that everybody must pass on at least.
pub const MAX_STATE: usize = 512;

/// A span of a trace, as others refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The id of the trace; never 0.
    pub trace: u128,
    /// The id of the span; never 0.
    pub span: u64,
    /// Whether the spans of the trace are delivered.
    pub is_sampled: bool,
}

impl TraceContext {
    /// Reads the header `traceparent`; nothing where it is not right, because such a header does not count.
    pub fn parse(header: &[u8]) -> Option<Self> {
        const LENGTH: usize = 55;
        let (fixed, further) = header.split_at_checked(LENGTH)?;
        // Later versions may add fields.
        let is_first_version = fixed.starts_with(b"00");
        if fixed.starts_with(b"ff") || !(further.is_empty() || !is_first_version && further[0] == b'-') {
            return None;
        }
        let mut parts = fixed.split(|byte| *byte == b'-');
        let mut part = |length| parts.next().filter(|part| part.len() == length).and_then(hex);
        let (_version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        (trace != 0 && span != 0).then_some(TraceContext {
            trace,
            span: span as u64,
            is_sampled: flags & 1 == 1,
        })
    }

    /// The header `traceparent`.
    pub fn header(self) -> String {
        let TraceContext { trace, span, is_sampled } = self;
        format!("00-{trace:032x}-{span:016x}-{:02x}", u8::from(is_sampled))
    }
}

/// A number in lower-case hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    const TRACE: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;
    const SPAN: u64 = 0x00f0_67aa_0ba9_02b7;

    #[test]
    fn a_header_is_read_and_written() {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = TraceContext { trace: TRACE, span: SPAN, is_sampled: true };
        assert_eq!(TraceContext::parse(header.as_bytes()), Some(context));
        assert_eq!(context.header(), header);
        for (version, further, flags, is_sampled) in [("00", "", "02", false), ("cc", "-more", "ff", true)] {
            let header = format!("{version}{}{flags}{further}", &header[2..53]);
            let expected = TraceContext { is_sampled, ..context };
            assert_eq!(TraceContext::parse(header.as_bytes()), Some(expected), "{header}");
        }
    }

    #[test]
    fn a_header_that_is_not_right_does_not_count() {
        for header in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7\u{e9}01",
        ] {
            assert_eq!(TraceContext::parse(header.as_bytes()), None, "{header}");
        }
    }
}
