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
    idl::{self, Exception, ObjectRule, Schema, When},
    model::{Check, Expression, Expressions, Model, ObjectType, Step, TypeId, TypeKind},
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
            let of = |name: &str| {
                let position = model.types.iter().position(|ty| ty.qualified_name == name);
                position.map(|position| written[position])
            };
            let mut rules = idl::with_shared(schema, of);
            let is_it = |rule: &&ObjectRule| rule.span == check.span && field_of(rule) == check.field;
            let Some(rule) = rules.find(is_it) else { continue };
            let texts =
                [&rule.rule, &rule.of, &rule.of_items, &rule.message_expression, &rule.shows_expression];
            let has_expressions =
                texts.iter().any(|text| text.is_some()) || conditions(rule).next().is_some();
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
        let field = &self.check.field;
        let Some(environment) = self.environment(field) else { return Expressions::default() };
        let when = rule.when.as_ref().and_then(When::expression);
        let when = self.expression(when, &environment, &Type::Bool, (field, true));
        let exceptions = rule.exceptions().map(|exception| exception.when().and_then(When::expression));
        let exceptions =
            exceptions.map(|text| self.expression(text, &environment, &Type::Bool, (field, true))).collect();
        Expressions {
            owner: Some(self.owner),
            when,
            rule: self.expression(rule.rule.as_ref(), &environment, &Type::Bool, (field, false)),
            of: self.expression(rule.of.as_ref(), &environment, &Type::Text, (field, false)),
            of_items: self.of_items(rule),
            message: self.expression(
                rule.message_expression.as_ref(),
                &environment,
                &Type::Text,
                (field, false),
            ),
            shows: self.expression(rule.shows_expression.as_ref(), &environment, &Type::Dyn, (field, false)),
            exceptions,
        }
    }

    /// The items that count, among those that the rule compares with.
    fn of_items(&mut self, rule: &ObjectRule) -> Option<Expression> {
        let text = rule.of_items.as_ref()?;
        let other = self.check.demand.others().first()?;
        let environment = self.environment(other)?;
        self.expression(Some(text), &environment, &Type::Bool, (other, false))
    }

    /// The variables of the rule, where a path has led to.
    fn environment(&mut self, path: &[Step]) -> Option<Environment> {
        let of = self.scope.object(self.owner, self.object)?;
        let mut environment = self.scope.functions().with_variable("self", of.clone());
        if self.check.is_about_change() {
            environment = environment.with_variable("oldSelf", of);
        }
        let loops = loops(self.model, self.object, path);
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
        (path, is_condition): (&[Step], bool),
    ) -> Option<Expression> {
        let text = text?;
        let expression = compile(text, environment, wanted, self.diagnostics)?;
        let is_outside = is_condition && !is_about_item(&expression);
        let loops = if is_outside { Vec::new() } else { loops(self.model, self.object, path) };
        if let Some((message, help)) = cost::growth(self.model, self.owner, &loops, &expression) {
            self.diagnostics.error(&text.span, message, help).code("E0233");
        }
        Some(expression)
    }
}

/// The conditions of a rule that are expressions.
fn conditions(rule: &ObjectRule) -> impl Iterator<Item = &Spanned<String>> {
    let exceptions = rule.exceptions().filter_map(Exception::when);
    rule.when.iter().chain(exceptions).filter_map(When::expression)
}

/// What a rule is about, as it is written.
fn field_of(rule: &ObjectRule) -> Vec<Step> {
    rule.field.as_ref().and_then(|field| Step::path(&idl::of_old(field).0.value)).unwrap_or_default()
}

/// Whether an expression is about the item of a loop.
pub fn is_about_item(expression: &Expression) -> bool {
    expression
        .term
        .any(&mut |term| matches!(&term.kind, TermKind::Variable(name) if OF_LOOP.contains(&&**name)))
}
