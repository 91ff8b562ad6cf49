//! Why a step does not match yet, judged by its request. The tables are ordered: the first rule that fits is
//! taken.

use super::{Outcome, Trace, Verdict};

/// What a rule looks at.
struct Asked<'o> {
    trace: &'o str,
    is_admin: bool,
    expected: u16,
    status: u16,
    differences: String,
}

/// A rule and its reason.
type Rule = (fn(&Asked<'_>) -> bool, &'static str);

const RULES: &[Rule] = &[
    (|asked| asked.differences.contains("did not save"), "needs what an earlier waiting step saves"),
    (|asked| asked.trace == "rbac-aggregation", "the filling of aggregated roles comes later"),
    (|asked| asked.trace == "rbac-escalation", "the check of what a role grants comes later"),
    (|asked| asked.differences.contains("RBAC: allowed by"), "access by roles comes later"),
    (
        |asked| asked.differences.contains("/status/allowed: true, expected false"),
        "access by roles comes later",
    ),
    (|asked| asked.trace == "self-rules", "access by roles comes later"),
    (|asked| !asked.is_admin && asked.expected == 403 && asked.status != 403, "access by roles comes later"),
];

/// The reason of a step that differs; where no rule fits, the differences themselves, for a person to look
/// at.
pub fn reason(trace: &Trace, outcome: &Outcome<'_>) -> String {
    let Verdict::Differs(differences) = &outcome.verdict else {
        panic!("{} does not differ", outcome.step.id);
    };
    let step = outcome.step;
    let asked = Asked {
        trace: &trace.name,
        is_admin: step.token.is_none(),
        expected: step.expect.status,
        status: outcome.got.as_ref().map_or(0, |got| got.status),
        differences: differences.join("; "),
    };
    let rule = RULES.iter().find(|(fits, _)| fits(&asked));
    rule.map_or_else(|| format!("UNEXPLAINED {}", asked.differences), |(_, reason)| (*reason).to_owned())
}
