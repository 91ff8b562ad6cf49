//! The list of steps that do not match yet: `waiting.txt`, one line each, `<trace>/<step>: <reason>`.
//!
//! It is kept true from both sides: a step that fails must be listed, and a listed step must fail. Steps that
//! wait for [`MANAGED_FIELDS`] must match in everything else.

use std::{collections::HashMap, fmt::Write, path::Path};

use super::{Outcome, Trace, Verdict, reason};

/// The reason of steps that match except for the records of field ownership.
pub const MANAGED_FIELDS: &str = "managedFields are not tracked yet";

/// Steps that are known not to match, and why.
#[derive(Debug, Default)]
pub struct Waiting(HashMap<(String, String), String>);

impl Waiting {
    /// Reads the list.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("the list of waiting steps is there");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Waiting(
            lines
                .map(|line| parse(line).unwrap_or_else(|| panic!("not a line of the list: {line}")))
                .collect(),
        )
    }

    /// A list that holds every step: for a run in which none is known to match.
    pub fn all(traces: &[Trace]) -> Self {
        let steps = traces.iter().flat_map(|trace| trace.steps.iter().map(|step| (&trace.name, &step.id)));
        Waiting(steps.map(|(trace, step)| ((trace.clone(), step.clone()), String::new())).collect())
    }

    /// Why a step waits, if it does.
    pub fn reason(&self, trace: &str, step: &str) -> Option<&str> {
        self.0.get(&(trace.to_owned(), step.to_owned())).map(String::as_str)
    }

    /// What is wrong with the list, seen how a trace went.
    pub fn complaints(&self, trace: &Trace, outcomes: &[Outcome<'_>]) -> Vec<String> {
        outcomes.iter().filter_map(|outcome| self.complaint(trace, outcome)).collect()
    }

    fn complaint(&self, trace: &Trace, outcome: &Outcome<'_>) -> Option<String> {
        let step = outcome.step;
        let listed = self.reason(&trace.name, &step.id);
        let what = match (listed, &outcome.verdict) {
            (None, Verdict::Matches) | (Some(MANAGED_FIELDS), Verdict::LacksManagedFields) => return None,
            (Some(reason), Verdict::Differs(_)) if reason != MANAGED_FIELDS => return None,
            (Some(reason), Verdict::Matches) => format!("matches now, but is listed: {reason}"),
            (Some(reason), Verdict::LacksManagedFields) => {
                format!("matches now but for managedFields, and is listed with another reason: {reason}")
            }
            (None, Verdict::LacksManagedFields) => "lacks managedFields and is not listed".to_owned(),
            (_, Verdict::Differs(differences)) => differences.join("\n    "),
        };
        Some(format!("{}/{}: {} {}\n    {what}", trace.name, step.id, step.method, step.path))
    }

    /// Every listed step that no trace has.
    pub fn strangers(&self, traces: &[Trace]) -> Vec<String> {
        let known = |trace: &str, step: &str| {
            traces.iter().any(|known| known.name == trace && known.steps.iter().any(|known| known.id == step))
        };
        let mut strangers: Vec<String> = self
            .0
            .keys()
            .filter(|(trace, step)| !known(trace, step))
            .map(|(trace, step)| format!("{trace}/{step}: listed, but there is no such step"))
            .collect();
        strangers.sort();
        strangers
    }
}

fn parse(line: &str) -> Option<((String, String), String)> {
    let (place, reason) = line.split_once(": ")?;
    let (trace, step) = place.split_once('/')?;
    Some(((trace.to_owned(), step.to_owned()), reason.to_owned()))
}

/// The lines of one trace, as they must stand in the list.
pub fn lines(trace: &Trace, outcomes: &[Outcome<'_>]) -> String {
    let mut lines = String::new();
    for outcome in outcomes {
        let reason = match &outcome.verdict {
            Verdict::Matches => continue,
            Verdict::LacksManagedFields => MANAGED_FIELDS.to_owned(),
            Verdict::Differs(_) => reason(outcome),
        };
        writeln!(lines, "{}/{}: {reason}", trace.name, outcome.step.id).expect("a string can be written");
    }
    lines
}
