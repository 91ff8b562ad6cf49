//! What was done, from when to when.

use std::{borrow::Cow, time::Duration};

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A part of the work.
    Internal,
    /// A request that was answered.
    Server,
    /// A call of another server.
    Client,
}

/// A value that describes a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

/// A piece of work of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its id; never 0.
    pub id: u64,
    /// The span that it is a part of.
    pub parent: Option<u64>,
    /// What was done; one of few.
    pub name: Cow<'static, str>,
    /// What it is about.
    pub role: Role,
    /// When it began, since 1970.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// What is known of it, by the names of OpenTelemetry's semantic conventions.
    pub attributes: Vec<(&'static str, Value)>,
    /// Why it failed.
    pub failure: Option<String>,
}

impl Value {
    /// A text of so many bytes at most.
    pub fn text(text: &str) -> Self {
        /// Nobody needs more to recognize a path or a program.
        const MAX: usize = 1024;
        Value::Text(text[..text.floor_char_boundary(MAX)].to_owned())
    }
}
