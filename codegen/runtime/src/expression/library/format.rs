//! `"...".format([...])`: texts with places for values.

use std::fmt::Write as _;

use super::{Table, items, text};
use crate::expression::{budget::Budget, fault::Fault, library::time, value::Value};

/// Digits behind the point, where the clause does not say how many.
const PRECISION: usize = 6;

/// The most digits behind the point.
const MAX_PRECISION: usize = 1000;

pub(super) const TABLE: Table = &[("(string).format(list(dyn)) -> string", |args, budget| {
    format(text(&args[0])?, items(&args[1])?, budget).map(Value::from)
})];

fn format(template: &str, arguments: &[Value], budget: &mut Budget) -> Result<String, Fault> {
    let mut out = String::new();
    let mut arguments = arguments.iter().enumerate();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (precision, after) = precision(after)?;
        let verb = after.chars().next().ok_or_else(|| Fault::invalid("a format clause has no end"))?;
        rest = &after[verb.len_utf8()..];
        let argument = arguments.next().map(|(_, argument)| argument);
        let argument =
            argument.ok_or_else(|| Fault::invalid("the format has more clauses than arguments"))?;
        let written = clause(verb, precision, argument, budget)?;
        budget.spend_bytes(written.len() + 10)?;
        out.push_str(&written);
    }
    out.push_str(rest);
    Ok(out)
}

/// `.3` before the letter of a clause.
fn precision(text: &str) -> Result<(Option<usize>, &str), Fault> {
    let Some(text) = text.strip_prefix('.') else { return Ok((None, text)) };
    let (digits, rest) = text.split_at(text.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(text.len()));
    let precision = digits.parse().ok().filter(|precision| *precision <= MAX_PRECISION);
    let precision = precision.ok_or_else(|| Fault::invalid(format!("{digits:?} is no precision")))?;
    Ok((Some(precision), rest))
}

fn clause(verb: char, precision: Option<usize>, value: &Value, budget: &mut Budget) -> Result<String, Fault> {
    let fixed = precision.unwrap_or(PRECISION);
    let written = match (verb, value) {
        ('s', _) => return plain(value, budget),
        ('d' | 'e' | 'f', Value::Double(number)) if !number.is_finite() => Some(special(*number)),
        ('d', Value::Int(number)) => Some(number.to_string()),
        ('d', Value::Uint(number)) => Some(number.to_string()),
        ('f', _) => number(value).map(|number| format!("{number:.fixed$}")),
        ('e', _) => number(value).map(|number| scientific(number, fixed)),
        ('b', Value::Bool(value)) => Some(u8::from(*value).to_string()),
        ('b', _) => signed(value, |magnitude| format!("{magnitude:b}")),
        ('o', _) => signed(value, |magnitude| format!("{magnitude:o}")),
        ('x', _) => hexadecimal(value),
        ('X', _) => hexadecimal(value).map(|text| text.to_ascii_uppercase()),
        _ => None,
    };
    written.ok_or_else(|| match verb {
        'd' | 'e' | 'f' | 'b' | 'o' | 'x' | 'X' => {
            Fault::invalid(format!("%{verb} cannot write a value of the type {}", value.type_name()))
        }
        _ => Fault::invalid(format!("unknown format clause %{verb}")),
    })
}

fn special(number: f64) -> String {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
    .to_owned()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    }
}

/// With an exponent of at least two digits.
fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A whole number whose digits the function writes.
fn signed(value: &Value, digits: fn(u64) -> String) -> Option<String> {
    match value {
        Value::Int(number) => {
            let sign = if *number < 0 { "-" } else { "" };
            Some(format!("{sign}{}", digits(number.unsigned_abs())))
        }
        Value::Uint(number) => Some(digits(*number)),
        _ => None,
    }
}

fn hexadecimal(value: &Value) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    match value {
        Value::Text(text) => Some(of_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => signed(value, |magnitude| format!("{magnitude:x}")),
    }
}

/// Any value as text; the entries of a map in the order of the texts of their keys.
fn plain(value: &Value, budget: &mut Budget) -> Result<String, Fault> {
    budget.spend(1)?;
    let text = match value {
        Value::Text(text) => text.to_string(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Type(_) => value.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) if number.is_finite() => number.to_string(),
        Value::Double(number) => special(*number),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Timestamp(time) => time.to_string(),
        Value::Duration(duration) => time::seconds_text(*duration),
        Value::List(list) => {
            let texts = list.items().iter().map(|item| plain(item, budget));
            let texts = texts.collect::<Result<Vec<String>, Fault>>()?;
            format!("[{}]", texts.join(", "))
        }
        Value::Map(map) => {
            let mut texts = Vec::with_capacity(map.entries().len());
            for (key, value) in map.entries() {
                texts.push((key.to_string(), plain(value, budget)?));
            }
            texts.sort();
            let texts: Vec<String> =
                texts.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", texts.join(", "))
        }
        Value::Optional(_)
        | Value::Ip(_)
        | Value::Cidr(..)
        | Value::Quantity(_)
        | Value::Url(_)
        | Value::Format(_) => {
            return Err(Fault::invalid(format!("%s cannot write a value of the type {}", value.type_name())));
        }
    };
    budget.spend_bytes(text.len())?;
    Ok(text)
}
