//! Why a step does not match yet, from what it asks for. The table is ordered: the first rule that fits is taken.

use super::{Ordered, Outcome, Trace, Verdict};

/// What a rule looks at.
struct Asked<'o> {
    trace: &'o str,
    method: &'o str,
    path: &'o str,
    query: String,
    headers: String,
    token: &'o str,
    status: u16,
    differences: String,
}

type Rule = (fn(&Asked<'_>) -> bool, &'static str);

const RULES: &[Rule] = &[
    (|asked| asked.differences.contains("did not save"), "needs what an earlier waiting step saves"),
];

/// The reason of a step that differs; where no rule fits, the first difference.
pub fn reason(trace: &Trace, outcome: &Outcome<'_>) -> String {
    let Verdict::Differs(differences) = &outcome.verdict else {
        panic!("{} does not differ", outcome.step.id);
    };
    let step = outcome.step;
    let pairs = |pairs: &Ordered| {
        let pairs: Vec<String> = pairs.texts().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join("&")
    };
    let asked = Asked {
        trace: &trace.name,
        method: &step.method,
        path: &step.path,
        query: pairs(&step.query),
        headers: pairs(&step.headers),
        token: step.token.as_deref().unwrap_or("admin"),
        status: outcome.got.as_ref().map_or(0, |got| got.status),
        differences: differences.join("; "),
    };
    let rule = RULES.iter().find(|(fits, _)| fits(&asked));
    rule.map_or_else(|| format!("UNEXPLAINED {}", asked.differences), |(_, reason)| (*reason).to_owned())
}
