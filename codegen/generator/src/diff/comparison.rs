//! What a comparison works with, and what it finds.

use std::collections::{BTreeMap, BTreeSet};

use super::state::State;
use crate::{diagnostic::Span, source::Node};

/// A breaking change.
#[derive(Debug)]
pub struct Finding {
    /// Which kind of change.
    pub code: &'static str,
    /// What has changed: `example.orch.io.v1.WidgetSpec.size`.
    pub at: String,
    /// What, in one line.
    pub message: String,
    /// What to do instead, in one line.
    pub help: String,
    /// Where it is now; what held it, where it is gone.
    pub new: Span,
    /// Where it was.
    pub old: Span,
    /// What was there.
    pub was: String,
}

/// A comparison of two states.
#[derive(Debug)]
pub(super) struct Comparison<'s> {
    pub old: &'s State,
    pub new: &'s State,
    pub found: Vec<Finding>,
    /// The gates of the old state, each with the map that describes it.
    pub old_gates: BTreeMap<&'s str, Option<&'s Node>>,
    /// Those of the new one.
    pub new_gates: BTreeMap<&'s str, Option<&'s Node>>,
    /// The pairs of types that have been compared.
    compared: BTreeSet<(&'s str, &'s str)>,
    /// Pairs that are still to be compared.
    pending: Vec<(&'s str, &'s str)>,
}

/// A node and where its name is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'s> {
    pub node: &'s Node,
    pub span: &'s Span,
}

impl<'s> Comparison<'s> {
    pub fn new(old: &'s State, new: &'s State) -> Self {
        let (old_gates, new_gates) = (old.gates(), new.gates());
        Comparison {
            old,
            new,
            found: Vec::new(),
            old_gates,
            new_gates,
            compared: BTreeSet::new(),
            pending: Vec::new(),
        }
    }

    /// Has two types compared, by name, if they were not.
    pub fn types(&mut self, old: &'s str, new: &'s str) {
        if self.compared.insert((old, new)) {
            self.pending.push((old, new));
        }
    }

    /// A pair of types that is still to be compared.
    pub fn next_types(&mut self) -> Option<(&'s str, &'s str)> {
        self.pending.pop()
    }

    /// Whether a type of the old state has been compared with any.
    pub fn has_compared(&self, old: &str) -> bool {
        self.compared.range((old, "")..).next().is_some_and(|(compared, _)| *compared == old)
    }

    /// Adds a finding about a keyword that both sides may have.
    pub fn keyword(
        &mut self,
        code: &'static str,
        at: &str,
        keyword: &str,
        (old, new): (Named<'s>, Named<'s>),
        (message, help): (String, &str),
    ) {
        let place = |side: Named<'s>| match side.node.get(keyword) {
            Some(_) => side.node.place(keyword).clone(),
            None => side.span.clone(),
        };
        let was = old
            .node
            .get(keyword)
            .map_or_else(|| format!("there was no `{keyword}`"), |node| format!("it was {}", shown(node)));
        let (at, help) = (at.to_owned(), help.to_owned());
        self.found.push(Finding { code, at, message, help, new: place(new), old: place(old), was });
    }
}

/// The last two parts of a name: `WidgetSpec.size`.
pub(super) fn last(at: &str) -> &str {
    let mut dots = at.rmatch_indices('.').map(|(index, _)| index + 1);
    dots.nth(1).map_or(at, |start| &at[start..])
}

/// A value as it may be written.
pub(super) fn shown(node: &Node) -> String {
    /// Longer ones are cut off.
    const MAX: usize = 60;
    let text = node.to_json().to_string();
    if text.chars().count() <= MAX {
        return format!("`{text}`");
    }
    let cut: String = text.chars().take(MAX).collect();
    format!("`{cut}...`")
}
