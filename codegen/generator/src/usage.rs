//! What the parser of command lines says, in one line; as the server says it (`server/config/src/usage.rs`).

use clap::error::{ContextKind, ContextValue};

/// The parser's message in one line: what is wrong, what it is about, and what may be meant.
pub fn one_line(error: &clap::Error) -> String {
    let rendered = error.to_string();
    let problem = rendered.lines().next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let list = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => Some(values.join(", ")),
        Some(ContextValue::String(value)) => Some(value.clone()),
        _ => None,
    };
    let listed = |kinds: [ContextKind; 2]| kinds.into_iter().find_map(list);
    // What follows a colon stands on the next lines.
    let about = problem.ends_with(':').then(|| listed([ContextKind::PriorArg, ContextKind::InvalidArg]));
    let remedy = [
        about.flatten().map(|arguments| format!(" {arguments}")),
        listed([ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand])
            .map(|meant| format!(" (did you mean {meant}?)")),
        list(ContextKind::ValidValue).map(|values| format!(" (one of: {values})")),
    ];
    let remedy: String = remedy.into_iter().flatten().collect();
    format!("{problem}{remedy}")
}
