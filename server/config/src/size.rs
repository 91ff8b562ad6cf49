//! Sizes in bytes on the command line: `64MiB`, `1GiB`, `500M`.

/// The units by their names, binary and decimal, and as quantities spell them.
const UNITS: [(&str, u64); 12] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

/// A number of bytes, with or without a unit.
pub fn bytes(text: &str) -> Result<u64, &'static str> {
    const SHAPE: &str = "not a size such as 512MiB, 1GiB or 500M";
    let unit = UNITS.iter().find_map(|(name, size)| Some((text.strip_suffix(name)?, *size)));
    let (number, size) = unit.unwrap_or((text, 1));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SHAPE);
    }
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(size)).ok_or(SHAPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_operators_write_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1048576", Some(1 << 20)),
            ("1KiB", Some(1024)),
            ("64MiB", Some(64 << 20)),
            ("64Mi", Some(64 << 20)),
            ("2GiB", Some(2 << 30)),
            ("500M", Some(500_000_000)),
            ("3k", Some(3000)),
            ("", None),
            ("MiB", None),
            ("-1", None),
            ("+1", None),
            ("1.5GiB", None),
            ("1 GiB", None),
            ("64MB", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text:?}");
        }
    }
}
