//! Storage classes: topology.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{core::v1::TopologySelectorTerm, storage::v1::StorageClass};

/// Topology terms are unique. Each is reported once for every equal term before it. The reference makes an
/// empty entry for each term beforehand, so an empty term equals those too: Rust, because the order in terms
/// means nothing.
pub fn storage_class(value: &StorageClass, path: &Path<'_>, cx: &mut Validation<'_>) {
    let topologies = path.field("allowedTopologies");
    let kept_places = value.allowed_topologies.len();
    let mut terms = HashMap::new();
    for (index, term) in value.allowed_topologies.iter().enumerate() {
        let at = topologies.index(index);
        let before = if term.match_label_expressions.is_empty() { kept_places } else { 0 };
        let same: &mut usize = terms.entry(topology_term(term)).or_insert(before);
        for _ in 0..*same {
            if cx.is_full() {
                return;
            }
            cx.push(FieldError::duplicate(&at.field("matchLabelExpressions"), ""));
        }
        *same += 1;
    }
}

/// The values of a term by key, whatever their order in the term.
type TermValues<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

fn topology_term(term: &TopologySelectorTerm) -> TermValues<'_> {
    term.match_label_expressions
        .iter()
        .map(|requirement| {
            (requirement.key.as_str(), requirement.values.iter().map(String::as_str).collect())
        })
        .collect()
}
