//! `x-orch-defaults` to the model.

use super::Lowering;
use crate::{
    idl::{DefaultRule, Schema},
    model::{Condition, ConditionalDefault, DefaultSource},
};

impl Lowering<'_, '_> {
    /// The defaults of an object that depend on other fields.
    pub(super) fn conditional_defaults(&mut self, schema: &Schema) -> Vec<ConditionalDefault> {
        schema.defaults.iter().flatten().filter_map(|rule| self.conditional_default(rule)).collect()
    }

    fn conditional_default(&mut self, rule: &DefaultRule) -> Option<ConditionalDefault> {
        let field = self.steps(&rule.field)?;
        let when = rule.when.iter().flat_map(|when| &when.0);
        let when: Vec<Condition> = when.filter_map(|(path, test)| self.condition(path, test)).collect();
        let source = match (&rule.value, &rule.from) {
            (Some(value), None) => DefaultSource::Value(value.to_json()),
            (None, Some(from)) => DefaultSource::Field(self.steps(from)?),
            _ => {
                let help = "write `value`, or `from` with the path of another field";
                self.diagnostics.error(&rule.span, "a default has one source", help).code("E0222");
                return None;
            }
        };
        Some(ConditionalDefault { field, when, source, span: rule.span.clone() })
    }
}
