//! One diagnostic as text, in the shape that people know from the Rust compiler.

use std::path::Path;

use super::{Diagnostic, Severity, Span};

/// Renders `item`; `text` finds the content of a file, where there is one to quote from.
pub(super) fn render<'t>(item: &Diagnostic, text: &dyn Fn(&Path) -> Option<&'t str>) -> String {
    let severity = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let code = if item.code.is_empty() { String::new() } else { format!("[{}]", item.code) };
    let places = [Some(&item.span), item.related.as_ref().map(|(span, _)| span)].into_iter().flatten();
    let quotable = |span: &&Span| quoted(span, text).is_some();
    let digits = places.filter(quotable).map(|span| span.line.to_string().len()).max().unwrap_or(1);
    let margin = " ".repeat(digits);
    let mut out = format!("{severity}{code}: {}\n", item.message);
    out += &quote(&item.span, "-->", '^', "", digits, text);
    if let Some((span, label)) = &item.related {
        out += &quote(span, ":::", '-', label, digits, text);
    }
    out + &format!("{margin} = help: {}\n", item.help)
}

/// The line on which a place begins.
fn quoted<'t>(span: &Span, text: &dyn Fn(&Path) -> Option<&'t str>) -> Option<&'t str> {
    text(&span.file)?.lines().nth(span.line - 1)
}

/// A place, with its line where there is one to quote.
fn quote<'t>(
    span: &Span,
    arrow: &str,
    mark: char,
    label: &str,
    digits: usize,
    text: &dyn Fn(&Path) -> Option<&'t str>,
) -> String {
    let file = span.file.display();
    let margin = " ".repeat(digits);
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let Some(line) = quoted(span, text) else { return format!("{margin}{arrow} {file}{label}\n") };
    format!(
        "{margin}{arrow} {file}:{}:{}\n{margin} |\n{:>digits$} | {}\n{margin} | {}{label}\n",
        span.line,
        span.column,
        span.line,
        line.replace('\t', " "),
        underline(line, span, mark),
    )
}

/// Marks below the characters of a line that a span covers; never beyond the end of the line.
fn underline(line: &str, span: &Span, mark: char) -> String {
    let rest = line.chars().count().saturating_sub(span.column - 1);
    let marks = span.length.clamp(1, rest.max(1));
    format!("{}{}", " ".repeat(span.column - 1), mark.to_string().repeat(marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(column: usize, length: usize) -> Span {
        Span { line: 2, column, length, ..Span::whole_file(Path::new("a.yaml")) }
    }

    fn diagnostic(span: Span) -> Diagnostic {
        let (message, help) = ("bad".into(), "mend it".into());
        Diagnostic { span, severity: Severity::Error, message, help, code: "", related: None }
    }

    #[test]
    fn quotes_the_line_and_underlines_the_place() {
        assert_eq!(
            render(&diagnostic(span(3, 4)), &|_| Some("one\nä bcde f\n")),
            "error: bad\n --> a.yaml:2:3\n  |\n2 | ä bcde f\n  |   ^^^^\n  = help: mend it\n"
        );
    }

    #[test]
    fn a_code_and_another_place_are_shown() {
        let other = Span { line: 10, ..Span::whole_file(Path::new("b.yaml")) };
        let item =
            Diagnostic { code: "B1", related: Some((other, "was here".into())), ..diagnostic(span(1, 1)) };
        let text = "one\ntwo\n\n\n\n\n\n\n\nten\n";
        assert_eq!(
            render(&item, &|_| Some(text)),
            "error[B1]: bad\n  --> a.yaml:2:1\n   |\n 2 | two\n   | ^\n  ::: b.yaml:10:1\n   |\n10 | ten\n   \
             | - was here\n   = help: mend it\n"
        );
    }

    #[test]
    fn an_underline_ends_with_its_line() {
        assert_eq!(underline("abc", &span(2, 99), '^'), " ^^");
        assert_eq!(underline("abc", &span(4, 5), '^'), "   ^");
    }

    #[test]
    fn without_text_only_the_file_is_named() {
        assert_eq!(
            render(&diagnostic(span(1, 1)), &|_| None),
            "error: bad\n --> a.yaml\n  = help: mend it\n"
        );
    }
}
