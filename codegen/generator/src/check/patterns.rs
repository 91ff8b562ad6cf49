//! Regular expressions that match in time linear in the text.
//!
//! The parser explains what is wrong; that a pattern is accepted is what the runtime says, which will compile
//! it.

use orch_runtime::rule::Pattern;
use regex_syntax::ast::ErrorKind;

use super::walk;
use crate::{
    diagnostic::Diagnostics,
    idl::{Exception, Test, When},
    lower::Lowered,
    source::Spanned,
};

/// Patterns parse, need no backtracking, and compile to a program of bounded size.
pub(super) fn linear(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (_, schema) in walk::usages(lowered) {
        if let Some(pattern) = &schema.pattern {
            check(pattern, diagnostics);
        }
    }
    for schema in &lowered.written {
        for rule in schema.rules.iter().flatten() {
            let exceptions = rule.exceptions().filter_map(Exception::when).flat_map(When::conditions);
            let asked = rule.conditions().chain(exceptions);
            for pattern in rule.pattern.iter().chain(asked.filter_map(matched)) {
                check(pattern, diagnostics);
            }
        }
        let conditions = schema.defaults.iter().flatten().flat_map(|default| &default.when);
        for pattern in conditions.flat_map(|when| &when.0).filter_map(matched) {
            check(pattern, diagnostics);
        }
    }
}

/// The pattern that a condition asks for.
fn matched((_, test): &(Spanned<String>, Test)) -> Option<&Spanned<String>> {
    match test {
        Test::Question(question) => question.matches.as_ref(),
        Test::Values(_) => None,
    }
}

fn check(pattern: &Spanned<String>, diagnostics: &mut Diagnostics) {
    if let Err(error) = regex_syntax::Parser::new().parse(&pattern.value) {
        let (message, help) = explain(&error);
        diagnostics.error(&pattern.span, message, help);
    } else if Pattern::compile(pattern.value.clone()).is_err() {
        let help = "its repetitions multiply: make the counts smaller, or check the length with `maxLength`";
        diagnostics.error(&pattern.span, "the pattern is too large", help);
    }
}

fn explain(error: &regex_syntax::Error) -> (String, &'static str) {
    const LINEAR: &str = "patterns match in linear time: write it without, or write an `x-orch-validator`";
    let detail = match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ErrorKind::UnsupportedLookAround => return ("the pattern looks around".to_owned(), LINEAR),
            ErrorKind::UnsupportedBackreference => {
                return ("the pattern refers back to a group".to_owned(), LINEAR);
            }
            kind => format!("{kind} at character {}", error.span().start.column),
        },
        regex_syntax::Error::Translate(error) => {
            format!("{} at character {}", error.kind(), error.span().start.column)
        }
        _ => "it cannot be read".to_owned(),
    };
    (
        format!("not a regular expression: {detail}"),
        "mend the pattern; a backslash is doubled in double quotes",
    )
}
