//! Label selectors in objects: keys, values and operators.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Which operators a requirement may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operators {
    /// `In`, `NotIn`, `Exists` and `DoesNotExist`.
    Known,
    /// Other operators too: the authorizer that evaluates the selector checks them.
    Any,
}

/// Keys and values are valid, and the number of values fits the operator.
pub fn label_selector(value: &LabelSelector, path: &Path<'_>, cx: &mut Validation<'_>) {
    let labels = path.field("matchLabels");
    for (key, value) in &value.match_labels {
        cx.invalid_all(&labels, key, &constraint::qualified_name(key));
        cx.invalid_all(&labels, value, &constraint::label_value(value));
    }
    let expressions = path.field("matchExpressions");
    for (index, requirement) in value.match_expressions.iter().enumerate() {
        label_requirement(requirement, Operators::Known, &expressions.index(index), cx);
    }
}

/// One requirement on a label.
pub fn label_requirement(
    value: &LabelSelectorRequirement,
    operators: Operators,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    operator(&value.operator, &value.values, operators, path, cx);
    cx.invalid_all(&path.field("key"), &value.key, &constraint::qualified_name(&value.key));
    let values = path.field("values");
    for (index, value) in value.values.iter().enumerate() {
        cx.invalid_all(&values.index(index), value, &constraint::label_value(value));
    }
}

/// `In` and `NotIn` need values; `Exists` and `DoesNotExist` have none.
pub fn operator(
    operator: &str,
    values: &[String],
    operators: Operators,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    match operator {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            cx.push(FieldError::required(&path.field("values"), detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            cx.push(FieldError::forbidden(&path.field("values"), detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ if operators == Operators::Any => {}
        _ => {
            let detail = "not a valid selector operator";
            cx.push(FieldError::invalid(&path.field("operator"), operator, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::{field_error::Validation, path::Path};
    use serde_json::json;

    use super::label_selector;
    use crate::{KUBERNETES, meta::v1::LabelSelector};

    #[test]
    fn keys_values_and_operators() {
        let requirement = |key: &str, operator: &str, values: &[&str]| {
            let expression = json!({"key": key, "operator": operator, "values": values});
            json!({"matchExpressions": [expression]})
        };
        for (tree, expected) in [
            (json!({}), vec![]),
            (json!({"matchLabels": {"a": "b", "x.org/c": ""}}), vec![]),
            (json!({"matchLabels": {"/a": "-"}}), vec!["matchLabels", "matchLabels"]),
            (requirement("a", "In", &["b", "c"]), vec![]),
            (requirement("a", "NotIn", &["b"]), vec![]),
            (requirement("a", "Exists", &[]), vec![]),
            (requirement("a", "DoesNotExist", &[]), vec![]),
            (requirement("a", "In", &[]), vec!["matchExpressions[0].values"]),
            (requirement("a", "Exists", &["b"]), vec!["matchExpressions[0].values"]),
            (requirement("a", "Near", &["b"]), vec!["matchExpressions[0].operator"]),
            (
                requirement("a b", "In", &["b", "c d"]),
                vec!["matchExpressions[0].key", "matchExpressions[0].values[1]"],
            ),
        ] {
            let selector: LabelSelector = serde_json::from_value(tree.clone()).unwrap();
            let mut cx = Validation::new(&KUBERNETES);
            label_selector(&selector, &Path::ROOT, &mut cx);
            let fields: Vec<String> = cx.into_errors().into_iter().map(|error| error.field).collect();
            assert_eq!(fields, expected, "{tree}");
        }
    }
}
