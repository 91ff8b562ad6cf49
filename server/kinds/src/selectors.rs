//! Selectors of access reviews, as authorizers see them.

use orch_api::authorization::v1::{FieldSelectorAttributes, LabelSelectorAttributes};
use orch_auth::authorizer::selector::{Operator, Requirement};
use orch_registry::requirements::{of_fields, of_labels};

/// The requirements of a field selector in a review. Unknown operators require nothing.
pub(crate) fn of_field_attributes(selector: Option<&FieldSelectorAttributes>) -> Vec<Requirement> {
    let Some(selector) = selector else { return Vec::new() };
    let listed = selector.requirements.iter().filter_map(|it| {
        let operator = Operator::named(&it.operator)?;
        Some(Requirement { key: it.key.clone(), operator, values: it.values.clone() })
    });
    of_fields(&selector.raw_selector).into_iter().chain(listed).collect()
}

/// The requirements of a label selector in a review. Unknown operators require nothing.
pub(crate) fn of_label_attributes(selector: Option<&LabelSelectorAttributes>) -> Vec<Requirement> {
    let Some(selector) = selector else { return Vec::new() };
    let listed = selector.requirements.iter().filter_map(|it| {
        let operator = Operator::named(&it.operator)?;
        Some(Requirement { key: it.key.clone(), operator, values: it.values.clone() })
    });
    of_labels(&selector.raw_selector).into_iter().chain(listed).collect()
}
