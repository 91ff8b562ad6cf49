//! The schema files use the whole language: each keyword in each place, each word of a closed set, each form
//! in which a value can be written. A keyword that is new is missing here until the example has it.

use std::{collections::BTreeSet, fs, path::Path};

use orch_codegen::{diagnostic::Diagnostics, source};
use serde_json::{Map, Value};

const LANGUAGE: &str = "../../schema/idl.schema.json";
const FILES: [&str; 2] = ["v1", "v1beta1"];

/// What the example leaves out, and why.
const LEFT_OUT: &[(&str, &[&str])] = &[
    (
        "it names a Rust function",
        &[
            "ColumnExtension.fn",
            "DefaultFunction.fn",
            "FormatFunction.fn",
            "FormatFunction.words",
            "ObjectRule.fn",
            "ObjectRule.x-orch-format",
            "Schema.x-orch-default",
            "Schema.x-orch-defaulter",
            "Schema.x-orch-first-validator",
            "Schema.x-orch-format",
            "Schema.x-orch-update-validator",
            "Schema.x-orch-validator",
            "StepExtension.fn",
            "StepExtension.from",
        ],
    ),
    ("an operation is Rust", &["ResourceExtension.virtual", "SubresourceExtension.body"]),
    (
        "a kind has one of them",
        &[
            "metadataRules = afterwards",
            "metadataRules = common",
            "nameFormat = dns-1035-label",
            "nameFormat = dns-subdomain",
            "nameFormat = path-segment",
            "scope = Cluster",
        ],
    ),
    ("a type says it of itself", &["Document.x-orch-empty-texts"]),
    ("`fields` takes its place", &["updateChecks = rules"]),
    ("it says nothing", &["immutable = false", "x-orch-immutable = false"]),
];

#[test]
fn every_keyword_that_needs_no_rust_is_used() {
    let language: Value = serde_json::from_str(&fs::read_to_string(LANGUAGE).unwrap()).unwrap();
    let (mut known, mut used) = (Uses::new(&language), Uses::new(&language));
    known.walk(&language, ("Document", "Document"), None);
    for version in FILES {
        let path = format!("schema/example.orch.io/{version}/bakery.yaml");
        let file = source::read(Path::new(&path), &mut Diagnostics::default()).unwrap().to_json();
        used.walk(&language, ("Document", "Document"), Some(&file));
    }
    assert!(known.found.len() > 300, "the keywords are not found");
    let foreign: Vec<&String> = used.found.difference(&known.found).collect();
    assert!(foreign.is_empty(), "{foreign:#?}");
    let unused: BTreeSet<&str> = known.found.difference(&used.found).map(String::as_str).collect();
    let left_out: BTreeSet<&str> = LEFT_OUT.iter().flat_map(|(_, uses)| *uses).copied().collect();
    let missing: Vec<&&str> = unused.difference(&left_out).collect();
    assert!(missing.is_empty(), "give the bakery a use for {missing:#?}");
    let excepted: Vec<&&str> = left_out.difference(&unused).collect();
    assert!(excepted.is_empty(), "these are used, or no longer known: {excepted:#?}");
}

/// A rule with words of its own is broken by a row of the tables, or somebody has read that it cannot be.
#[test]
fn every_message_is_told_by_a_test() {
    let tests = [include_str!("rules.rs"), include_str!("changes.rs")].concat();
    let path = Path::new("schema/example.orch.io/v1/bakery.yaml");
    let file = source::read(path, &mut Diagnostics::default()).unwrap().to_json();
    let mut messages = Vec::new();
    collect_messages(&file, &mut messages);
    assert!(messages.len() > 60, "the messages are not found");
    let untold = messages.iter().filter(|message| !tests.contains(longest_text(message)));
    assert_eq!(untold.collect::<Vec<_>>(), [&NOT_SHOWN]);
}

/// A duplicate is told without the words of the expression that found it, as of `x-kubernetes-validations`.
const NOT_SHOWN: &str = "two of them are the same";

/// The longest part of a message in which no value stands: those are between braces.
fn longest_text(message: &str) -> &str {
    let texts = message.split(['{', '}']).step_by(2);
    texts.max_by_key(|text| text.len()).unwrap_or_default().trim()
}

fn collect_messages<'v>(value: &'v Value, messages: &mut Vec<&'v str>) {
    match value {
        Value::Object(entries) => {
            messages.extend(entries.get("message").and_then(Value::as_str));
            entries.values().for_each(|entry| collect_messages(entry, messages));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_messages(item, messages)),
        _ => {}
    }
}

/// The functions that the reference names are all called.
#[test]
fn every_function_of_the_reference_is_called() {
    let reference = fs::read_to_string("../../schema/README.md").unwrap();
    let functions = reference.split("**Functions**").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = functions.split('`').skip(1).step_by(2);
    let names: Vec<&str> = names.filter(|name| name.starts_with(char::is_alphabetic)).collect();
    assert!(names.len() > 5, "{names:?}");
    let text = fs::read_to_string("schema/example.orch.io/v1/bakery.yaml").unwrap();
    for name in names {
        let name = name.split('(').next().unwrap();
        assert!(text.contains(&format!("{name}(")), "nothing calls {name}");
    }
}

/// What is used of the language: keywords as `type.keyword`, words as `keyword = word`, forms of a value as
/// `keyword as form`.
struct Uses<'l> {
    language: &'l Value,
    found: BTreeSet<String>,
    /// The objects of the language that were looked at; types contain themselves.
    seen: Vec<&'l Map<String, Value>>,
}

/// A form in which a value can be written: what it is in JSON, its schema, and the type with its keywords.
struct Form<'l> {
    name: &'l str,
    schema: &'l Map<String, Value>,
    holder: &'l str,
}

impl<'l> Uses<'l> {
    fn new(language: &'l Value) -> Self {
        Uses { language, found: BTreeSet::new(), seen: Vec::new() }
    }

    /// What a value uses that stands at a keyword; without a value, all that there can be.
    fn walk(&mut self, schema: &'l Value, (keyword, holder): (&str, &'l str), value: Option<&Value>) {
        let mut forms = Vec::new();
        self.forms(schema, holder, &mut forms);
        let names: BTreeSet<&str> =
            forms.iter().map(|form| form.name).filter(|name| *name != "null").collect();
        // Where a text may stand for a list of one, it is no other form.
        let is_choice = names.len() > 1 && names != BTreeSet::from(["array", "string"]);
        for form in forms.into_iter().filter(|form| value.is_none_or(|value| is_a(value, form.name))) {
            if is_choice && form.name != "null" {
                self.found.insert(format!("{keyword} as {}", form.name));
            }
            let words = form.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            let words = words.filter(|word| !word.is_null() && value.is_none_or(|value| value == *word));
            self.found.extend(words.map(|word| format!("{keyword} = {}", text(word))));
            if let Some(items) = form.schema.get("items") {
                each(value, |value| self.walk(items, (keyword, form.holder), value));
            }
            self.entries(&form, keyword, value);
        }
    }

    /// The keywords of an object, or the entries of a map.
    fn entries(&mut self, form: &Form<'l>, keyword: &str, value: Option<&Value>) {
        let is_seen = || self.seen.iter().any(|seen| std::ptr::eq(*seen, form.schema));
        if form.name != "object" || (value.is_none() && is_seen()) {
            return;
        }
        if value.is_none() {
            self.seen.push(form.schema);
        }
        for (key, schema) in form.schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let of_key = value.map(|value| &value[key]);
            if of_key.is_none_or(|value| !value.is_null()) {
                self.found.insert(format!("{}.{key}", form.holder));
                self.walk(schema, (key, key), of_key);
            }
        }
        if let Some(entry) = form.schema.get("additionalProperties").filter(|entry| entry.is_object()) {
            let keyword = format!("{}.*", keyword.trim_end_matches(".*"));
            each(value, |value| self.walk(entry, (&keyword, form.holder), value));
        }
    }

    fn forms(&self, schema: &'l Value, holder: &'l str, forms: &mut Vec<Form<'l>>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
            return self.forms(&self.language["$defs"][name], name, forms);
        }
        if let Some(alternatives) = schema["anyOf"].as_array() {
            return alternatives.iter().for_each(|schema| self.forms(schema, holder, forms));
        }
        // A schema that says neither allows any value.
        let names = match (&schema["type"], &schema["enum"]) {
            (Value::Array(names), _) => names.iter().filter_map(Value::as_str).collect(),
            (Value::String(name), _) => BTreeSet::from([name.as_str()]),
            (_, Value::Array(words)) => words.iter().map(name_of).collect(),
            _ => return,
        };
        let schema = schema.as_object().unwrap();
        forms.extend(names.into_iter().map(|name| Form { name, schema, holder }));
    }
}

/// Each item or entry of a value; nothing, where there is no value.
fn each(value: Option<&Value>, mut visit: impl FnMut(Option<&Value>)) {
    match value {
        None => visit(None),
        Some(Value::Array(items)) => items.iter().for_each(|item| visit(Some(item))),
        Some(Value::Object(entries)) => entries.values().for_each(|entry| visit(Some(entry))),
        Some(_) => {}
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    name_of(value) == name || (name == "number" && value.is_number())
}

fn text(word: &Value) -> String {
    word.as_str().map_or_else(|| word.to_string(), str::to_owned)
}
