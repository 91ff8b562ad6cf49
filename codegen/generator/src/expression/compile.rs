//! One expression: parsed, checked, and what is wrong with it.

use std::collections::BTreeSet;

use orch_expression::{
    environment::Environment,
    error::{ExpressionError, Problem},
    program::Program,
    typed::{Term, TermKind},
    types::Type,
};

use super::place;
use crate::{
    diagnostic::{Diagnostics, suggest},
    model::Expression,
    source::Spanned,
};

/// Compiles an expression; nothing after a report.
pub(super) fn compile(
    text: &Spanned<String>,
    environment: &Environment,
    wanted: &Type,
    diagnostics: &mut Diagnostics,
) -> Option<Expression> {
    match Program::compile(&text.value, environment, wanted) {
        Ok(program) => {
            let term = program.term().clone();
            check_patterns(text, &term, diagnostics)
                .then(|| Expression { text: text.value.trim().to_owned(), term })
        }
        Err(error) => {
            let at = place::of(text, error.at, diagnostics);
            let help = remedy(&error, environment, wanted);
            diagnostics.error(&at, format!("in the expression: {}", error.problem), help).code("E0231");
            None
        }
    }
}

/// Whether all patterns that are written out are regular expressions.
fn check_patterns(text: &Spanned<String>, term: &Term, diagnostics: &mut Diagnostics) -> bool {
    let mut wrong = Vec::new();
    term.any(&mut |term| {
        if let TermKind::Call { overloads, arguments } = &term.kind
            && overloads.iter().any(|overload| matches!(overload.function, "matches" | "find" | "findAll"))
            && let Some(pattern) = arguments.get(1)
            && let TermKind::Constant(orch_expression::value::Value::Text(regex)) = &pattern.kind
            && orch_runtime::rule::Pattern::compile(regex.to_string()).is_err()
        {
            wrong.push(pattern.at);
        }
        false
    });
    for part in &wrong {
        let at = place::of(text, *part, diagnostics);
        let help = "patterns match in linear time, without look-around; a backslash is doubled in quotes";
        diagnostics.error(&at, "in the expression: not a regular expression", help).code("E0231");
    }
    wrong.is_empty()
}

/// What to do about it.
fn remedy(error: &ExpressionError, environment: &Environment, wanted: &Type) -> String {
    let text = error.problem.to_string();
    match &error.problem {
        Problem::Syntax(_) => "expressions are written in CEL: mend it at this place".to_owned(),
        Problem::TooLarge(_) => "make it shorter, or write several rules".to_owned(),
        Problem::Type(_) if text.starts_with("the expression has the type") => match wanted {
            Type::Bool => "a rule is true or false: compare the value with something".to_owned(),
            _ => format!("write an expression of the type {wanted}, such as `string(..)`"),
        },
        Problem::Type(_) => near(&text, environment).unwrap_or_else(|| {
            "use values of the types that the operator or function takes: `int(..)`, `string(..)` and the like \
             convert"
                .to_owned()
        }),
        Problem::Evaluation(_) => "mend it at this place".to_owned(),
    }
}

/// The known name that is nearest to an unknown one.
fn near(problem: &str, environment: &Environment) -> Option<String> {
    let (before, rest) = problem.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    let known: BTreeSet<String> = if before.contains("undeclared name") {
        environment.variables().map(|(name, _)| name.to_owned()).collect()
    } else if before.contains("undeclared function") {
        environment.function_names().map(str::to_owned).collect()
    } else if before.contains("has no field") {
        let object = before.split(" has no field").next()?.trim();
        let (mut fields, mut seen) = (BTreeSet::new(), BTreeSet::new());
        environment.variables().for_each(|(_, of)| collect(of, object, &mut fields, &mut seen));
        let names: Vec<&str> = fields.iter().map(String::as_str).collect();
        let help = suggest::did_you_mean(name, &names);
        let why = "any JSON, types that contain themselves and most of `metadata` cannot be looked at";
        return Some(if help.ends_with('?') { help } else { format!("{help}; {why}") });
    } else {
        return None;
    };
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    Some(suggest::did_you_mean(name, &names))
}

/// The fields of the object type of that name; each type is looked into once.
fn collect<'t>(of: &'t Type, name: &str, fields: &mut BTreeSet<String>, seen: &mut BTreeSet<&'t str>) {
    match of {
        Type::List(inner) | Type::Optional(inner) | Type::Map(_, inner) => collect(inner, name, fields, seen),
        Type::Object(object) => {
            if !seen.insert(&object.name) {
                return;
            }
            if object.name == name {
                fields.extend(object.fields.keys().cloned());
            }
            object.fields.values().for_each(|field| collect(field, name, fields, seen));
        }
        _ => {}
    }
}
