//! What is reported about a rule that does not hold, in the words of
//! `x-kubernetes-validations` (`k8s.io/apiextensions-apiserver`, `schema/cel/validation.go`).

use super::{fault::Fault, value::Value};
use crate::{
    field_error::{FieldError, Reason, Shown, Validation},
    path::Path,
};

/// The longest message that an expression may make.
const MAX_MESSAGE: usize = 5 * 1024;

/// What is said where some rules were not looked at, because the bounds of lists and texts do not hold.
const SKIPPED: &str = "some validation rules were not checked because the object was invalid; correct the \
                       existing errors to complete validation";

/// A rule, as far as its report needs it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The expression.
    pub text: &'static str,
    /// `message`.
    pub message: Option<&'static str>,
    /// `reason`.
    pub reason: Reason,
    /// `severity: warning`.
    pub is_warning: bool,
    /// What stands for the value in messages: its type in OpenAPI.
    pub type_name: &'static str,
}

impl Rule {
    /// Reports the rule unless it holds: a fault at the place where it is written, all else at the field that
    /// is blamed. `message` is what its `messageExpression` makes.
    pub fn report(
        &self,
        outcome: Result<bool, Fault>,
        message: impl FnOnce() -> Option<String>,
        at: &Path<'_>,
        blamed: &Path<'_>,
        cx: &mut Validation<'_>,
    ) {
        let (place, reason, detail) = match outcome {
            Ok(true) => return,
            Ok(false) => {
                let fixed = || self.message.map(str::to_owned);
                let detail =
                    message().or_else(fixed).unwrap_or_else(|| format!("failed rule: {}", self.text));
                (blamed, self.reason, detail)
            }
            Err(fault) => (at, Reason::Invalid, self.failure(&fault)),
        };
        if self.is_warning {
            cx.warn(place, detail);
            return;
        }
        cx.push(match reason {
            Reason::Required => FieldError::required(place, &detail),
            Reason::Forbidden => FieldError::forbidden(place, &detail),
            Reason::Duplicate => FieldError::duplicate(place, self.type_name),
            _ => FieldError::invalid(place, self.type_name, &detail),
        });
    }

    fn failure(&self, fault: &Fault) -> String {
        let rule = self.message.unwrap_or(self.text);
        match fault {
            Fault::NoSuchOverload(_) => format!(
                "'no such overload': call arguments did not match a supported operator, function or macro \
                 signature for rule: {rule}"
            ),
            other => format!("{other} evaluating rule: {rule}"),
        }
    }
}

/// Runs a rule: a closure that ends at the first fault.
pub fn outcome(rule: impl FnOnce() -> Result<bool, Fault>) -> Result<bool, Fault> {
    rule()
}

/// A message that an expression made; nothing where it cannot be shown, so that another message takes its
/// place.
pub fn message(make: impl FnOnce() -> Result<Value, Fault>) -> Option<String> {
    let Ok(Value::Text(text)) = make() else { return None };
    let text = text.trim();
    let is_usable = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
    is_usable.then(|| text.to_owned())
}

/// Whether a condition is true; one that has no result is not.
pub fn holds(condition: impl FnOnce() -> Result<bool, Fault>) -> bool {
    matches!(condition(), Ok(true))
}

/// Whether a rule is false; one that has no result is not.
pub fn is_broken(rule: impl FnOnce() -> Result<bool, Fault>) -> bool {
    matches!(rule(), Ok(false))
}

/// A text that an expression made.
pub fn made_text(make: impl FnOnce() -> Result<Value, Fault>) -> Option<String> {
    match make() {
        Ok(Value::Text(text)) => Some(text.to_string()),
        _ => None,
    }
}

/// A text that an expression led to.
pub fn found_text<'t>(find: impl FnOnce() -> Result<&'t str, Fault>) -> Option<&'t str> {
    find().ok()
}

/// A value that an expression made, as errors show it: numbers as they are, quantities as texts, and texts
/// without quotes, so that an expression can compose what is shown.
pub fn made_shown(make: impl FnOnce() -> Result<Value, Fault>) -> Option<String> {
    Some(match make().ok()? {
        Value::Text(text) => text.to_string(),
        Value::Quantity(quantity) => quantity.to_string().shown(),
        Value::Int(number) => number.shown(),
        Value::Bool(flag) => flag.shown(),
        other => other.to_string(),
    })
}

/// Whether errors that were found leave rules without the bounds that they rely on. If so, that is reported.
pub fn are_skipped(cx: &mut Validation<'_>) -> bool {
    let are_skipped = cx.breaks_bounds();
    if are_skipped {
        let body = format!("Invalid value: \"null\": {SKIPPED}");
        // What the reference prints where there is no path and no value.
        cx.push(FieldError { field: "<nil>".to_owned(), reason: Reason::Invalid, body });
    }
    are_skipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::EXAMPLE;

    const RULE: Rule = Rule {
        text: "self.min <= self.max",
        message: None,
        reason: Reason::Invalid,
        is_warning: false,
        type_name: "object",
    };

    fn reported(rule: Rule, outcome: Result<bool, Fault>, made: Option<&str>) -> (Vec<String>, Vec<String>) {
        let mut cx = Validation::new(&EXAMPLE);
        let at = Path::ROOT.field("spec");
        rule.report(outcome, || made.map(str::to_owned), &at, &at.field("min"), &mut cx);
        let warnings = cx.take_warnings();
        (cx.into_errors().iter().map(ToString::to_string).collect(), warnings)
    }

    #[test]
    fn a_broken_rule_is_told_in_the_words_that_clients_know() {
        let with_message = Rule { message: Some("min is too large"), ..RULE };
        let of = |reason| Rule { reason, ..with_message };
        for (rule, outcome, made, expected) in [
            (RULE, Ok(true), None, None),
            (
                RULE,
                Ok(false),
                None,
                Some("spec.min: Invalid value: \"object\": failed rule: self.min <= self.max"),
            ),
            (with_message, Ok(false), None, Some("spec.min: Invalid value: \"object\": min is too large")),
            (with_message, Ok(false), Some("made"), Some("spec.min: Invalid value: \"object\": made")),
            (of(Reason::Forbidden), Ok(false), None, Some("spec.min: Forbidden: min is too large")),
            (of(Reason::Required), Ok(false), None, Some("spec.min: Required value: min is too large")),
            (of(Reason::Duplicate), Ok(false), None, Some("spec.min: Duplicate value: \"object\"")),
            (
                RULE,
                Err(Fault::NoSuchKey("min".into())),
                None,
                Some(
                    "spec: Invalid value: \"object\": no such key: min evaluating rule: self.min <= self.max",
                ),
            ),
        ] {
            let (errors, warnings) = reported(rule, outcome, made);
            assert_eq!(errors, expected.into_iter().collect::<Vec<_>>());
            assert!(warnings.is_empty());
        }
        let warning = Rule { is_warning: true, ..with_message };
        let (errors, warnings) = reported(warning, Ok(false), None);
        assert_eq!((errors, warnings), (Vec::new(), vec!["spec.min: min is too large".to_owned()]));
    }

    #[test]
    fn messages_that_cannot_be_shown_are_not() {
        assert_eq!(message(|| Ok(Value::from(" a "))), Some("a".to_owned()));
        for wrong in [Ok(Value::from(" ")), Ok(Value::from("a\nb")), Err(Fault::DivisionByZero)] {
            assert_eq!(message(|| wrong), None);
        }
        assert_eq!(message(|| Ok(Value::from("x".repeat(MAX_MESSAGE + 1)))), None);
    }

    #[test]
    fn rules_rely_on_bounds_that_hold() {
        let mut cx = Validation::new(&EXAMPLE);
        cx.push(FieldError::invalid(&Path::ROOT, &1, "is wrong"));
        assert!(!are_skipped(&mut cx));
        cx.push(FieldError::too_many(&Path::ROOT, 3, 2));
        assert!(are_skipped(&mut cx));
        let last = cx.into_errors().pop().map(|error| error.to_string());
        let expected = "<nil>: Invalid value: \"null\": some validation rules were not checked because the \
                        object was invalid; correct the existing errors to complete validation";
        assert_eq!(last.as_deref(), Some(expected));
    }
}
