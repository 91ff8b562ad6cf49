//! The heads of data items (RFC 8949 section 3): what an item is, and how long.

use super::fault::Fault;

/// The beginning of an item. A length that is absent means that the item goes on until [`Head::Break`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Head {
    Unsigned(u64),
    /// The number is -1 minus this.
    Negative(u64),
    Bytes(Option<u64>),
    Text(Option<u64>),
    Array(Option<u64>),
    Map(Option<u64>),
    Tag(u64),
    Simple(u8),
    Float(f64),
    Break,
}

/// The simple values that are not refused.
pub const FALSE: u8 = 20;
pub const TRUE: u8 = 21;
pub const NULL: u8 = 22;

/// What ends an item without a length.
pub const BREAK: u8 = 0xff;

/// The major types, in the upper three bits of the first byte.
pub mod major {
    pub const UNSIGNED: u8 = 0;
    pub const NEGATIVE: u8 = 1;
    pub const BYTES: u8 = 2;
    pub const ARRAY: u8 = 4;
    pub const MAP: u8 = 5;
    pub const TAG: u8 = 6;
    pub const SIMPLE: u8 = 7;
}

impl Head {
    /// Reads a head, and leaves what follows it in `rest`.
    ///
    /// # Errors
    /// Where the bytes end, or are not CBOR.
    pub fn read(rest: &mut &[u8]) -> Result<Head, Fault> {
        let [first] = bytes(rest)?;
        let info = first & 0x1f;
        let argument = match info {
            0..24 => Some(u64::from(info)),
            24 => Some(u64::from(u8::from_be_bytes(bytes(rest)?))),
            25 => Some(u64::from(u16::from_be_bytes(bytes(rest)?))),
            26 => Some(u64::from(u32::from_be_bytes(bytes(rest)?))),
            27 => Some(u64::from_be_bytes(bytes(rest)?)),
            31 => None,
            _ => return Err(Fault::of("an item has a length of an unknown form")),
        };
        Ok(match (first >> 5, argument) {
            (0, Some(number)) => Head::Unsigned(number),
            (1, Some(number)) => Head::Negative(number),
            (2, length) => Head::Bytes(length),
            (3, length) => Head::Text(length),
            (4, length) => Head::Array(length),
            (5, length) => Head::Map(length),
            (6, Some(number)) => Head::Tag(number),
            (7, None) => Head::Break,
            (7, Some(bits)) => simple(info, bits)?,
            _ => return Err(Fault::of("a number or a tag has no length")),
        })
    }
}

/// Major type 7: `info` says how many bytes there are.
fn simple(info: u8, bits: u64) -> Result<Head, Fault> {
    #[expect(clippy::cast_possible_truncation, reason = "there are as many bits as the type has")]
    Ok(match info {
        25 => Head::Float(half_to_double(bits as u16)),
        26 => Head::Float(f64::from(f32::from_bits(bits as u32))),
        27 => Head::Float(f64::from_bits(bits)),
        24 if bits < 32 => return Err(Fault::of("a simple value has two forms")),
        _ => Head::Simple(bits as u8),
    })
}

fn bytes<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Fault> {
    let (taken, left) = rest.split_first_chunk().ok_or(Fault::END)?;
    *rest = left;
    Ok(*taken)
}

/// Writes a head with its argument in as few bytes as possible.
pub fn write(major: u8, argument: u64, out: &mut Vec<u8>) {
    let bytes = argument.to_be_bytes();
    let (info, length) = match argument {
        0..24 => (bytes[7], 0),
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    out.push(major << 5 | info);
    out.extend_from_slice(&bytes[8 - length..]);
}

/// Writes a number with 16, 32 or 64 bits, whichever is the first that has it exactly.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    #[expect(clippy::cast_possible_truncation, reason = "the next line asks whether it is exact")]
    let single = value as f32;
    if f64::from(single).to_bits() != value.to_bits() {
        out.push((major::SIMPLE << 5) + 27);
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Some(half) = single_to_half(single) {
        out.push((major::SIMPLE << 5) + 25);
        out.extend_from_slice(&half.to_be_bytes());
    } else {
        out.push((major::SIMPLE << 5) + 26);
        out.extend_from_slice(&single.to_be_bytes());
    }
}

/// The number of a half precision form: a sign, 5 bits of exponent, 10 bits of fraction (IEEE 754).
fn half_to_double(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// The half precision form, if it is exact.
fn single_to_half(value: f32) -> Option<u16> {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value == 0.0 {
        return Some(sign);
    }
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let fraction = bits & 0x7f_ffff;
    // Below the smallest exponent the leading bit is part of the fraction, and moves to the right.
    let (head, fraction, shift) = match exponent {
        -14..=15 => (((exponent + 15) as u32) << 10, fraction, 13),
        -24..-14 => (0, fraction | 0x80_0000, (-1 - exponent) as u32),
        _ => return None,
    };
    let is_exact = fraction.trailing_zeros() >= shift;
    is_exact.then_some(sign | (head | fraction >> shift) as u16)
}
