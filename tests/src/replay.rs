//! Replays recorded requests against a running server and compares the answers with the recorded ones.
//!
//! A trace is `{"about", "steps"}`; a step is a request, and under `expect` the answer of a reference server:
//!
//! | key of a step | meaning |
//! |---|---|
//! | `${run}` in any text | a random suffix, so that traces can be replayed side by side |
//! | `${name}` in any text | a value that an earlier step saved |
//! | `save` | `{"name": "/pointer"}`: takes a value from the answer for later steps |
//! | `token` | the caller; `none` for a caller without credentials |
//! | `raw` | a body that is sent as it is |
//! | `ignore` | pointers that are not compared; `*` stands for any one segment |
//! | `subset` | the answer may hold more than was recorded |
//! | `unordered` | lists are compared as bags |
//! | `watch` | `{"events", "seconds"}`: reads the answer as a watch |
//! | `wait`, `retry` | seconds before the step, and seconds of repeating it until it matches |
//!
//! Values that differ from server to server (uids, versions, times) are compared by form. The list of steps
//! that do not match yet is [`waiting`].

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::Value;

mod compare;
mod exchange;
mod names;
mod ordered;
mod player;
mod reasons;
mod scrub;
pub mod waiting;

pub use exchange::Got;
use ordered::Ordered;
pub use player::{Outcome, Player, Verdict};
pub use reasons::reason;

/// A recorded conversation.
#[derive(Debug, Deserialize)]
pub struct Trace {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// What it is about, in one line.
    pub about: String,
    /// Requests and answers, in order.
    pub steps: Vec<Step>,
}

/// One request and its answer.
#[derive(Debug, Deserialize)]
pub struct Step {
    /// Names the step within its trace.
    pub id: String,
    /// HTTP method.
    pub method: String,
    /// Path without the query.
    pub path: String,
    #[serde(default)]
    query: Ordered,
    #[serde(default)]
    headers: Ordered,
    token: Option<String>,
    body: Option<Ordered>,
    raw: Option<String>,
    #[serde(default)]
    save: BTreeMap<String, String>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    subset: bool,
    #[serde(default)]
    unordered: bool,
    watch: Option<WatchStep>,
    #[serde(default)]
    wait: f64,
    #[serde(default)]
    retry: f64,
    expect: Expected,
}

#[derive(Debug, Deserialize)]
struct WatchStep {
    events: usize,
    seconds: f64,
}

#[derive(Debug, Deserialize)]
struct Expected {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    body: Option<Value>,
    text: Option<String>,
    events: Option<Vec<Value>>,
}

impl Trace {
    /// Reads all traces of a directory, by name.
    pub fn read_all(directory: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(directory).expect("the traces are there");
        let paths = entries.map(|entry| entry.expect("the directory can be read").path());
        let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        let mut traces: Vec<Trace> = files.map(|path| Self::read(&path)).collect();
        traces.sort_by(|a, b| a.name.cmp(&b.name));
        traces
    }

    /// How long its pauses are together, in seconds.
    pub fn pauses(&self) -> f64 {
        self.steps.iter().map(|step| step.wait).sum()
    }

    fn read(path: &Path) -> Self {
        let text = std::fs::read(path).expect("the trace can be read");
        let mut trace: Trace = serde_json::from_slice(&text)
            .unwrap_or_else(|error| panic!("{} is no trace: {error}", path.display()));
        trace.name = path.file_stem().expect("the path names a file").to_string_lossy().into_owned();
        trace
    }
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    /// How much of a value is shown.
    const SHOWN: usize = 300;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
