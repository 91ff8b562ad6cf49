//! The wire format of protocol buffers, as far as the messages of etcd need it
//! (<https://protobuf.dev/programming-guides/encoding>).

use bytes::Bytes;

/// Writes the fields of one message.
#[derive(Default)]
pub(crate) struct Encoder(Vec<u8>);

/// The longest number takes so many bytes.
const MAX_VARINT: usize = 10;

/// A field of a message that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Bytes(Bytes),
}

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Encoder {
    /// Leaves so many bytes free in front of the message.
    pub(crate) fn behind(free: usize) -> Self {
        Self(vec![0; free])
    }

    /// A number; 0 is what a missing field means.
    pub(crate) fn number(&mut self, field: u32, number: u64) -> &mut Self {
        if number > 0 { self.present(field, number) } else { self }
    }

    /// A number that is written even where it is 0, which says which of several fields is meant.
    pub(crate) fn present(&mut self, field: u32, number: u64) -> &mut Self {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        if bytes.is_empty() {
            return self;
        }
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message in the message; it is there even where it is empty.
    pub(crate) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.varint(u64::from(field) << 3 | 2);
        let begin = self.0.len();
        fill(self);
        // How long it is stands in front, and is known only now.
        let (length, count) = varint_of((self.0.len() - begin) as u64);
        self.0.splice(begin..begin, length[..count].iter().copied());
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, number: u64) {
        let (bytes, count) = varint_of(number);
        self.0.extend_from_slice(&bytes[..count]);
    }
}

/// A number, and how many bytes it takes.
fn varint_of(mut number: u64) -> ([u8; MAX_VARINT], usize) {
    let (mut bytes, mut count) = ([0; MAX_VARINT], 0);
    loop {
        bytes[count] = number as u8 & 0x7f;
        number >>= 7;
        count += 1;
        if number == 0 {
            return (bytes, count);
        }
        bytes[count - 1] |= 0x80;
    }
}

/// Shows `take` each field of a message: its number and its value, which shares the memory of the message.
pub(crate) fn fields(
    message: &Bytes,
    mut take: impl FnMut(u32, Value) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let mut at = 0;
    while at < message.len() {
        let tag = varint(message, &mut at)?;
        let field = u32::try_from(tag >> 3).map_err(|_| Malformed)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(message, &mut at)?),
            1 => Value::Bytes(part(message, &mut at, 8)?),
            2 => {
                let length = varint(message, &mut at)?;
                Value::Bytes(part(message, &mut at, length)?)
            }
            5 => Value::Bytes(part(message, &mut at, 4)?),
            _ => return Err(Malformed),
        };
        take(field, value)?;
    }
    Ok(())
}

impl Value {
    pub(crate) fn number(self) -> Result<u64, Malformed> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bytes(_) => Err(Malformed),
        }
    }

    pub(crate) fn bytes(self) -> Result<Bytes, Malformed> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(Malformed),
        }
    }
}

fn part(message: &Bytes, at: &mut usize, length: u64) -> Result<Bytes, Malformed> {
    let left = message.len() - *at;
    let length = usize::try_from(length).ok().filter(|length| *length <= left).ok_or(Malformed)?;
    let part = message.slice(*at..*at + length);
    *at += length;
    Ok(part)
}

fn varint(message: &[u8], at: &mut usize) -> Result<u64, Malformed> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *message.get(*at).ok_or(Malformed)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification of the format.
    #[test]
    fn writes_what_the_specification_shows() {
        let mut encoder = Encoder::default();
        encoder.number(1, 150).bytes(2, b"testing").message(3, |inner| {
            inner.number(1, 150);
        });
        let written = encoder.finish();
        let want = [b"\x08\x96\x01".as_slice(), b"\x12\x07testing", b"\x1a\x03\x08\x96\x01"];
        assert_eq!(written, want.concat());
        let mut read = Vec::new();
        fields(&written.into(), |field, value| {
            read.push((field, value));
            Ok(())
        })
        .unwrap();
        assert_eq!(read[0], (1, Value::Number(150)));
        assert_eq!(read[1], (2, Value::Bytes("testing".into())));
    }

    #[test]
    fn lengths_go_in_front_of_what_is_as_long() {
        let mut encoder = Encoder::behind(2);
        encoder.message(1, |outer| {
            outer.message(2, |inner| {
                inner.bytes(3, &[7; 300]);
            });
            outer.message(4, |_| {});
        });
        let want = [&[0, 0][..], b"\x0a\xb4\x02", b"\x12\xaf\x02", b"\x1a\xac\x02", &[7; 300], b"\x22\x00"];
        assert_eq!(encoder.finish(), want.concat());
        let mut largest = Encoder::default();
        largest.present(1, u64::MAX);
        assert_eq!(largest.finish(), [&[8][..], &[0xff; 9], &[1]].concat());
    }

    #[test]
    fn refuses_what_is_cut() {
        for message in [
            &b"\x08"[..],
            b"\x08\x96",
            b"\x12\x07test",
            b"\x0b",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert_eq!(fields(&Bytes::from_static(message), |_, _| Ok(())), Err(Malformed), "{message:?}");
        }
    }
}
