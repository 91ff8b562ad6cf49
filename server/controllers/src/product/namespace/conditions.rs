//! The conditions of a namespace that is being deleted. Types, reasons and messages are those of the
//! reference, which people and programs look for.

use std::collections::BTreeMap;

use orch_runtime::{Tree, scalar::Time};
use serde_json::json;

use super::content::Left;

/// A condition, and its reason and message while nothing is wrong.
struct Kind {
    type_: &'static str,
    reason: &'static str,
    message: &'static str,
    /// Reason and message where something is.
    wrong: fn(&Left) -> Option<(&'static str, String)>,
}

/// All of them, in the order in which they are shown.
const KINDS: [Kind; 5] = [
    Kind {
        type_: "NamespaceDeletionDiscoveryFailure",
        reason: "ResourcesDiscovered",
        message: "All resources successfully discovered",
        wrong: |_| None,
    },
    Kind {
        type_: "NamespaceDeletionGroupVersionParsingFailure",
        reason: "ParsedGroupVersions",
        message: "All legacy kube types successfully parsed",
        wrong: |_| None,
    },
    Kind {
        type_: "NamespaceDeletionContentFailure",
        reason: "ContentDeleted",
        message: "All content successfully deleted, may be waiting on finalization",
        wrong: failures,
    },
    Kind {
        type_: "NamespaceContentRemaining",
        reason: "ContentRemoved",
        message: "All content successfully removed",
        wrong: |left| {
            let rest = counted(&left.resources, "has")?;
            Some(("SomeResourcesRemain", format!("Some resources are remaining: {rest}")))
        },
    },
    Kind {
        type_: "NamespaceFinalizersRemaining",
        reason: "ContentHasNoFinalizers",
        message: "All content-preserving finalizers finished",
        wrong: |left| {
            let rest = counted(&left.finalizers, "in")?;
            let message = format!("Some content in the namespace has finalizers remaining: {rest}");
            Some(("SomeFinalizersRemain", message))
        },
    },
];

fn counted(counts: &BTreeMap<String, usize>, word: &str) -> Option<String> {
    let each = counts.iter().map(|(what, count)| format!("{what} {word} {count} resource instances"));
    (!counts.is_empty()).then(|| each.collect::<Vec<_>>().join(", "))
}

fn failures(left: &Left) -> Option<(&'static str, String)> {
    let count = left.failures.len();
    // Details of errors are for the log.
    let message =
        format!("Failed to delete all resource types, {count} remaining: see the log of the server");
    (count > 0).then_some(("ContentDeletionFailed", message))
}

/// Brings the conditions in line with what is left. Says whether that changed any.
pub(super) fn tell(namespace: &mut Tree, left: &Left, now: Time) -> bool {
    let old: Vec<Tree> =
        namespace.pointer("/status/conditions").and_then(Tree::as_array).cloned().unwrap_or_default();
    let mut conditions = old.clone();
    for kind in KINDS {
        let wrong = (kind.wrong)(left);
        let status = if wrong.is_some() { "True" } else { "False" };
        let (reason, message) = wrong.unwrap_or_else(|| (kind.reason, kind.message.to_owned()));
        let position = conditions.iter().position(|condition| condition["type"] == kind.type_);
        let since = position.filter(|at| conditions[*at]["status"] == status);
        let since =
            since.map_or_else(|| now.to_string().into(), |at| conditions[at]["lastTransitionTime"].clone());
        let condition = json!({
            "type": kind.type_, "status": status, "lastTransitionTime": since, "reason": reason,
            "message": message,
        });
        match position {
            Some(at) => conditions[at] = condition,
            None => conditions.push(condition),
        }
    }
    if conditions == old {
        return false;
    }
    if let Some(status) = namespace.get_mut("status").and_then(Tree::as_object_mut) {
        status.insert("conditions".to_owned(), conditions.into());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_once() {
        let mut left = Left::default();
        left.resources.insert("configmaps.".to_owned(), 1);
        left.resources.insert("leases.coordination.orch.io".to_owned(), 2);
        left.finalizers.insert("example.com/hold".to_owned(), 3);
        let mut namespace = json!({"status": {"phase": "Terminating"}});
        assert!(tell(&mut namespace, &left, Time::from_unix_seconds(0)));
        assert!(!tell(&mut namespace, &left, Time::from_unix_seconds(60)), "nothing changes");
        let conditions = namespace["status"]["conditions"].as_array().unwrap().clone();
        let texts: Vec<[&str; 3]> = conditions
            .iter()
            .map(|condition| ["status", "reason", "message"].map(|field| condition[field].as_str().unwrap()))
            .collect();
        assert_eq!(
            texts,
            [
                ["False", "ResourcesDiscovered", "All resources successfully discovered"],
                ["False", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
                [
                    "False",
                    "ContentDeleted",
                    "All content successfully deleted, may be waiting on finalization"
                ],
                [
                    "True",
                    "SomeResourcesRemain",
                    "Some resources are remaining: configmaps. has 1 resource instances, \
                     leases.coordination.orch.io has 2 resource instances"
                ],
                [
                    "True",
                    "SomeFinalizersRemain",
                    "Some content in the namespace has finalizers remaining: example.com/hold in 3 resource \
                     instances"
                ],
            ]
        );
        left.finalizers.clear();
        assert!(tell(&mut namespace, &left, Time::from_unix_seconds(60)));
        let times: Vec<&str> = namespace["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|condition| condition["lastTransitionTime"].as_str().unwrap())
            .collect();
        assert_eq!((times[3], times[4]), ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z"));
    }
}
