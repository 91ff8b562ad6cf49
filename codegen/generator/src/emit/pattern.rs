//! Patterns: each is compiled once, when it is first asked for.

use proc_macro2::TokenStream;
use quote::quote;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::emitter::Emitter;

/// A `static PATTERN`. It knows how texts that match begin and end, where that is plain to see: most texts
/// are told apart by that, without a search.
pub fn declared(emitter: &Emitter<'_>, pattern: &str) -> TokenStream {
    let (lazy, module) = (emitter.import("std::sync", "LazyLock"), emitter.runtime("rule"));
    let (start, end) = ends(pattern);
    let with_ends = (!start.is_empty() || !end.is_empty()).then(|| quote!(.with_ends(#start, #end)));
    quote! {
        static PATTERN: #lazy<#module::Pattern> =
            #lazy::new(|| #module::Pattern::new(#pattern)#with_ends);
    }
}

/// The literal texts at the two ends of everything that a pattern matches; empty where there is none.
fn ends(pattern: &str) -> (String, String) {
    let Ok(parsed) = regex_syntax::parse(pattern) else { return Default::default() };
    let HirKind::Concat(parts) = parsed.kind() else { return Default::default() };
    let literal = |part: &Hir| match part.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).unwrap_or_default(),
        _ => String::new(),
    };
    let is = |part: &Hir, look: Look| matches!(part.kind(), HirKind::Look(found) if *found == look);
    let start = match &parts[..] {
        [first, next, ..] if is(first, Look::Start) => literal(next),
        _ => String::new(),
    };
    let end = match &parts[..] {
        [.., before, last] if is(last, Look::End) => literal(before),
        _ => String::new(),
    };
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn literal_texts_at_the_ends_are_found() {
        for (pattern, start, end) in [
            ("^net[./]", "net", ""),
            ("^[0-9]+%$", "", "%"),
            (r"^.+\['.*'\]$", "", "']"),
            ("^[^.]*[.]cpu$", "", ".cpu"),
            ("^ab$", "ab", "ab"),
            ("^aé.*", "aé", ""),
            ("ab", "", ""),
            ("^(?i)ab$", "", ""),
            ("(?m)^ab$", "", ""),
            ("^a?b|^ab", "", ""),
            ("^a*$", "", ""),
            ("(", "", ""),
        ] {
            assert_eq!(ends(pattern), (start.to_owned(), end.to_owned()), "{pattern}");
        }
    }
}
