//! Disruption budgets: numbers and percentages in columns of text.

use orch_runtime::{Tree, resource_def::CellContext};

/// How many pods have to stay: `2` or `50%`.
pub fn budget_min_available(budget: &Tree, _: &CellContext<'_>) -> Tree {
    number_or_percentage(budget, "/spec/minAvailable")
}

/// How many pods may be missing: `2` or `50%`.
pub fn budget_max_unavailable(budget: &Tree, _: &CellContext<'_>) -> Tree {
    number_or_percentage(budget, "/spec/maxUnavailable")
}

fn number_or_percentage(budget: &Tree, pointer: &str) -> Tree {
    match budget.pointer(pointer) {
        Some(Tree::Number(number)) => number.to_string().into(),
        Some(percentage) => percentage.clone(),
        None => "".into(),
    }
}
