//! `orch-codegen diff` and `lock`: which changes of schema files break clients.
//!
//! Two states are compared, each a folder or a lock. What a version promises stays, by the deprecation
//! policy: nothing in it goes, becomes narrower or means something else; versions come and go in steps. Alpha
//! versions and fields of alpha features promise nothing. Each kind of change has a code, and can be allowed
//! with a reason, which the lock records.

pub mod codes;
mod comparison;
mod conversions;
mod elements;
mod fields;
mod gates;
mod kinds;
pub mod lock;
pub mod releases;
mod rules;
mod stability;
pub mod state;
pub mod surface;
mod types;
mod values;
mod versions;

use std::{fs, path::Path, str::FromStr};

use comparison::Comparison;
pub use comparison::Finding;
pub use stability::Stability;
use state::{Accepted, State};

use crate::{
    Inputs,
    diagnostic::{Diagnostic, Diagnostics, Severity},
};

/// `CODE=REASON`, or `CODE@PLACE=REASON` for one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    code: String,
    at: Option<String>,
    reason: String,
}

impl FromStr for Allowance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write CODE=REASON, or CODE@PLACE=REASON".to_owned();
        let (what, reason) = text.split_once('=').ok_or_else(wrong)?;
        let (code, at) = what.split_once('@').map_or((what, None), |(code, at)| (code, Some(at.to_owned())));
        if reason.trim().is_empty() {
            return Err(wrong());
        }
        if !codes::ALL.contains(&code) {
            return Err(format!("no change has the code {code}"));
        }
        Ok(Allowance { code: code.to_owned(), at, reason: reason.trim().to_owned() })
    }
}

impl Allowance {
    fn covers(&self, finding: &Finding) -> bool {
        self.code == finding.code && self.at.as_ref().is_none_or(|at| *at == finding.at)
    }
}

/// What a comparison comes to.
#[derive(Debug)]
pub struct Judged {
    /// Breaking changes as errors; those that are allowed, and what does not break anything, as warnings.
    pub diagnostics: Diagnostics,
    /// What was allowed.
    pub accepted: Vec<Accepted>,
}

/// Every breaking change.
pub fn compare(old: &State, new: &State) -> Vec<Finding> {
    let mut cx = Comparison::new(old, new);
    for (name, old_type, resource) in old.kinds() {
        if old_type.stability() == Stability::Alpha {
            continue;
        }
        match new.ty(name).filter(|ty| ty.resource().is_some()) {
            Some(new_type) => kinds::compare(&mut cx, name, old_type, new_type),
            None => kinds::removed(&mut cx, name, old_type, resource),
        }
    }
    types::compare_pending(&mut cx);
    // Those that no kind refers to: another folder may.
    for (name, ty) in &old.types {
        if ty.stability() != Stability::Alpha && ty.resource().is_none() && !cx.has_compared(name) {
            cx.types(name, name);
        }
        types::compare_pending(&mut cx);
    }
    gates::compare(&mut cx);
    versions::compare(&mut cx);
    elements::compare(&mut cx);
    cx.found
}

/// Turns findings into a report. `diagnostics` remembers the texts of both sides.
pub fn judge(findings: Vec<Finding>, allowed: &[Allowance], mut diagnostics: Diagnostics) -> Judged {
    let mut accepted = Vec::new();
    for finding in findings {
        let allowance = allowed.iter().find(|allowance| allowance.covers(&finding));
        let severity = if allowance.is_some() { Severity::Warning } else { Severity::Error };
        let Finding { code, at, message, help, new, old, was } = finding;
        let help = allowance.map_or(help, |allowance| format!("allowed: {}", allowance.reason));
        if let Some(Allowance { reason, .. }) = allowance {
            accepted.push(Accepted { code: code.to_owned(), at, reason: reason.clone() });
        }
        let related = Some((old, was));
        diagnostics.add(Diagnostic { span: new, severity, message, help, code, related });
    }
    accepted.sort();
    accepted.dedup();
    Judged { diagnostics, accepted }
}

/// The state at a path: of a lock, where it is a file, otherwise of a folder with these imports.
pub fn state(inputs: &Inputs, diagnostics: &mut Diagnostics) -> Option<State> {
    if inputs.schema.path.is_file() {
        lock::read(&inputs.schema.path, diagnostics)
    } else {
        State::of_folder(inputs, diagnostics)
    }
}

/// Writes the lock of a folder. Changes since the one that is there which break clients have to be allowed:
/// otherwise nothing is written, and the report has errors. What was accepted before stays recorded.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_lock(
    mut new: State,
    path: &Path,
    allowed: &[Allowance],
    mut diagnostics: Diagnostics,
) -> std::io::Result<Judged> {
    let mut judged = Judged { diagnostics: Diagnostics::default(), accepted: Vec::new() };
    if path.exists() {
        let Some(old) = lock::read(path, &mut diagnostics) else {
            return Ok(Judged { diagnostics, accepted: Vec::new() });
        };
        judged = judge(compare(&old, &new), allowed, diagnostics);
        new.retire_tags(&old);
        new.accepted = old.accepted;
    }
    new.accepted.extend(judged.accepted.iter().cloned());
    new.accepted.sort();
    new.accepted.dedup();
    if !judged.diagnostics.has_errors() {
        fs::write(path, lock::text(&new))?;
    }
    Ok(judged)
}
