//! Why a step does not match yet.

use super::{Outcome, Verdict};

/// The reason of a step that differs; where none is known, the differences themselves, for a person to look
/// at.
pub fn reason(outcome: &Outcome<'_>) -> String {
    let Verdict::Differs(differences) = &outcome.verdict else {
        panic!("{} does not differ", outcome.step.id);
    };
    let differences = differences.join("; ");
    if differences.contains("did not save") {
        return "needs what an earlier waiting step saves".to_owned();
    }
    format!("UNEXPLAINED {differences}")
}
