//! The wire format: varints, fixed-width numbers and values with lengths, in any order.

use super::ProtobufError;

/// A value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'b> {
    /// Integers, booleans.
    Varint(u64),
    /// Doubles and 64-bit fixed integers.
    Fixed64(u64),
    /// Floats and 32-bit fixed integers.
    Fixed32(u32),
    /// Texts, bytes, messages, packed lists.
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    /// The content of a value with a length.
    pub fn bytes(self, field: &'static str) -> Result<&'b [u8], ProtobufError> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(ProtobufError::WrongType { field, expected: "message or text" }),
        }
    }
}

/// The fields of a message with their numbers, in the order of the bytes. Ends after the first error.
pub struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    /// The fields of this message.
    pub fn of(message: &'b [u8]) -> Self {
        Fields { rest: message }
    }

    fn field(&mut self) -> Result<(u32, Value<'b>), ProtobufError> {
        let key = varint(&mut self.rest)?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or(ProtobufError::Malformed("a field number is out of range"))?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut self.rest)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).unwrap_or(usize::MAX);
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(ProtobufError::Malformed("a wire type is unknown")),
        };
        Ok((number, value))
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], ProtobufError> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or(ProtobufError::Malformed("it breaks off"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("the slice was taken at this length"))
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u32, Value<'b>), ProtobufError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// The numbers of a packed list. Ends after the first error.
pub fn varints(mut packed: &[u8]) -> impl Iterator<Item = Result<u64, ProtobufError>> {
    std::iter::from_fn(move || {
        if packed.is_empty() {
            return None;
        }
        let number = varint(&mut packed);
        if number.is_err() {
            packed = &[];
        }
        Some(number)
    })
}

/// Text, which must be UTF-8.
pub fn text(bytes: &[u8]) -> Result<String, ProtobufError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| ProtobufError::Malformed("a text is not UTF-8"))
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ProtobufError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(ProtobufError::Malformed("it breaks off"))?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(ProtobufError::Malformed("a number is too long"))
}
