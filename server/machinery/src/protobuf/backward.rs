//! Writes messages from their end to their beginning: a length stands before its content, and is known only
//! after the content is written.

use super::ProtobufError;

/// Bytes in reverse order. The first part of a message is written last.
#[derive(Default)]
pub struct Backward {
    reversed: Vec<u8>,
}

impl Backward {
    /// The bytes in the right order.
    pub fn finish(mut self) -> Vec<u8> {
        self.reversed.reverse();
        self.reversed
    }

    /// Writes bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    /// Writes a field with a number.
    pub fn number(&mut self, tag: u32, number: u64) {
        self.varint(number);
        self.key(tag, 0);
    }

    /// Writes a field with eight bytes.
    pub fn fixed64(&mut self, tag: u32, bits: u64) {
        self.raw(&bits.to_le_bytes());
        self.key(tag, 1);
    }

    /// Writes a field with text or bytes.
    pub fn bytes(&mut self, tag: u32, bytes: &[u8]) {
        self.raw(bytes);
        self.head(tag, bytes.len());
    }

    /// Writes a field with the message that `write` writes.
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

    /// Writes the head of a message, text or bytes of this length.
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
