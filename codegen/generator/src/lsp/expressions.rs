//! What an expression of a schema file can use at a position.

use orch_expression::types::Type;

use super::cursor::Cursor;
use crate::{
    expression::scope::{Scope, loops},
    model::{Model, Resolved, Step, TypeId, TypeKind},
};

/// The keys of rules whose values are expressions.
const OF_VALIDATIONS: &[&str] = &["rule", "messageExpression"];
const OF_RULES: &[&str] = &["rule", "when", "of", "where", "messageExpression", "showsExpression"];

/// Something that an expression can use.
#[derive(Debug, PartialEq, Eq)]
pub struct Usable {
    /// How it is written.
    pub name: String,
    /// Its type; empty for a function.
    pub of: String,
}

/// Whether the value at a position is an expression.
pub fn is_one(cursor: &Cursor) -> bool {
    let ends = |list: &str, keys: &[&str]| {
        let [.., before, item, key] = &cursor.path[..] else { return false };
        before == list && item == super::cursor::ITEM && keys.contains(&key.as_str())
    };
    cursor.in_value
        && (ends("x-orch-validations", OF_VALIDATIONS)
            || ends("x-orch-rules", OF_RULES)
            || in_exception(cursor) && ends("except", &["when"]))
}

/// Whether the position is in what may change although the rest may not. Its field is not that of the rule.
fn in_exception(cursor: &Cursor) -> bool {
    let of_rules = cursor.path.iter().position(|key| key == "x-orch-rules");
    of_rules.is_some_and(|at| cursor.path.get(at + 2).is_some_and(|key| key == "except"))
}

/// What can follow what is typed: fields behind a dot, variables and functions elsewhere. `ty` is the named
/// type that the expression stands in.
pub fn usable(model: &Model, ty: TypeId, cursor: &Cursor) -> Vec<Usable> {
    let variables = variables(model, ty, cursor);
    let functions = Scope::new(model).functions();
    let is_name = |name: &&str| name.chars().all(|ch| ch.is_alphanumeric() || ch == '_' || ch == '.');
    let functions = functions.function_names().filter(is_name).map(|name| (name.to_owned(), String::new()));
    let chain = chain(&cursor.typed);
    let found: Vec<(String, String)> = match chain.rsplit_once('.') {
        None => variables.into_iter().map(|(name, of)| (name, of.to_string())).chain(functions).collect(),
        Some((before, _)) => match followed(&variables, before) {
            Some(Type::Object(object)) => {
                object.fields.iter().map(|(name, of)| (name.clone(), of.to_string())).collect()
            }
            _ => functions.filter(|(name, _)| !name.contains('.')).collect(),
        },
    };
    let mut usable: Vec<Usable> = found.into_iter().map(|(name, of)| Usable { name, of }).collect();
    usable.sort_by(|one, other| one.name.cmp(&other.name));
    usable
}

/// The names and dots with which a text ends.
fn chain(typed: &str) -> &str {
    let is_part = |ch: char| ch.is_alphanumeric() || "_.?".contains(ch);
    &typed[typed.trim_end_matches(is_part).len()..]
}

/// The type of `a.b.c`.
fn followed(variables: &[(String, Type)], chain: &str) -> Option<Type> {
    let mut names = chain.split('.').map(|name| name.trim_matches('?'));
    let first = names.next()?;
    let mut of = variables.iter().find(|(name, _)| name == first)?.1.clone();
    for name in names {
        if let Type::Optional(inner) = &of {
            of = inner.as_ref().clone();
        }
        let Type::Object(object) = &of else { return None };
        of = object.fields.get(name)?.clone();
    }
    Some(of)
}

fn variables(model: &Model, ty: TypeId, cursor: &Cursor) -> Vec<(String, Type)> {
    let is_rule_of_object = cursor.path.iter().any(|key| key == "x-orch-rules");
    let mut scope = if is_rule_of_object { Scope::with_metadata(model) } else { Scope::new(model) };
    let mut variables = Vec::new();
    let own = match &model.ty(ty).kind {
        TypeKind::Object(object) => match cursor.path.get(3..5) {
            Some([properties, field]) if properties == "properties" => {
                let field = object.fields.iter().find(|known| known.name == *field);
                field.and_then(|field| scope.usage(&field.usage))
            }
            _ => scope.object(ty, object),
        },
        TypeKind::Alias(usage) => scope.usage(usage),
        TypeKind::Enum(_) => Some(Type::Text),
    };
    if let Some(own) = own {
        variables.push(("oldSelf".to_owned(), own.clone()));
        variables.push(("self".to_owned(), own));
    }
    let mut siblings = cursor.siblings.iter().filter(|_| !in_exception(cursor));
    let field = siblings.find(|(key, _)| key == "field").map(|(_, path)| path.as_str());
    if let (true, Some(path), TypeKind::Object(object)) = (is_rule_of_object, field, &model.ty(ty).kind) {
        let found = loops(model, object, &Step::path(path).unwrap_or_default());
        for (name, in_rule) in ["item", "outer"].into_iter().zip(found.iter().rev()) {
            variables.extend(scope.usage(in_rule.item).map(|of| (name.to_owned(), of)));
        }
        if let Some(innermost) = found.last() {
            let (name, of) = if innermost.is_map { ("key", Type::Text) } else { ("index", Type::Int) };
            variables.push((name.to_owned(), of));
        }
    }
    let shared = scope.functions();
    variables.extend(shared.variables().map(|(name, of)| (name.to_owned(), of.clone())));
    variables
}

/// What a type is, in a few words: for people.
pub fn shape(model: &Model, ty: TypeId) -> String {
    match &model.ty(ty).kind {
        TypeKind::Object(object) => {
            let of = |resolved| match resolved {
                Resolved::Object(id, _) | Resolved::Enum(id, _) => model.ty(id).name.clone(),
                other => crate::expression::settle::type_name(other).to_owned(),
            };
            let rows = object.fields.iter().map(|field| {
                format!("- `{}`: {} {}\n", field.name, of(model.resolve(&field.usage)), field.description)
            });
            rows.collect()
        }
        TypeKind::Enum(values) => {
            let rows = values.iter().map(|value| format!("- `{}`\n", value.value));
            rows.collect()
        }
        TypeKind::Alias(_) => String::new(),
    }
}
