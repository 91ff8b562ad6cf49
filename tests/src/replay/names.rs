//! `${name}` in the texts of a trace.

use std::{collections::HashMap, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

use super::ordered::Ordered;

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{(\w+)\}").expect("the pattern is valid"));

/// What earlier steps saved.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, String>);

/// No earlier step saved this name.
#[derive(Debug)]
pub struct Unsaved(pub String);

impl Names {
    /// Begins with one name, `run`: the suffix of this run.
    pub fn new(run: String) -> Self {
        Names(HashMap::from([("run".to_owned(), run)]))
    }

    /// Remembers a value under a name.
    pub fn save(&mut self, name: &str, value: &Value) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.0.insert(name.to_owned(), text);
    }

    /// The text with its references replaced.
    pub fn fill(&self, text: &str) -> Result<String, Unsaved> {
        let missing = REFERENCE.captures_iter(text).find(|found| !self.0.contains_key(&found[1]));
        if let Some(missing) = missing {
            return Err(Unsaved(missing[1].to_owned()));
        }
        Ok(REFERENCE.replace_all(text, |found: &Captures<'_>| self.0[&found[1]].clone()).into_owned())
    }

    /// The same for all texts of a document that is sent.
    pub fn fill_ordered(&self, document: &Ordered) -> Result<Ordered, Unsaved> {
        document.try_map(&|text: &str| self.fill(text))
    }

    /// The same for all texts of a document that is expected.
    pub fn fill_value(&self, document: &Value) -> Result<Value, Unsaved> {
        Ok(match document {
            Value::String(text) => Value::String(self.fill(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.fill_value(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| Ok((self.fill(key)?, self.fill_value(value)?)))
                    .collect::<Result<_, Unsaved>>()?,
            ),
            other => other.clone(),
        })
    }
}
