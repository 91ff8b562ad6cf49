//! The dashboard and the alert rules under `docs/` name metrics that the server has.

use std::collections::BTreeSet;

use orch_machinery::{json::Limits, yaml};
use regex::Regex;
use serde_json::Value;

use crate::{
    rust_text::TokenKind,
    source::{SOURCES, none, read, root},
};

const ALERTS: &str = "docs/alerts.yaml";
const DASHBOARD: &str = "docs/dashboard.json";

/// What the scraper makes itself.
const OF_THE_SCRAPER: &[&str] = &["up"];

/// How metrics of priority and fairness begin; the server writes that down once for all of them.
const FAIRNESS: &str = "apiserver_flowcontrol_";

/// What must be shown, and what must alert, of priority and fairness: who waits or is refused, and how many
/// seats there are.
const SHOWN: &[&str] = &[
    "current_executing_requests",
    "current_inqueue_requests",
    "rejected_requests_total",
    "request_wait_duration_seconds",
    "nominal_limit_seats",
    "current_limit_seats",
];
const ALERTED: &[&str] = &["rejected_requests_total"];

/// Words of the query language.
const WORDS: &[&str] =
    &["absent", "and", "by", "histogram_quantile", "increase", "or", "rate", "sum", "time", "topk", "unless"];

#[test]
fn every_metric_that_is_shown_exists() {
    let dashboard: Value = serde_json::from_str(&read(&root().join(DASHBOARD))).expect("it is JSON");
    let alerts = read(&root().join(ALERTS));
    let alerts = yaml::decode(alerts.as_bytes(), &Limits::default()).expect("it is YAML").tree;
    let existing = texts_of_the_server();
    let mut problems = Vec::new();
    for (file, document, wanted) in [(DASHBOARD, &dashboard, SHOWN), (ALERTS, &alerts, ALERTED)] {
        let (mut queries, mut named) = (Vec::new(), BTreeSet::new());
        collect(document, &mut queries);
        assert!(queries.len() > 10, "{file}: the queries are not found");
        for query in queries {
            let names = metrics_in(&query);
            assert!(!names.is_empty(), "{file}: no metric in {query:?}");
            let is_known = |name: &str| {
                let of_fairness = name.strip_prefix(FAIRNESS).is_some_and(|rest| existing.contains(rest));
                OF_THE_SCRAPER.contains(&name) || existing.contains(name) || of_fairness
            };
            let missing = names.iter().filter(|name| !is_known(name));
            problems.extend(missing.map(|name| format!("{file}: no metric {name}, in {query:?}")));
            named.extend(names);
        }
        let wanted = wanted.iter().map(|name| format!("{FAIRNESS}{name}"));
        let missing = wanted.filter(|name| !named.contains(name));
        problems.extend(missing.map(|name| format!("{file}: {name} is not there")));
    }
    none(&problems);
}

/// All texts in the server's code; the names of its metrics are among them.
fn texts_of_the_server() -> BTreeSet<String> {
    let has_metrics =
        |name: &str| ["server/apiserver/src/", "server/http/src/"].iter().any(|part| name.starts_with(part));
    let files = SOURCES.iter().filter(|source| has_metrics(&source.name));
    let texts = files.flat_map(|source| {
        let texts = source.product_tokens().into_iter().filter(|token| token.kind == TokenKind::Text);
        texts.map(|token| token.text.trim_matches('"').to_owned()).collect::<Vec<_>>()
    });
    texts.collect()
}

/// The values of all fields called `expr`.
fn collect(value: &Value, queries: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(query) if name == "expr" => queries.push(query.clone()),
                    other => collect(other, queries),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, queries)),
        _ => {}
    }
}

/// The names of the metrics in a query, those of histograms without what their series end with.
fn metrics_in(query: &str) -> BTreeSet<String> {
    let labels = Regex::new(r"\{[^}]*\}|\[[^\]]*\]|by\s*\([^)]*\)").expect("it is a pattern");
    let names = Regex::new(r"[a-zA-Z_][a-zA-Z0-9_]*").expect("it is a pattern");
    let query = labels.replace_all(query, " ");
    let names = names.find_iter(&query).map(|name| name.as_str());
    let names = names.filter(|name| !WORDS.contains(name));
    let of_histogram = |name: &str| {
        let ends = ["_bucket", "_count", "_sum"];
        ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
    };
    names.map(of_histogram).collect()
}

#[test]
fn metrics_are_found_in_queries() {
    let found = metrics_in(
        "histogram_quantile(0.99, sum by (le, verb) (rate(a_seconds_bucket{verb!=\"WATCH\"}[5m]))) / sum(b_total)",
    );
    assert_eq!(Vec::from_iter(found), ["a_seconds", "b_total"]);
}
