//! From text to tree.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput, Tag};

use crate::{
    Fault,
    node::{Content, Node, Place},
};

/// How many maps and lists may be in one another.
const MAX_DEPTH: usize = 64;

/// How many nodes a file may have, where aliases count as what they stand for.
const MAX_NODES: usize = 100_000;

/// The tree of a text with one document. A text without any is a null.
pub(crate) fn compose(text: &str) -> Result<Rc<Node>, Fault> {
    let mut options = Options::default();
    // Other crates may turn them on.
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    let mut composer = Composer { parser, anchors: HashMap::new(), nodes: 0 };
    let (place, event) = composer.next()?;
    if matches!(event, Event::StreamEnd) {
        return Ok(Rc::new(Node { place, content: Content::Scalar(String::new(), false), size: 1 }));
    }
    let (place, event) = composer.next()?;
    let root = composer.node(place, event, 0)?;
    let (_end, (place, more)) = (composer.next()?, composer.next()?);
    match more {
        Event::StreamEnd => Ok(root),
        _ => Err((place, "there is a second document; one is read".to_owned())),
    }
}

struct Composer<'t> {
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Rc<Node>>,
    nodes: usize,
}

impl<'t> Composer<'t> {
    /// The next event and the place where it begins.
    fn next(&mut self) -> Result<(Place, Event<'t>), Fault> {
        loop {
            match self.parser.next() {
                Some(Ok((Event::StreamStart, _))) => {}
                Some(Ok((event, span))) => return Ok((place(span.start.line(), span.start.col()), event)),
                Some(Err(error)) => {
                    let place = place(error.marker().line(), error.marker().col());
                    return Err((place, error.info()));
                }
                None => return Ok(((1, 1), Event::StreamEnd)),
            }
        }
    }

    /// The node that begins with an event.
    fn node(&mut self, place: Place, event: Event<'t>, depth: usize) -> Result<Rc<Node>, Fault> {
        if depth > MAX_DEPTH {
            return Err((place, format!("more than {MAX_DEPTH} lists and maps are in one another here")));
        }
        let (content, anchor) = match event {
            Event::Alias(anchor) => return self.alias(place, anchor),
            Event::Scalar(text, style, anchor, tag) => {
                let is_quoted = style != ScalarStyle::Plain || is_text(place, tag.as_deref())?;
                (Content::Scalar(text.into_owned(), is_quoted), anchor)
            }
            Event::SequenceStart(_, anchor, None) => (Content::List(self.list(depth)?), anchor),
            Event::MappingStart(_, anchor, None) => (Content::Map(self.map(depth)?), anchor),
            Event::SequenceStart(..) | Event::MappingStart(..) => return Err((place, TAGS.to_owned())),
            _ => return Err((place, "a value is wanted here".to_owned())),
        };
        let inside: usize = match &content {
            Content::Scalar(..) => 0,
            Content::List(items) => items.iter().map(|item| item.size).sum(),
            Content::Map(entries) => entries.iter().map(|(_, _, value)| value.size).sum(),
        };
        self.count(place, 1)?;
        let node = Rc::new(Node { place, content, size: 1 + inside });
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    /// What an alias stands for.
    fn alias(&mut self, place: Place, anchor: usize) -> Result<Rc<Node>, Fault> {
        let inside_itself = || (place, "this alias stands inside of what it stands for".to_owned());
        let node = Rc::clone(self.anchors.get(&anchor).ok_or_else(inside_itself)?);
        self.count(place, node.size)?;
        Ok(node)
    }

    fn count(&mut self, place: Place, nodes: usize) -> Result<(), Fault> {
        self.nodes += nodes;
        let is_too_long = self.nodes > MAX_NODES;
        if is_too_long { Err((place, format!("the file has more than {MAX_NODES} values"))) } else { Ok(()) }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Rc<Node>>, Fault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (_, Event::SequenceEnd) => return Ok(items),
                (place, event) => items.push(self.node(place, event, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(String, Place, Rc<Node>)>, Fault> {
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        loop {
            let (place, name) = match self.next()? {
                (_, Event::MappingEnd) => return Ok(entries),
                (place, Event::Scalar(name, _, _, None)) => (place, name.into_owned()),
                (place, _) => return Err((place, "a name is wanted here".to_owned())),
            };
            if !names.insert(name.clone()) {
                return Err((place, format!("{name:?} stands here twice")));
            }
            let (begin, event) = self.next()?;
            entries.push((name, place, self.node(begin, event, depth + 1)?));
        }
    }
}

const TAGS: &str = "tags are not read here";

/// Whether a tag says that a scalar is a text. Other tags are refused.
fn is_text(place: Place, tag: Option<&Tag>) -> Result<bool, Fault> {
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix() == "str" => Ok(true),
        Some(_) => Err((place, TAGS.to_owned())),
    }
}

/// From a line that is counted from 1 and a column that is counted from 0.
fn place(line: usize, column: usize) -> Place {
    (line as u64, column as u64 + 1)
}
