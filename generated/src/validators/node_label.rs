//! Deprecated labels of nodes, wherever nodes are selected by labels.

use orch_runtime::{constraint, field_error::Validation, path::Path, vocabulary::Vocabulary};

use crate::core::v1::NodeSelectorTerm;

/// Prefix and name of an old label, the release that deprecated it, and the prefix of the new label. The
/// domain of the vocabulary follows after each prefix.
const RENAMED: &[(&str, &str, &str, &str)] = &[
    ("beta.", "arch", "v1.14", ""),
    ("beta.", "os", "v1.14", ""),
    ("failure-domain.beta.", "region", "v1.17", "topology."),
    ("failure-domain.beta.", "zone", "v1.17", "topology."),
    ("beta.", "instance-type", "v1.17", "node."),
];

/// The warning for a deprecated label; none for other labels.
pub(super) fn deprecation(label: &str, vocabulary: &Vocabulary) -> Option<String> {
    let domain = vocabulary.label_domain;
    RENAMED.iter().find_map(|(old, name, since, new)| {
        let is_old = label.strip_prefix(old).and_then(|rest| rest.strip_prefix(domain)?.strip_prefix('/'));
        (is_old == Some(name))
            .then(|| format!(r#"deprecated since {since}; use "{new}{domain}/{name}" instead"#))
    })
}

/// Warns of deprecated labels in a term.
pub(super) fn warn_of_term(term: &NodeSelectorTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let expressions = path.field("matchExpressions");
    for (index, expression) in term.match_expressions.iter().enumerate() {
        if let Some(text) = deprecation(&expression.key, cx.vocabulary) {
            cx.warn(&expressions.index(index).field("key"), format_args!("{} is {text}", expression.key));
        }
    }
}

/// Warns of values that no label can have. Preferred terms may contain them, but never match by them.
pub(super) fn warn_of_values(term: &NodeSelectorTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let expressions = path.field("matchExpressions");
    for (index, expression) in term.match_expressions.iter().enumerate() {
        let at = expressions.index(index);
        let values = at.field("values");
        for (index, value) in expression.values.iter().enumerate() {
            for fault in constraint::label_value(value) {
                cx.warn(&values.index(index), fault);
            }
        }
    }
}
