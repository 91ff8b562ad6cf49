//! Texts. Positions count characters.

use super::{Table, count, int, items, position, text};
use crate::expression::{budget::Budget, fault::Fault, value::Value};

pub(super) const TABLE: Table = &[
    ("(string).contains(string) -> bool", |args, _| {
        Ok(Value::Bool(text(&args[0])?.contains(text(&args[1])?)))
    }),
    ("(string).startsWith(string) -> bool", |args, _| {
        Ok(Value::Bool(text(&args[0])?.starts_with(text(&args[1])?)))
    }),
    ("(string).endsWith(string) -> bool", |args, _| {
        Ok(Value::Bool(text(&args[0])?.ends_with(text(&args[1])?)))
    }),
    ("(string).charAt(int) -> string", |args, _| {
        let text = text(&args[0])?;
        let at = position(&args[1], text.chars().count())?;
        Ok(Value::from(text.chars().skip(at).take(1).collect::<String>()))
    }),
    ("(string).indexOf(string) -> int", |args, _| index_of(args)),
    ("(string).indexOf(string, int) -> int", |args, _| index_of(args)),
    ("(string).lastIndexOf(string) -> int", |args, _| last_index_of(args)),
    ("(string).lastIndexOf(string, int) -> int", |args, _| last_index_of(args)),
    ("(string).lowerAscii() -> string", |args, _| Ok(Value::from(text(&args[0])?.to_ascii_lowercase()))),
    ("(string).upperAscii() -> string", |args, _| Ok(Value::from(text(&args[0])?.to_ascii_uppercase()))),
    ("(string).trim() -> string", |args, _| {
        Ok(Value::from(text(&args[0])?.trim_matches(char::is_whitespace)))
    }),
    ("(string).reverse() -> string", |args, _| {
        Ok(Value::from(text(&args[0])?.chars().rev().collect::<String>()))
    }),
    ("(string).replace(string, string) -> string", replace),
    ("(string).replace(string, string, int) -> string", replace),
    ("(string).split(string) -> list(string)", |args, budget| split(args, -1, budget)),
    ("(string).split(string, int) -> list(string)", |args, budget| split(args, int(&args[2])?, budget)),
    ("(string).substring(int) -> string", |args, _| {
        let length = text(&args[0])?.chars().count();
        Ok(substring(text(&args[0])?, position(&args[1], length)?, length))
    }),
    ("(string).substring(int, int) -> string", |args, _| {
        let length = text(&args[0])?.chars().count();
        let (start, end) = (position(&args[1], length)?, position(&args[2], length)?);
        if start > end {
            return Err(Fault::invalid(format!("invalid substring range. start: {start}, end: {end}")));
        }
        Ok(substring(text(&args[0])?, start, end))
    }),
    ("(list(string)).join() -> string", |args, budget| join(items(&args[0])?, "", budget)),
    ("(list(string)).join(string) -> string", |args, budget| join(items(&args[0])?, text(&args[1])?, budget)),
    ("(string).cleanPath() -> string", |args, _| Ok(Value::from(clean_path(text(&args[0])?)))),
    ("strings.quote(string) -> string", |args, _| Ok(Value::from(quote(text(&args[0])?)))),
];

/// A path without `.`, without `..` as far as that is possible, and without double slashes.
fn clean_path(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if is_absolute => {}
            _ => parts.push(part),
        }
    }
    let clean = parts.join("/");
    match (is_absolute, clean.is_empty()) {
        (true, _) => format!("/{clean}"),
        (false, true) => ".".to_owned(),
        (false, false) => clean,
    }
}

/// The byte of a character.
fn byte_of(text: &str, position: usize) -> usize {
    text.char_indices().nth(position).map_or(text.len(), |(at, _)| at)
}

/// Of the first place, from a position on, where the second text stands in the first; -1 if there is none.
fn index_of(args: &[Value]) -> Result<Value, Fault> {
    let (text, wanted) = (text(&args[0])?, text(&args[1])?);
    let start = args.get(2).map_or(Ok(0), |start| position(start, text.chars().count()))?;
    let found = text[byte_of(text, start)..].find(wanted);
    let before = |at: usize| count(start + text[byte_of(text, start)..][..at].chars().count());
    Ok(found.map_or(Value::Int(-1), before))
}

/// Of the last place that begins no later than the position.
fn last_index_of(args: &[Value]) -> Result<Value, Fault> {
    let (text, wanted) = (text(&args[0])?, text(&args[1])?);
    let end = match args.get(2) {
        Some(start) => byte_of(text, position(start, text.chars().count())?) + wanted.len(),
        None => text.len(),
    };
    // A cut inside of a character would be behind a place that does not fit anyway.
    let end = (0..=end.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let found = text[..end].rfind(wanted);
    Ok(found.map_or(Value::Int(-1), |at| count(text[..at].chars().count())))
}

fn substring(text: &str, start: usize, end: usize) -> Value {
    Value::from(&text[byte_of(text, start)..byte_of(text, end)])
}

/// At most so many times; a negative number means always. Where nothing is searched for, it is found before
/// each character and at the end.
fn replace(args: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let (text, from, to) = (text(&args[0])?, text(&args[1])?, text(&args[2])?);
    let most = args.get(3).map_or(Ok(-1), int)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let places = text.matches(from).take(most).count();
    budget.spend_bytes(text.len().saturating_add(places.saturating_mul(to.len())))?;
    Ok(Value::from(text.replacen(from, to, most)))
}

/// At most so many parts; a negative number means all. Where the separator is empty, each character is a
/// part.
fn split(args: &[Value], most: i64, budget: &mut Budget) -> Result<Value, Fault> {
    let (text, separator) = (text(&args[0])?, text(&args[1])?);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    budget.spend(text.len().min(most))?;
    let parts: Vec<Value> = if separator.is_empty() {
        let cut = byte_of(text, most.saturating_sub(1));
        let single = text[..cut].chars().map(|ch| Value::from(ch.to_string()));
        let rest = (cut < text.len()).then(|| Value::from(&text[cut..]));
        single.chain(rest).take(most).collect()
    } else {
        text.splitn(most, separator).map(Value::from).collect()
    };
    Ok(Value::list(parts))
}

fn join(parts: &[Value], separator: &str, budget: &mut Budget) -> Result<Value, Fault> {
    budget.spend(parts.len())?;
    let texts = parts.iter().map(text).collect::<Result<Vec<&str>, Fault>>()?;
    budget.spend_bytes(texts.iter().map(|text| text.len() + separator.len()).sum())?;
    Ok(Value::from(texts.join(separator)))
}

/// In double quotes, with escapes for quotes and control characters.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for ch in text.chars() {
        match ch {
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0C' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0B' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            _ => out.push(ch),
        }
    }
    out.push('"');
    out
}
