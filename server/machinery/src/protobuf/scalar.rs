//! Single values on the wire, in the form that JSON has.

use std::str::FromStr;

use orch_runtime::{
    Tree,
    scalar::{ByteString, Duration, MicroTime, Time},
    type_def::Scalar,
};

use super::{
    ProtobufError,
    backward::Backward,
    wire::{Fields, Value, text},
};

/// Reads a value; none for the zero time, which means that it is absent.
pub fn read(scalar: Scalar, value: &Value<'_>, field: &'static str) -> Result<Option<Tree>, ProtobufError> {
    let wrong = |expected| ProtobufError::WrongType { field, expected };
    let tree = match (scalar, *value) {
        (Scalar::Boolean, Value::Varint(number)) => Tree::Bool(number != 0),
        // Negative 32-bit numbers are written with 64 bits.
        (Scalar::Int32, Value::Varint(number)) => Tree::from(number as i32),
        (Scalar::Int64, Value::Varint(number)) => Tree::from(number.cast_signed()),
        (Scalar::Double, Value::Fixed64(bits)) => Tree::from(f64::from_bits(bits)),
        (Scalar::String, Value::Bytes(bytes)) => Tree::from(text(bytes)?),
        (Scalar::Bytes, Value::Bytes(bytes)) => Tree::from(ByteString(bytes.to_vec()).to_string()),
        (Scalar::Time, Value::Bytes(message)) => {
            return Ok(
                time(message)?.map(|(seconds, _)| Tree::from(Time::from_unix_seconds(seconds).to_string()))
            );
        }
        (Scalar::MicroTime, Value::Bytes(message)) => {
            return Ok(time(message)?.map(|(seconds, nanos)| {
                let micros = seconds.saturating_mul(1_000_000).saturating_add(nanos / 1000);
                Tree::from(MicroTime::from_unix_micros(micros).to_string())
            }));
        }
        (Scalar::Duration, Value::Bytes(message)) => {
            let nanos = number(message, 1)?.unwrap_or(0);
            Tree::from(Duration::from_nanos(nanos).to_string())
        }
        (Scalar::Quantity, Value::Bytes(message)) => Tree::from(string(message, 1)?),
        (Scalar::IntOrString, Value::Bytes(message)) => match number(message, 1)?.unwrap_or(0) {
            0 => Tree::from(number(message, 2)?.unwrap_or(0) as i32),
            _ => Tree::from(string(message, 3)?),
        },
        (Scalar::Boolean | Scalar::Int32 | Scalar::Int64, _) => return Err(wrong("number")),
        (Scalar::Double, _) => return Err(wrong("double")),
        (Scalar::String | Scalar::Bytes, _) => return Err(wrong("text")),
        _ => return Err(wrong("message")),
    };
    Ok(Some(tree))
}

/// Writes a value as a field with this number. `null` is the zero time.
pub fn write(
    scalar: Scalar,
    value: &Tree,
    field: &'static str,
    tag: u32,
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    let wrong = |expected| ProtobufError::WrongType { field, expected };
    let text = || value.as_str().ok_or(wrong("text"));
    let integer = || value.as_i64().map(i64::cast_unsigned).ok_or(wrong("number"));
    match scalar {
        Scalar::Boolean => out.number(tag, u64::from(value.as_bool().ok_or(wrong("boolean"))?)),
        Scalar::Int32 | Scalar::Int64 => out.number(tag, integer()?),
        Scalar::Double => out.fixed64(tag, value.as_f64().ok_or(wrong("double"))?.to_bits()),
        Scalar::String => out.bytes(tag, text()?.as_bytes()),
        Scalar::Bytes => out.bytes(tag, &parsed::<ByteString>(text()?, wrong("base64 text"))?),
        Scalar::Time | Scalar::MicroTime if value.is_null() => out.head(tag, 0),
        Scalar::Time => {
            let time: Time = parsed(text()?, wrong("time"))?;
            write_time(time.as_unix_seconds(), 0, tag, out)?;
        }
        Scalar::MicroTime => {
            let time: MicroTime = parsed(text()?, wrong("time"))?;
            let micros = time.as_unix_micros();
            write_time(micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000) * 1000, tag, out)?;
        }
        Scalar::Duration => {
            let duration: Duration = parsed(text()?, wrong("duration"))?;
            out.message(tag, |out| {
                out.number(1, duration.as_nanos().cast_unsigned());
                Ok(())
            })?;
        }
        Scalar::Quantity => {
            let text = text()?;
            out.message(tag, |out| {
                out.bytes(1, text.as_bytes());
                Ok(())
            })?;
        }
        Scalar::IntOrString => {
            let (kind, number, text) = match value.as_str() {
                Some(text) => (1, 0, text),
                None => (0, integer()?, ""),
            };
            out.message(tag, |out| {
                out.bytes(3, text.as_bytes());
                out.number(2, number);
                out.number(1, kind);
                Ok(())
            })?;
        }
    }
    Ok(())
}

fn write_time(seconds: i64, nanos: i64, tag: u32, out: &mut Backward) -> Result<(), ProtobufError> {
    out.message(tag, |out| {
        out.number(2, nanos.cast_unsigned());
        out.number(1, seconds.cast_unsigned());
        Ok(())
    })
}

fn parsed<T: FromStr>(text: &str, wrong: ProtobufError) -> Result<T, ProtobufError> {
    text.parse().map_err(|_| wrong)
}

/// Whether lists of such values may be packed: written without field numbers.
pub fn is_packable(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Boolean | Scalar::Int32 | Scalar::Int64)
}

/// The value of a field that was not written.
pub fn zero(scalar: Scalar) -> Tree {
    match scalar {
        Scalar::Boolean => Tree::Bool(false),
        Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString => Tree::from(0),
        Scalar::Quantity => Tree::from("0"),
        Scalar::Duration => Tree::from("0s"),
        Scalar::String | Scalar::Bytes => Tree::from(""),
        Scalar::Time | Scalar::MicroTime => Tree::Null,
    }
}

/// Reads seconds and nanoseconds; an empty message is the zero time.
fn time(message: &[u8]) -> Result<Option<(i64, i64)>, ProtobufError> {
    if message.is_empty() {
        return Ok(None);
    }
    Ok(Some((number(message, 1)?.unwrap_or(0), number(message, 2)?.unwrap_or(0))))
}

fn number(message: &[u8], wanted: u32) -> Result<Option<i64>, ProtobufError> {
    let mut found = None;
    for field in Fields::of(message) {
        if let (number, Value::Varint(value)) = field?
            && number == wanted
        {
            found = Some(value.cast_signed());
        }
    }
    Ok(found)
}

fn string(message: &[u8], wanted: u32) -> Result<String, ProtobufError> {
    let mut found = String::new();
    for field in Fields::of(message) {
        if let (number, Value::Bytes(bytes)) = field?
            && number == wanted
        {
            found = text(bytes)?;
        }
    }
    Ok(found)
}
