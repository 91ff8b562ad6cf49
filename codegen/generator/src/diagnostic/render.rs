//! One diagnostic as text, in the shape that people know from the Rust compiler.

use super::{Diagnostic, Severity};

/// Renders `item`; `text` is the content of its file, where there is one to quote from.
pub(super) fn render(item: &Diagnostic, text: Option<&str>) -> String {
    let severity = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let span = &item.span;
    let file = span.file.display();
    let quoted = text.and_then(|text| text.lines().nth(span.line - 1));
    let Some(line) = quoted else {
        return format!("{severity}: {}\n --> {file}\n  = help: {}\n", item.message, item.help);
    };
    let number = span.line.to_string();
    let margin = " ".repeat(number.len());
    format!(
        "{severity}: {}\n{margin}--> {file}:{}:{}\n{margin} |\n{number} | {}\n{margin} | {}\n{margin} = help: {}\n",
        item.message,
        span.line,
        span.column,
        line.replace('\t', " "),
        underline(line, span.column, span.length),
        item.help,
    )
}

/// Carets below the characters of a line that a span covers; never beyond the end of the line.
fn underline(line: &str, column: usize, length: usize) -> String {
    let rest = line.chars().count().saturating_sub(column - 1);
    let carets = length.clamp(1, rest.max(1));
    format!("{}{}", " ".repeat(column - 1), "^".repeat(carets))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Span;
    use super::*;

    fn diagnostic(column: usize, length: usize) -> Diagnostic {
        let span = Span { line: 2, column, length, ..Span::whole_file(Path::new("a.yaml")) };
        Diagnostic { span, severity: Severity::Error, message: "bad".into(), help: "mend it".into() }
    }

    #[test]
    fn quotes_the_line_and_underlines_the_place() {
        assert_eq!(
            render(&diagnostic(3, 4), Some("one\nä bcde f\n")),
            "error: bad\n --> a.yaml:2:3\n  |\n2 | ä bcde f\n  |   ^^^^\n  = help: mend it\n"
        );
    }

    #[test]
    fn an_underline_ends_with_its_line() {
        assert_eq!(underline("abc", 2, 99), " ^^");
        assert_eq!(underline("abc", 4, 5), "   ^");
    }

    #[test]
    fn without_text_only_the_file_is_named() {
        assert_eq!(render(&diagnostic(1, 1), None), "error: bad\n --> a.yaml\n  = help: mend it\n");
    }
}
