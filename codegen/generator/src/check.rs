//! Rules over the whole model, each a function of its own. All of them run, whatever the others find.

use crate::{diagnostic::Diagnostics, lower::Lowered};

/// Runs every rule.
pub fn check(_lowered: &Lowered<'_>, _diagnostics: &mut Diagnostics) {}
