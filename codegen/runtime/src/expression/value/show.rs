//! Values as texts.

use std::fmt::{self, Display, Write as _};

use super::Value;

impl Display for Value {
    /// As it could be written in an expression.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => out.write_str("null"),
            Value::Bool(value) => write!(out, "{value}"),
            Value::Int(value) => write!(out, "{value}"),
            Value::Uint(value) => write!(out, "{value}u"),
            Value::Double(value) if value.is_finite() => write!(out, "{value:?}"),
            Value::Double(value) => write!(out, "double(\"{}\")", double_text(*value)),
            Value::Text(value) => write!(out, "{value:?}"),
            Value::Bytes(value) => {
                out.write_str("b\"")?;
                value.iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))?;
                out.write_char('"')
            }
            Value::Timestamp(value) => write!(out, "timestamp(\"{value}\")"),
            Value::Duration(value) => write!(out, "duration(\"{value}\")"),
            Value::List(list) => {
                out.write_char('[')?;
                for (position, item) in list.items.iter().enumerate() {
                    write!(out, "{}{item}", if position == 0 { "" } else { ", " })?;
                }
                out.write_char(']')
            }
            Value::Map(map) => {
                out.write_char('{')?;
                for (position, (key, value)) in map.entries.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(out, "{comma}{}: {value}", key.value())?;
                }
                out.write_char('}')
            }
            Value::Optional(_) => match self.contained() {
                Some(value) => write!(out, "optional.of({value})"),
                None => out.write_str("optional.none()"),
            },
            Value::Type(name) => out.write_str(name),
            Value::Ip(address) => write!(out, "ip(\"{address}\")"),
            Value::Cidr(address, bits) => write!(out, "cidr(\"{address}/{bits}\")"),
            Value::Quantity(quantity) => write!(out, "quantity(\"{quantity}\")"),
            Value::Url(url) => write!(out, "url({:?})", url.to_string()),
            Value::Format(name) => write!(out, "format.{name}()"),
        }
    }
}

/// The shortest text that is read as the same number; with an exponent below 0.0001 and from a million on.
pub(crate) fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}
