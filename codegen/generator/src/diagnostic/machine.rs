//! Diagnostics for other programs: as JSON, as SARIF 2.1.0, as workflow commands of GitHub.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Diagnostic, Diagnostics, Severity, Span};
use crate::explain;

/// One JSON array: `{severity, code, file, line, column, endColumn, message, help, related}`. `related` is a
/// place of the same form with a message, or null.
pub fn json(diagnostics: &Diagnostics) -> String {
    let all: Vec<Value> = diagnostics
        .sorted()
        .into_iter()
        .map(|item| {
            json!({
                "severity": word(item.severity),
                "code": item.code,
                "file": file(&item.span),
                "line": item.span.line,
                "column": item.span.column,
                "endColumn": item.span.column + item.span.length,
                "message": item.message,
                "help": item.help,
                "related": item.related.as_ref().map(|(span, message)| json!({
                    "file": file(span),
                    "line": span.line,
                    "column": span.column,
                    "endColumn": span.column + span.length,
                    "message": message,
                })),
            })
        })
        .collect();
    pretty(&Value::Array(all))
}

/// A SARIF log of one run.
pub fn sarif(diagnostics: &Diagnostics) -> String {
    let sorted = diagnostics.sorted();
    let results: Vec<Value> = sorted
        .iter()
        .map(|item| {
            let mut result = json!({
                "ruleId": item.code,
                "level": word(item.severity),
                "message": {"text": format!("{}: {}", item.message, item.help)},
                "locations": [{"physicalLocation": physical(&item.span)}],
            });
            if let Some((span, message)) = &item.related {
                let place = physical(span);
                result["relatedLocations"] =
                    json!([{"physicalLocation": place, "message": {"text": message}}]);
            }
            result
        })
        .collect();
    let codes: BTreeSet<&str> = sorted.iter().map(|item| item.code).collect();
    let rules: Vec<Value> = codes
        .into_iter()
        .map(|code| {
            let title = explain::entry(code).map_or(code, |entry| entry.title);
            json!({"id": code, "shortDescription": {"text": title}})
        })
        .collect();
    let driver = json!({"name": "orch-codegen", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }))
}

/// A place as SARIF writes it.
fn physical(span: &Span) -> Value {
    let region = json!({
        "startLine": span.line,
        "startColumn": span.column,
        "endColumn": span.column + span.length,
    });
    json!({"artifactLocation": {"uri": file(span)}, "region": region})
}

/// One workflow command for each: GitHub shows them at the lines of a change.
pub fn github(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for item in diagnostics.sorted() {
        let end = item.span.column + item.span.length;
        let place = [("file", file(&item.span)), ("line", item.span.line.to_string())];
        let columns = [("col", item.span.column.to_string()), ("endColumn", end.to_string())];
        let properties: Vec<String> = place
            .into_iter()
            .chain(columns)
            .map(|(name, value)| {
                format!("{name}={}", escaped(&value).replace(':', "%3A").replace(',', "%2C"))
            })
            .collect();
        let title = format!(",title={}", item.code);
        let text = escaped(&text(item));
        let command = [word(item.severity), " ", &properties.join(","), &title, "::", &text].concat();
        out.extend(["::", &command, "\n"]);
    }
    out
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn file(span: &Span) -> String {
    span.file.display().to_string()
}

/// What is wrong, the other place, and the remedy, in a line each.
fn text(item: &Diagnostic) -> String {
    let other = item
        .related
        .as_ref()
        .map(|(span, message)| format!("{message}: {}:{}:{}\n", file(span), span.line, span.column));
    format!("{}\n{}{}", item.message, other.unwrap_or_default(), item.help)
}

/// What workflow commands escape.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::{github, json, sarif};
    use crate::diagnostic::{Diagnostics, Span};

    fn found() -> Diagnostics {
        let mut found = Diagnostics::default();
        let span = Span { line: 3, column: 5, length: 4, ..Span::whole_file(Path::new("a,b.yaml")) };
        found.error(&span, "100 % wrong", "mend it").code("E0121");
        found.warning(&span, "odd", "look at it").code("E0321");
        found
    }

    #[test]
    fn each_form_has_place_message_and_remedy() {
        let found = found();
        let list: Value = serde_json::from_str(&json(&found)).unwrap();
        assert_eq!(list[0]["severity"], "error");
        assert_eq!(
            (&list[0]["line"], &list[0]["column"], &list[0]["endColumn"]),
            (&3.into(), &5.into(), &9.into())
        );
        assert_eq!((&list[1]["message"], &list[1]["help"]), (&"odd".into(), &"look at it".into()));

        let log: Value = serde_json::from_str(&sarif(&found)).unwrap();
        let result = &log["runs"][0]["results"][0];
        assert_eq!(
            (&result["level"], &result["message"]["text"]),
            (&"error".into(), &"100 % wrong: mend it".into())
        );
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);

        assert_eq!(
            github(&found).lines().next(),
            Some("::error file=a%2Cb.yaml,line=3,col=5,endColumn=9,title=E0121::100 %25 wrong%0Amend it")
        );
    }

    #[test]
    fn nothing_found_is_an_empty_list() {
        let none = Diagnostics::default();
        assert_eq!((json(&none).as_str(), github(&none).as_str()), ("[]\n", ""));
    }
}
