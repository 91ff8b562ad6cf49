//! Regular expressions that match in time linear in the text.
//!
//! The parser explains what is wrong; that a pattern is accepted is what the runtime says, which will compile
//! it.

use orch_runtime::rule::Pattern;
use regex_syntax::ast::ErrorKind;

use super::walk;
use crate::{diagnostic::Diagnostics, idl::Test, lower::Lowered, source::Spanned};

/// Patterns parse, need no backtracking, and compile to a program of bounded size.
pub(super) fn linear(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for (_, schema) in walk::usages(lowered) {
        if let Some(pattern) = &schema.pattern {
            check(pattern, diagnostics);
        }
    }
    for rule in lowered.written.iter().flat_map(|schema| schema.rules.iter().flatten()) {
        let conditions = rule.conditions();
        let matches = conditions.filter_map(|(_, test)| match test {
            Test::Question(question) => question.matches.as_ref(),
            Test::Values(_) => None,
        });
        for pattern in rule.pattern.iter().chain(matches) {
            check(pattern, diagnostics);
        }
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
