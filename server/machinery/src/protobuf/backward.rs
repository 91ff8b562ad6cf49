//! Messages written from their end to their beginning: a length stands before what it measures, and is known only when
//! that is written.

use super::ProtobufError;

/// Bytes in reverse order. Whatever comes first in the message is written last.
#[derive(Default)]
pub struct Backward {
    reversed: Vec<u8>,
}

impl Backward {
    /// The bytes in the order in which they are sent.
    pub fn finish(mut self) -> Vec<u8> {
        self.reversed.reverse();
        self.reversed
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    /// A field that holds a number.
    pub fn number(&mut self, tag: u32, number: u64) {
        self.varint(number);
        self.key(tag, 0);
    }

    /// A field that holds eight bytes.
    pub fn fixed64(&mut self, tag: u32, bits: u64) {
        self.raw(&bits.to_le_bytes());
        self.key(tag, 1);
    }

    /// A field that holds text or bytes.
    pub fn bytes(&mut self, tag: u32, bytes: &[u8]) {
        self.raw(bytes);
        self.head(tag, bytes.len());
    }

    /// A field that holds the message that `write` writes.
    pub fn message(
        &mut self,
        tag: u32,
        write: impl FnOnce(&mut Self) -> Result<(), ProtobufError>,
    ) -> Result<(), ProtobufError> {
        let end = self.reversed.len();
        write(self)?;
        self.head(tag, self.reversed.len() - end);
        Ok(())
    }

    /// What stands before a message, text or bytes of this length.
    pub fn head(&mut self, tag: u32, length: usize) {
        self.varint(length as u64);
        self.key(tag, 2);
    }

    fn key(&mut self, tag: u32, wire_type: u64) {
        self.varint(u64::from(tag) << 3 | wire_type);
    }

    fn varint(&mut self, mut number: u64) {
        let end = self.reversed.len();
        while number >= 0x80 {
            self.reversed.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.reversed.push(number as u8);
        self.reversed[end..].reverse();
    }
}
