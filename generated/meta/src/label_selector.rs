//! Label selectors: matching.

use std::collections::BTreeMap;

use crate::meta::v1::{LabelSelector, LabelSelectorRequirement};

impl LabelSelector {
    /// Whether the labels match. A selector without requirements matches everything. The operators must be
    /// valid.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = |key: &str| labels.get(key).map(String::as_str);
        let requirement = |it: &LabelSelectorRequirement| {
            let value = label(&it.key);
            let is_listed = value.is_some_and(|value| it.values.iter().any(|listed| listed == value));
            match it.operator.as_str() {
                "In" => is_listed,
                "NotIn" => !is_listed,
                "Exists" => value.is_some(),
                _ => value.is_none(),
            }
        };
        self.match_labels.iter().all(|(key, value)| label(key) == Some(value))
            && self.match_expressions.iter().all(requirement)
    }
}
