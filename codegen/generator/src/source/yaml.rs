//! YAML text to a tree of nodes with their places.
//!
//! The parser's events are read instead of a ready-made tree, because a tree has already lost what is to be
//! refused with its place: anchors, aliases, and every duplicate key but one.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use saphyr::Scalar;
use saphyr_parser::{Event, Parser, ScalarStyle, Span as Range, Tag};

use super::{Node, Spanned, Value};
use crate::diagnostic::{Diagnostics, Span};

/// Deeper than any schema that a person would write; it bounds the recursion of everything that walks a tree.
const MAX_DEPTH: usize = 64;

/// How many maps are around a type: the document, `components`, `schemas`.
const AROUND_TYPE: usize = 3;

/// Parses a file of one document. Mistakes are reported; a syntax error leaves the types before it.
pub(super) fn parse(file: &Arc<PathBuf>, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let mut builder =
        Builder { file, lines: text.lines().collect(), diagnostics, open: Vec::new(), root: None };
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        match event {
            Ok((Event::DocumentStart(_), range)) => {
                documents += 1;
                if documents == 2 {
                    let span = builder.span(range);
                    let help = "a schema file is one document: move this one to a file of its own";
                    builder.diagnostics.error(&span, "second YAML document in one file", help).code("E0111");
                    break;
                }
            }
            Ok((event, range)) => builder.event(event, range)?,
            Err(error) => {
                let marker = *error.marker();
                let span = builder.span(Range::empty(marker));
                let message = format!("not valid YAML: {}", error.info());
                let help = builder.lost_reference(span.line).map_or_else(
                    || "check indentation, quotes and brackets up to here".to_owned(),
                    |line| format!("put the reference in line {line} in quotes: `#` begins a comment"),
                );
                builder.diagnostics.error(&span, message, help).code("E0111");
                builder.diagnostics.cut_off(file);
                return builder.before_the_error();
            }
        }
    }
    if builder.root.is_none() {
        let span = Span { file: Arc::clone(file), line: 1, column: 1, length: 1 };
        builder
            .diagnostics
            .error(&span, "the file is empty", "write a schema into it, or remove it")
            .code("E0111");
    }
    builder.root
}

struct Builder<'b> {
    file: &'b Arc<PathBuf>,
    lines: Vec<&'b str>,
    diagnostics: &'b mut Diagnostics,
    open: Vec<Open>,
    root: Option<Node>,
}

/// A list or map whose end has not been seen.
enum Open {
    List(Range, Vec<Node>),
    Map(Range, Vec<(Spanned<String>, Node)>, Option<Key>),
}

/// The key whose value comes next.
enum Key {
    Good(Spanned<String>),
    /// Reported already: its value is dropped.
    Bad,
}

impl Builder<'_> {
    /// Handles one event; `None` stops the reading.
    fn event(&mut self, event: Event<'_>, range: Range) -> Option<()> {
        let span = self.span(range);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_decoration(&span, anchor, tag.as_deref());
                let value = self.scalar(&span, text, style);
                self.add(Node { span, value });
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_decoration(&span, anchor, tag.as_deref());
                self.open(Open::List(range, Vec::new()))?;
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_decoration(&span, anchor, tag.as_deref());
                self.open(Open::Map(range, Vec::new(), None))?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (start, value) = match self.open.pop()? {
                    Open::List(start, items) => (start, Value::List(items)),
                    Open::Map(start, entries, _) => (start, Value::Map(entries)),
                };
                let span = self.span(Range::new(start.start, range.end));
                self.add(Node { span, value });
            }
            Event::Alias(_) => {
                let help =
                    "schema files have no aliases: write the value out, or name a type and refer to it";
                self.diagnostics.error(&span, "YAML alias", help).code("E0112");
                self.add(Node { span, value: Value::Reported });
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        Some(())
    }

    /// The document as far as it was read, without the type in which the reading ended: what is said about
    /// that one would be wrong. `None` where no type was reached.
    fn before_the_error(mut self) -> Option<Node> {
        self.open.truncate(AROUND_TYPE);
        let (mut inner, mut count) = (Value::Reported, 0);
        while let Some(open) = self.open.pop() {
            let Open::Map(start, mut entries, key) = open else { return None };
            if let Some(Key::Good(key)) = key {
                let span = key.span.clone();
                entries.push((key, Node { span, value: inner }));
            }
            let span = self.span(start);
            (inner, count) = (Value::Map(entries), count + 1);
            self.root = Some(Node { span, value: inner.clone() });
        }
        self.root.filter(|_| count == AROUND_TYPE)
    }

    fn open(&mut self, open: Open) -> Option<()> {
        if self.open.len() == MAX_DEPTH {
            let (Open::List(start, _) | Open::Map(start, _, _)) = &open;
            let span = self.span(*start);
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            self.diagnostics
                .error(&span, message, "give inner types names under components.schemas")
                .code("E0111");
            return None;
        }
        self.open.push(open);
        Some(())
    }

    /// Puts a finished node where it belongs: into the open list or map, or at the root.
    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, entries, key)) => match key.take() {
                None => *key = Some(read_key(node, entries, self.diagnostics)),
                Some(Key::Good(key)) => entries.push((key, node)),
                Some(Key::Bad) => {}
            },
        }
    }

    fn scalar(&mut self, span: &Span, text: Cow<'_, str>, style: ScalarStyle) -> Value {
        match Scalar::parse_from_cow_and_metadata(text, style, None) {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Boolean(value)) => Value::Boolean(value),
            Some(Scalar::Integer(value)) => Value::Integer(value),
            Some(Scalar::FloatingPoint(value)) if value.is_finite() => Value::Number(value.into_inner()),
            Some(Scalar::FloatingPoint(_)) => {
                let help = "JSON has no such number: leave the key out, or put the text in quotes";
                self.diagnostics.error(span, "infinite or undefined number", help).code("E0114");
                Value::Reported
            }
            Some(Scalar::String(text)) => Value::String(text.into_owned()),
        }
    }

    fn refuse_decoration(&mut self, span: &Span, anchor: usize, tag: Option<&Tag>) {
        if anchor != 0 {
            let help = "schema files have no anchors: name a type under components.schemas and refer to it";
            self.diagnostics.error(span, "YAML anchor", help).code("E0112");
        }
        if let Some(tag) = tag {
            let help = "remove it: the type follows from the value, and quotes make a string";
            self.diagnostics
                .error(span, format!("YAML tag `{}{}`", tag.handle, tag.suffix), help)
                .code("E0112");
        }
    }

    /// The characters of a range that stand on its first line. What begins after the last line is at its end.
    /// The last line up to this one, from 1, of which the YAML sees nothing behind `$ref:`.
    fn lost_reference(&self, line: usize) -> Option<usize> {
        let before = &self.lines[..line.min(self.lines.len())];
        before.iter().rposition(|line| line.contains("$ref: #")).map(|index| index + 1)
    }

    fn span(&self, range: Range) -> Span {
        let (start, end) = (range.start, range.end);
        let characters =
            |line: usize| self.lines.get(line - 1).map_or(0, |line| line.trim_end().chars().count());
        let (line, column, length) = if start.line() > self.lines.len() {
            let last = self.lines.len().max(1);
            (last, characters(last) + 1, 1)
        } else if start.line() == end.line() {
            (start.line(), start.col() + 1, end.col().saturating_sub(start.col()))
        } else {
            (start.line(), start.col() + 1, characters(start.line()).saturating_sub(start.col()))
        };
        Span { file: Arc::clone(self.file), line, column, length: length.max(1) }
    }
}

/// A node in the place of a key.
fn read_key(node: Node, entries: &[(Spanned<String>, Node)], diagnostics: &mut Diagnostics) -> Key {
    let Value::String(name) = node.value else {
        let message = format!("the key is {}, not a string", node.noun());
        diagnostics.error(&node.span, message, "put it in quotes").code("E0113");
        return Key::Bad;
    };
    if name == "<<" {
        diagnostics
            .error(&node.span, "YAML merge key", "schema files have no merge keys: write the entries out")
            .code("E0112");
        return Key::Bad;
    }
    if let Some((first, _)) = entries.iter().find(|(key, _)| key.value == name) {
        let message = format!("duplicate key `{name}`");
        let found = diagnostics.error(&node.span, message, "remove one of the two");
        found.related(&first.span, "first given here").code("E0113");
        return Key::Bad;
    }
    Key::Good(Spanned { value: name, span: node.span })
}
