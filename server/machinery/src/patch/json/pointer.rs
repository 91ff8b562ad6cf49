//! JSON pointers, RFC 6901, with negative list indexes that count from the end.

use std::{borrow::Cow, fmt};

use orch_runtime::Tree;

/// A path in a document: names and indexes from the root. It keeps its text: a list of its tokens would take
/// many times the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    /// Empty, or tokens with a slash before each.
    text: String,
}

impl Pointer {
    /// Reads `""` or `/a/b~1c/0`. As in the reference server, what stands before the first slash does not
    /// count.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.find('/') {
            None if text.is_empty() => Ok(Pointer { text: String::new() }),
            None => Err(format!("path {text:?} has no slash")),
            Some(begin) => Ok(Pointer { text: text[begin..].to_owned() }),
        }
    }

    /// Whether it points to the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// The number of names and indexes.
    pub(super) fn len(&self) -> usize {
        self.text.matches('/').count()
    }

    /// The names and indexes, from the root on.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        tokens(&self.text)
    }

    /// The value that it points to.
    pub(super) fn find<'t>(&self, root: &'t Tree) -> Option<&'t Tree> {
        find(&self.text, root)
    }

    /// The value that contains the target. None for the root.
    pub(super) fn find_parent<'t>(&self, root: &'t Tree) -> Option<&'t Tree> {
        let (steps, _) = self.text.rsplit_once('/')?;
        find(steps, root)
    }

    /// The value that contains the target, and the name or index of the target in it. None for the root.
    pub(super) fn parent<'t>(&self, root: &'t mut Tree) -> Option<(&'t mut Tree, Cow<'_, str>)> {
        let (steps, last) = self.text.rsplit_once('/')?;
        let parent = tokens(steps).try_fold(root, |value, token| match value {
            Tree::Object(map) => map.get_mut(&*token),
            Tree::Array(items) => {
                let at = index(&token, items.len())?;
                items.get_mut(at)
            }
            _ => None,
        })?;
        Some((parent, unescaped(last)))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in tokens(&self.text) {
            write!(out, "/{}", token.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

/// The names and indexes of a text with a slash before each.
fn tokens(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('/').skip(1).map(unescaped)
}

fn unescaped(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}

fn find<'t>(steps: &str, root: &'t Tree) -> Option<&'t Tree> {
    tokens(steps).try_fold(root, |value, token| match value {
        Tree::Object(map) => map.get(&*token),
        Tree::Array(items) => items.get(index(&token, items.len())?),
        _ => None,
    })
}

/// The index that a token means in a list of `len` items; negative ones count from the end.
pub(super) fn index(token: &str, len: usize) -> Option<usize> {
    let number: i64 = token.parse().ok()?;
    let position = if number < 0 { number.checked_add(i64::try_from(len).ok()?)? } else { number };
    usize::try_from(position).ok().filter(|position| *position < len)
}
