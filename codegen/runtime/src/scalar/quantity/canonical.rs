//! Writing a quantity in its canonical form.

use std::fmt;

use super::{ONE, QuantityFormat};

/// Suffixes by powers of 1000, from nano on.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes by powers of 1024, from one on.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

pub(super) fn write(out: &mut fmt::Formatter<'_>, nanos: i128, format: QuantityFormat) -> fmt::Result {
    if nanos == 0 {
        return out.write_str("0");
    }
    let binary_suffix_fits = nanos % ONE == 0 && nanos.unsigned_abs() >= 1024 * ONE.unsigned_abs();
    match format {
        QuantityFormat::BinarySi if binary_suffix_fits => {
            let (number, power) = reduce(nanos / ONE, 1024, BINARY.len() - 1);
            write!(out, "{number}{}", BINARY[power])
        }
        QuantityFormat::BinarySi | QuantityFormat::DecimalSi => {
            let (number, power) = reduce(nanos, 1000, DECIMAL.len() - 1);
            write!(out, "{number}{}", DECIMAL[power])
        }
        QuantityFormat::DecimalExponent => {
            let (number, power) = reduce(nanos, 1000, usize::MAX);
            match power as i64 * 3 - 9 {
                0 => write!(out, "{number}"),
                exponent => write!(out, "{number}e{exponent}"),
            }
        }
    }
}

/// Divides by `base` as often as nothing is left over, and at most `limit` times; `number` is not zero.
fn reduce(mut number: i128, base: i128, limit: usize) -> (i128, usize) {
    let mut power = 0;
    while power < limit && number % base == 0 {
        number /= base;
        power += 1;
    }
    (number, power)
}
