//! Why a step does not match yet, from what it asks for. The tables are ordered: the first rule that fits is taken.

use super::{Ordered, Outcome, Trace, Verdict};

/// Resources of the recorded server that are not served here yet.
const UNSERVED_RESOURCES: &[&str] =
    &["nodes", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "services"];

/// Groups of which nothing is served here yet.
const UNSERVED_GROUPS: &[&str] = &[
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// What a rule looks at.
struct Asked<'o> {
    trace: &'o str,
    query: String,
    headers: String,
    is_admin: bool,
    expected: u16,
    status: u16,
    differences: String,
}

/// A rule and its reason.
type Rule = (fn(&Asked<'_>) -> bool, &'static str);

const RULES: &[Rule] = &[
    (|asked| asked.differences.contains("did not save"), "needs what an earlier waiting step saves"),
    (|asked| asked.headers.contains("as=Table"), "tables come later"),
    (|asked| asked.headers.contains("as=PartialObjectMetadata"), "metadata-only forms come later"),
    (|asked| asked.headers.contains("/apply-patch+"), "server-side apply comes later"),
    (|asked| asked.headers.contains("application/yaml"), "YAML comes later"),
    (|asked| asked.headers.contains("Impersonate-"), "impersonation comes later"),
    (|asked| asked.query.contains("limit=") || asked.query.contains("continue="), "paging comes later"),
    (|asked| asked.trace == "bootstrap-token", "bootstrap tokens come later"),
    (|asked| asked.trace == "cluster-info", "the signing of cluster-info comes later"),
    (
        |asked| asked.trace.starts_with("apply") || asked.trace == "managed-fields-order",
        "an earlier step applies",
    ),
    (|asked| asked.trace == "yaml", "an earlier step sends YAML"),
    (|asked| asked.trace.starts_with("gc-"), "garbage collection comes later"),
    (|asked| !asked.is_admin && asked.expected == 403 && asked.status != 403, "access by roles comes later"),
];

/// The reason of a step that differs; where no rule fits, the differences themselves, for a person to look at.
pub fn reason(trace: &Trace, outcome: &Outcome<'_>) -> String {
    let Verdict::Differs(differences) = &outcome.verdict else {
        panic!("{} does not differ", outcome.step.id);
    };
    let step = outcome.step;
    if let Some(what) = unserved(&step.path) {
        return format!("{what} not served yet");
    }
    let pairs = |pairs: &Ordered| {
        let pairs: Vec<String> = pairs.texts().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join("&")
    };
    let asked = Asked {
        trace: &trace.name,
        query: pairs(&step.query),
        headers: pairs(&step.headers),
        is_admin: step.token.is_none(),
        expected: step.expect.status,
        status: outcome.got.as_ref().map_or(0, |got| got.status),
        differences: differences.join("; "),
    };
    let rule = RULES.iter().find(|(fits, _)| fits(&asked));
    rule.map_or_else(|| format!("UNEXPLAINED {}", asked.differences), |(_, reason)| (*reason).to_owned())
}

/// What of a path is not served, with its verb: `pods are`.
fn unserved(path: &str) -> Option<String> {
    let mut segments = path.trim_start_matches('/').split('/');
    if segments.next()? == "apis" {
        let group = segments.next()?;
        return UNSERVED_GROUPS.contains(&group).then(|| format!("the group {group} is"));
    }
    let resource = segments.find(|segment| UNSERVED_RESOURCES.contains(segment))?;
    Some(format!("{resource} are"))
}
