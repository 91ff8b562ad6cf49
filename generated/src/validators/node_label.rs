//! Labels of nodes that have a better name by now, wherever something selects nodes by them.

use orch_runtime::{constraint, field_error::Validation, path::Path, vocabulary::Vocabulary};

use crate::core::v1::NodeSelectorTerm;

/// Old label, the release that has a better one, and the better one, each before the vocabulary's own domain.
const RENAMED: &[(&str, &str, &str, &str)] = &[
    ("beta.", "arch", "v1.14", ""),
    ("beta.", "os", "v1.14", ""),
    ("failure-domain.beta.", "region", "v1.17", "topology."),
    ("failure-domain.beta.", "zone", "v1.17", "topology."),
    ("beta.", "instance-type", "v1.17", "node."),
];

/// What to tell whoever selects nodes by an old label; nothing about others.
pub(super) fn deprecation(label: &str, vocabulary: &Vocabulary) -> Option<String> {
    let domain = vocabulary.label_domain;
    RENAMED.iter().find_map(|(old, name, since, new)| {
        let is_old = label.strip_prefix(old).and_then(|rest| rest.strip_prefix(domain)?.strip_prefix('/'));
        (is_old == Some(name))
            .then(|| format!(r#"deprecated since {since}; use "{new}{domain}/{name}" instead"#))
    })
}

/// Warns of old labels in a term.
pub(super) fn warn_of_term(term: &NodeSelectorTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let expressions = path.field("matchExpressions");
    for (index, expression) in term.match_expressions.iter().enumerate() {
        if let Some(text) = deprecation(&expression.key, cx.vocabulary) {
            cx.warn(&expressions.index(index).field("key"), format_args!("{} is {text}", expression.key));
        }
    }
}

/// Warns of values that no label can have: what is merely preferred may name them, in vain.
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
