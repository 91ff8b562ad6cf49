//! Regular expressions: matched in time linear in the text.

use crate::rule::Pattern;

use super::{Table, int, text};
use crate::expression::{budget::Budget, fault::Fault, value::Value};

/// What it costs to compile a pattern, for each of its bytes.
const STEPS_PER_BYTE: usize = 20;

pub(super) const TABLE: Table = &[
    ("matches(string, string) -> bool", matches),
    ("(string).matches(string) -> bool", matches),
    ("(string).find(string) -> string", |args, budget| {
        let text = text(&args[0])?;
        let found = compile(&args[1], text, budget)?.regex().find(text);
        Ok(Value::from(found.map_or("", |found| found.as_str())))
    }),
    ("(string).findAll(string) -> list(string)", |args, budget| find_all(args, -1, budget)),
    ("(string).findAll(string, int) -> list(string)", |args, budget| find_all(args, int(&args[2])?, budget)),
];

fn matches(args: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let text = text(&args[0])?;
    Ok(Value::Bool(compile(&args[1], text, budget)?.is_match(text)))
}

fn find_all(args: &[Value], most: i64, budget: &mut Budget) -> Result<Value, Fault> {
    let text = text(&args[0])?;
    let pattern = compile(&args[1], text, budget)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    budget.spend(text.len().min(most))?;
    let found = pattern.regex().find_iter(text).take(most);
    Ok(Value::list(found.map(|found| Value::from(found.as_str())).collect()))
}

/// A pattern, once it is paid for that it is compiled and matched: matching takes time in proportion to the
/// product of the two lengths.
fn compile(pattern: &Value, text: &str, budget: &mut Budget) -> Result<Pattern, Fault> {
    let pattern = self::text(pattern)?;
    budget.spend(STEPS_PER_BYTE * (pattern.len() + 1))?;
    budget.spend_bytes(pattern.len().saturating_mul(text.len()) / 4)?;
    let compiled = Pattern::compile(pattern.to_owned());
    compiled.map_err(|_| Fault::invalid(format!("{pattern:?} is no regular expression")))
}
