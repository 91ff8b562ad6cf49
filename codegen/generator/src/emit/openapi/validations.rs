//! Rules in the expression language, as client tools know them: `x-kubernetes-validations`.

use openapiv3::SchemaData;
use serde_json::{Map, Value, json};

use crate::model::{RuleReason, ValidationRule};

/// Puts the rules of a value into its schema. Warnings are under the name that they have in schema files:
/// other tools would take them for errors.
pub fn publish(rules: &[ValidationRule], data: &mut SchemaData) {
    let (warnings, errors): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| rule.is_warning);
    add(errors.into_iter().map(published).collect(), data);
    let warnings = warnings.into_iter().map(published).map(|mut rule| {
        rule["severity"] = json!("warning");
        rule
    });
    let warnings: Vec<Value> = warnings.collect();
    if !warnings.is_empty() {
        data.extensions.insert("x-orch-validations".to_owned(), warnings.into());
    }
}

/// Adds rules to those of a schema.
pub fn add(rules: Vec<Value>, data: &mut SchemaData) {
    if rules.is_empty() {
        return;
    }
    let all = data.extensions.entry("x-kubernetes-validations".to_owned()).or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.extend(rules);
    }
}

fn published(rule: &ValidationRule) -> Value {
    let mut all = Map::new();
    let texts = [
        ("rule", Some(&rule.rule.text)),
        ("message", rule.message.as_ref()),
        ("messageExpression", rule.message_expression.as_ref().map(|expression| &expression.text)),
        ("fieldPath", rule.field_path_text.as_ref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            all.insert(name.to_owned(), json!(text));
        }
    }
    let reason = rule.reason.map(|reason| match reason {
        RuleReason::Invalid => "FieldValueInvalid",
        RuleReason::Forbidden => "FieldValueForbidden",
        RuleReason::Required => "FieldValueRequired",
        RuleReason::Duplicate => "FieldValueDuplicate",
    });
    if let Some(reason) = reason {
        all.insert("reason".to_owned(), json!(reason));
    }
    if rule.optional_old_self {
        all.insert("optionalOldSelf".to_owned(), json!(true));
    }
    Value::Object(all)
}
