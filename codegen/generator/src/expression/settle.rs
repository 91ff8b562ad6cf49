//! The rules of all types and fields, compiled once all types are known.

use orch_expression::types::Type;

use super::{compile::compile, cost::Cost, scope::Scope};
use crate::{
    diagnostic::Diagnostics,
    idl::{ReasonWord, Schema, SeverityWord, ValidationExtension},
    model::{
        Model, PathStep, Resolved, RuleReason, Shape, Type as NamedType, TypeId, TypeKind, Usage,
        ValidationRule,
    },
    source::Spanned,
};

/// Where a rule is written.
#[derive(Clone, Copy)]
struct Place<'m> {
    /// The type, or the type of the object that has the field.
    owner: TypeId,
    /// What `self` is; nothing for an object type or a set of words, which are the owner itself.
    usage: Option<&'m Usage>,
}

/// Compiles the rules of the whole model.
pub fn settle(model: &mut Model, written: &[&Schema], diagnostics: &mut Diagnostics) {
    let has_rules = |schema: &Schema| {
        let properties = schema.properties.iter().flat_map(|properties| &properties.0);
        schema.validations.is_some() || properties.into_iter().any(|(_, schema)| schema.validations.is_some())
    };
    let mut settled: Vec<(TypeId, Option<usize>, Vec<ValidationRule>)> = Vec::new();
    let mut settling = Settling { model, scope: Scope::new(model), diagnostics };
    for (index, schema) in written.iter().enumerate().filter(|(_, schema)| has_rules(schema)) {
        let owner = TypeId(index);
        let ty = model.ty(owner);
        let usage = if let TypeKind::Alias(usage) = &ty.kind { Some(usage) } else { None };
        let place = Place { owner, usage };
        settled.push((owner, None, settling.rules(place, schema)));
        let TypeKind::Object(object) = &ty.kind else { continue };
        for (name, schema) in schema.properties.iter().flat_map(|properties| &properties.0) {
            let position = object.fields.iter().position(|field| field.span == name.span);
            let Some(position) = position else { continue };
            let place = Place { owner, usage: Some(&object.fields[position].usage) };
            settled.push((owner, Some(position), settling.rules(place, schema)));
        }
    }
    for (owner, position, rules) in settled {
        let NamedType { kind, validations, .. } = &mut model.types[owner.0];
        match (position, kind) {
            (Some(position), TypeKind::Object(object)) => object.fields[position].validations = rules,
            _ => *validations = rules,
        }
    }
}

struct Settling<'m, 'd> {
    model: &'m Model,
    scope: Scope<'m>,
    diagnostics: &'d mut Diagnostics,
}

impl<'m> Settling<'m, '_> {
    fn rules(&mut self, place: Place<'m>, schema: &Schema) -> Vec<ValidationRule> {
        let Some(written) = &schema.validations else { return Vec::new() };
        let of = match (place.usage, &self.model.ty(place.owner).kind) {
            (Some(usage), _) => self.scope.usage(usage),
            (None, TypeKind::Object(object)) => self.scope.object(place.owner, object),
            (None, _) => Some(Type::Text),
        };
        let Some(of) = of else {
            let help = "name the fields of the object, or write an `x-orch-validator`";
            let span = schema.key_span("x-orch-validations");
            self.diagnostics.error(span, "expressions cannot look at any JSON", help).code("E0232");
            return Vec::new();
        };
        written.iter().filter_map(|rule| self.rule(place, &of, rule)).collect()
    }

    fn rule(&mut self, place: Place<'m>, of: &Type, written: &ValidationExtension) -> Option<ValidationRule> {
        let optional_old_self = written.optional_old_self.as_ref().is_some_and(|flag| flag.value);
        let environment = self.scope.environment(of, optional_old_self);
        let rule = compile(&written.rule, &environment, &Type::Bool, self.diagnostics);
        let message_expression = match &written.message_expression {
            Some(text) => Some(compile(text, &environment, &Type::Text, self.diagnostics)?),
            None => None,
        };
        let field_path = match &written.field_path {
            Some(path) => self.field_path(place, path),
            None => Some(Vec::new()),
        };
        let rule = ValidationRule {
            rule: rule?,
            message: written.message.as_ref().map(|text| text.value.trim().to_owned()),
            message_expression,
            field_path: field_path?,
            field_path_text: written.field_path.as_ref().map(|path| path.value.clone()),
            reason: written.reason.as_ref().map(|reason| match reason.value {
                ReasonWord::Invalid => RuleReason::Invalid,
                ReasonWord::Forbidden => RuleReason::Forbidden,
                ReasonWord::Required => RuleReason::Required,
                ReasonWord::Duplicate => RuleReason::Duplicate,
            }),
            is_warning: written.severity.as_ref().is_some_and(|word| word.value == SeverityWord::Warning),
            optional_old_self,
            span: written.span.clone(),
        };
        self.check(place, &rule, written).then_some(rule)
    }

    /// What a compiled rule can still do wrong.
    fn check(&mut self, place: Place<'m>, rule: &ValidationRule, written: &ValidationExtension) -> bool {
        let before = self.diagnostics.counts().0;
        if let Some(message) = &written.message
            && (message.value.trim().is_empty() || message.value.trim().contains('\n'))
        {
            let help = "write the message in one line";
            self.diagnostics.error(&message.span, "a message is one line of text", help).code("E0234");
        }
        if written.message.is_none() && written.message_expression.is_none() && rule.rule.text.contains('\n')
        {
            let help =
                "add `message:`; the text of the rule would be shown instead, and it has several lines";
            self.diagnostics.error(&written.rule.span, "this rule needs a message", help).code("E0234");
        }
        let uses_old = rule.is_about_change() || rule.tells_old();
        if let Some(flag) = &written.optional_old_self
            && !uses_old
        {
            let help = "remove it, or use `oldSelf` in the rule";
            self.diagnostics
                .error(&flag.span, "`optionalOldSelf` on a rule without `oldSelf`", help)
                .code("E0231");
        }
        if uses_old {
            self.check_change(place.owner, written);
        }
        self.check_cost(place, rule, written);
        self.diagnostics.counts().0 == before
    }

    /// That the old value can be found: not for items of lists that say nothing of what identifies them.
    fn check_change(&mut self, owner: TypeId, written: &ValidationExtension) {
        if let Some(list) = super::cost::unidentified_list(self.model, owner) {
            let message = format!(
                "`oldSelf` is not known here: items of `{list}` cannot be told from each other over a change"
            );
            let help = "write `x-orch-list-type: map` with `x-orch-list-map-keys` at the list, or the rule at the \
                        object that has the list";
            self.diagnostics.error(&written.rule.span, message, help).code("E0232");
        }
    }

    fn check_cost(&mut self, place: Place<'m>, rule: &ValidationRule, written: &ValidationExtension) {
        let message = rule.message_expression.as_ref().zip(written.message_expression.as_ref());
        for (expression, text) in std::iter::once((&rule.rule, &written.rule)).chain(message) {
            let cost = Cost::of(self.model, place.owner, place.usage, expression);
            if let Some((message, help)) = cost.complaint() {
                self.diagnostics.error(&text.span, message, help).code("E0233");
            }
        }
    }

    /// A path to a field below the place; nothing after a report.
    fn field_path(&mut self, place: Place<'m>, written: &Spanned<String>) -> Option<Vec<PathStep>> {
        let steps = steps(&written.value);
        let found = steps.as_ref().and_then(|steps| self.resolved(place, steps));
        if found.is_none() {
            let message = format!("`{}` is not a field below this place", written.value);
            let help = "a path is a dot and a field, repeated: `.spec.replicas`; items of lists have none";
            self.diagnostics.error(&written.span, message, help).code("E0233");
        }
        found
    }

    fn resolved(&self, place: Place<'m>, steps: &[String]) -> Option<Vec<PathStep>> {
        let model = self.model;
        let mut at = match (place.usage, &model.ty(place.owner).kind) {
            (Some(usage), _) => model.resolve(usage),
            (None, TypeKind::Object(object)) => Resolved::Object(place.owner, object),
            (None, _) => return None,
        };
        let mut path = Vec::with_capacity(steps.len());
        for step in steps {
            match at {
                Resolved::Object(_, object) => {
                    let field = object.fields.iter().find(|field| field.name == *step)?;
                    path.push(PathStep::Field(step.clone()));
                    at = model.resolve(&field.usage);
                }
                Resolved::Map { value, .. } => {
                    path.push(PathStep::Key(step.clone()));
                    at = model.resolve(value);
                }
                _ => return None,
            }
        }
        Some(path)
    }
}

/// `.a['b.c'].d` to its names.
fn steps(path: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix("['") {
            quoted.split_once("']")?
        } else {
            let name = rest.strip_prefix('.')?;
            name.split_at(name.find(['.', '[']).unwrap_or(name.len()))
        };
        if name.is_empty() {
            return None;
        }
        names.push(name.to_owned());
        rest = after;
    }
    (!names.is_empty()).then_some(names)
}

/// What stands for a value in messages: its type in OpenAPI.
pub(crate) fn type_name(resolved: Resolved<'_>) -> &'static str {
    match resolved {
        Resolved::Object(..) | Resolved::Map { .. } | Resolved::Any => "object",
        Resolved::List(..) => "array",
        Resolved::Enum(..) => "string",
        Resolved::Scalar(shape) => match shape {
            Shape::Boolean => "boolean",
            Shape::Int32 | Shape::Int64 => "integer",
            Shape::Double => "number",
            Shape::Quantity | Shape::IntOrString => "",
            _ => "string",
        },
    }
}
