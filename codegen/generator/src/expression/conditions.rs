//! Expressions in the rules about the members of an object (`x-orch-rules`): conditions, demands, derived
//! texts and messages.
//!
//! Beside `self` and `oldSelf` they see the item of the `[*]` of the rule's field: `item`, with its `index`
//! or `key`, and `outer`, the item of the `[*]` around it.

use orch_expression::{environment::Environment, typed::TermKind, types::Type};

use super::{
    compile::compile,
    cost,
    scope::{Scope, loops},
};
use crate::{
    diagnostic::Diagnostics,
    idl::{ObjectRule, Schema, When},
    model::{Check, Expression, Expressions, Model, ObjectType, TypeId, TypeKind},
    source::Spanned,
};

/// The names that stand for the item of a loop.
pub const OF_LOOP: &[&str] = &["item", "index", "key", "outer"];

/// Compiles the expressions of the rules of all objects.
pub fn settle(model: &mut Model, written: &[&Schema], diagnostics: &mut Diagnostics) {
    let mut settled: Vec<(usize, usize, Expressions)> = Vec::new();
    let mut scope = Scope::with_metadata(model);
    for (index, schema) in written.iter().enumerate() {
        let TypeKind::Object(object) = &model.types[index].kind else { continue };
        for (position, check) in object.checks.iter().enumerate() {
            let rules = schema.rules.iter().flatten();
            let Some(rule) = rules.into_iter().find(|rule| rule.span == check.span) else { continue };
            let has_expressions =
                [&rule.rule, &rule.of, &rule.message_expression].iter().any(|text| text.is_some())
                    || matches!(rule.when, Some(When::Expression(_)));
            if has_expressions {
                let mut settling =
                    Settling { model, owner: TypeId(index), object, check, scope: &mut scope, diagnostics };
                settled.push((index, position, settling.expressions(rule)));
            }
        }
    }
    for (index, position, expressions) in settled {
        if let TypeKind::Object(object) = &mut model.types[index].kind {
            object.checks[position].expressions = expressions;
        }
    }
}

struct Settling<'m, 's> {
    model: &'m Model,
    owner: TypeId,
    object: &'m ObjectType,
    check: &'m Check,
    scope: &'s mut Scope<'m>,
    diagnostics: &'s mut Diagnostics,
}

impl Settling<'_, '_> {
    fn expressions(&mut self, rule: &ObjectRule) -> Expressions {
        let Some(environment) = self.environment() else { return Expressions::default() };
        let when = match &rule.when {
            Some(When::Expression(text)) => self.expression(Some(text), &environment, &Type::Bool, true),
            _ => None,
        };
        Expressions {
            owner: Some(self.owner),
            when,
            rule: self.expression(rule.rule.as_ref(), &environment, &Type::Bool, false),
            of: self.expression(rule.of.as_ref(), &environment, &Type::Text, false),
            message: self.expression(rule.message_expression.as_ref(), &environment, &Type::Text, false),
        }
    }

    /// The variables of the rule.
    fn environment(&mut self) -> Option<Environment> {
        let of = self.scope.object(self.owner, self.object)?;
        let mut environment = self.scope.functions().with_variable("self", of.clone());
        if self.check.is_about_change() {
            environment = environment.with_variable("oldSelf", of);
        }
        let loops = loops(self.model, self.object, &self.check.field);
        for (around, name) in loops.iter().rev().zip(["item", "outer"]) {
            if let Some(of) = self.scope.usage(around.item) {
                environment = environment.with_variable(name, of);
            }
            if name == "item" {
                let (name, of) = if around.is_map { ("key", Type::Text) } else { ("index", Type::Int) };
                environment = environment.with_variable(name, of);
            }
        }
        Some(environment)
    }

    fn expression(
        &mut self,
        text: Option<&Spanned<String>>,
        environment: &Environment,
        wanted: &Type,
        is_condition: bool,
    ) -> Option<Expression> {
        let text = text?;
        let expression = compile(text, environment, wanted, self.diagnostics)?;
        let is_outside = is_condition && !is_about_item(&expression);
        let loops = if is_outside { Vec::new() } else { loops(self.model, self.object, &self.check.field) };
        if let Some((message, help)) = cost::growth(self.model, self.owner, &loops, &expression) {
            self.diagnostics.error(&text.span, message, help).code("E0233");
        }
        Some(expression)
    }
}

/// Whether an expression is about the item of a loop.
pub fn is_about_item(expression: &Expression) -> bool {
    expression
        .term
        .any(&mut |term| matches!(&term.kind, TermKind::Variable(name) if OF_LOOP.contains(&&**name)))
}
