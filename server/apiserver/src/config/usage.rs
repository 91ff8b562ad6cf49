//! What the parser of command lines says, in one line.

use clap::error::{ContextKind, ContextValue};

/// The parser's message in one line: what is wrong, and what may be meant.
pub fn one_line(error: &clap::Error) -> String {
    let rendered = error.to_string();
    let problem = rendered.lines().next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let list = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => Some(values.join(", ")),
        Some(ContextValue::String(value)) => Some(value.clone()),
        _ => None,
    };
    let suggested = list(ContextKind::SuggestedArg).or_else(|| list(ContextKind::SuggestedSubcommand));
    let remedy = [
        suggested.map(|flag| format!(" (did you mean {flag}?)")),
        list(ContextKind::ValidValue).map(|values| format!(" (one of: {values})")),
    ];
    let remedy: String = remedy.into_iter().flatten().collect();
    format!("{problem}{remedy}")
}
