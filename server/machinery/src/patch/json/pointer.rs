//! JSON pointers, RFC 6901, with negative list indexes that count from the end.

use std::fmt;

use orch_runtime::Tree;

/// A path in a document: names and indexes from the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    tokens: Vec<String>,
}

impl Pointer {
    /// Reads `""` or `/a/b~1c/0`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return if text.is_empty() {
                Ok(Pointer { tokens: Vec::new() })
            } else {
                Err(format!("path {text:?} does not begin with a slash"))
            };
        };
        Ok(Pointer {
            tokens: rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect(),
        })
    }

    /// Whether it points to the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The number of names and indexes.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The value that it points to.
    pub(super) fn find<'t>(&self, root: &'t Tree) -> Option<&'t Tree> {
        find(&self.tokens, root)
    }

    /// The value that contains the target. None for the root.
    pub(super) fn find_parent<'t>(&self, root: &'t Tree) -> Option<&'t Tree> {
        let (_, steps) = self.tokens.split_last()?;
        find(steps, root)
    }

    /// The value that contains the target, and the name or index of the target in it. None for the root.
    pub(super) fn parent<'t>(&self, root: &'t mut Tree) -> Option<(&'t mut Tree, &str)> {
        let (last, steps) = self.tokens.split_last()?;
        let parent = steps.iter().try_fold(root, |value, token| match value {
            Tree::Object(map) => map.get_mut(token),
            Tree::Array(items) => {
                let at = index(token, items.len())?;
                items.get_mut(at)
            }
            _ => None,
        })?;
        Some((parent, last))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.tokens {
            write!(out, "/{}", token.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

fn find<'t>(steps: &[String], root: &'t Tree) -> Option<&'t Tree> {
    steps.iter().try_fold(root, |value, token| match value {
        Tree::Object(map) => map.get(token),
        Tree::Array(items) => items.get(index(token, items.len())?),
        _ => None,
    })
}

/// The index that a token means in a list of `len` items; negative ones count from the end.
pub(super) fn index(token: &str, len: usize) -> Option<usize> {
    let number: i64 = token.parse().ok()?;
    let position = if number < 0 { number.checked_add(i64::try_from(len).ok()?)? } else { number };
    usize::try_from(position).ok().filter(|position| *position < len)
}
