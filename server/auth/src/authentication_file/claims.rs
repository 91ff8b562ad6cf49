//! The parts of the file about claims: demands, and what makes the user.

use orch_expression::{error::ExpressionError, program::Program, types::Type};
use orch_runtime::{constraint, vocabulary::Vocabulary};
use orch_settings::{Fault, Spanned, fault};
use serde::Deserialize;

use super::filled;
use crate::oidc::{
    mapping::{Mapping, Source, uses_mail, uses_mail_verified},
    rules::{ClaimRule, Rule, over_claims, over_user},
};

type Text = Option<Spanned<String>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ClaimRuleEntry {
    claim: Text,
    required_value: Text,
    expression: Text,
    message: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserRuleEntry {
    expression: Spanned<String>,
    message: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MappingEntry {
    username: Spanned<PrefixedEntry>,
    groups: Option<Spanned<PrefixedEntry>>,
    uid: Option<Spanned<PlainEntry>>,
    #[serde(default)]
    extra: Vec<ExtraEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixedEntry {
    claim: Text,
    prefix: Text,
    expression: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainEntry {
    claim: Text,
    expression: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExtraEntry {
    key: Spanned<String>,
    value_expression: Spanned<String>,
}

pub(super) fn claim_rules(entries: &[Spanned<ClaimRuleEntry>]) -> Result<Vec<ClaimRule>, Fault> {
    let mut seen: Vec<&str> = Vec::new();
    let mut rules = Vec::new();
    for entry in entries {
        let ClaimRuleEntry { claim, required_value, expression, message } = &entry.value;
        let (claim, expression) = (filled(claim.as_ref()), filled(expression.as_ref()));
        let (subject, surplus, rule) = match (claim, expression) {
            (Some(claim), None) => {
                let required = required_value.as_ref().map(|value| value.value.clone()).unwrap_or_default();
                let rule = ClaimRule::Value { claim: claim.value.clone(), required };
                (claim, ("message", message, "claim"), rule)
            }
            (None, Some(expression)) => {
                let program = compiled(expression, |text| over_claims(text, &Type::Bool))?;
                let rule = ClaimRule::Expression(Rule { program, message: text(message) });
                (expression, ("requiredValue", required_value, "expression"), rule)
            }
            _ => return Err(fault(entry, ONE_OF_TWO)),
        };
        if let (name, Some(surplus), beside) = surplus
            && !surplus.value.is_empty()
        {
            return Err(fault(surplus, format!("{name} cannot stand beside {beside}")));
        }
        if seen.contains(&subject.value.as_str()) {
            return Err(fault(subject, format!("there are two rules about {:?}", subject.value)));
        }
        seen.push(&subject.value);
        rules.push(rule);
    }
    Ok(rules)
}

const ONE_OF_TWO: &str = "exactly one of claim and expression must be given";

pub(super) fn user_rules(entries: &[Spanned<UserRuleEntry>]) -> Result<Vec<Rule>, Fault> {
    let mut rules: Vec<Rule> = Vec::new();
    for entry in entries {
        let UserRuleEntry { expression, message } = &entry.value;
        let program = compiled(expression, over_user)?;
        if rules.iter().any(|other| other.program.text() == program.text()) {
            return Err(fault(expression, "the same expression stands here twice"));
        }
        rules.push(Rule { program, message: text(message) });
    }
    Ok(rules)
}

pub(super) fn mapping(
    entry: &MappingEntry,
    rules: &[ClaimRule],
    vocabulary: &Vocabulary,
) -> Result<Mapping, Fault> {
    let mapping = Mapping {
        username: prefixed(&entry.username)?,
        groups: entry.groups.as_ref().map(prefixed).transpose()?,
        uid: entry.uid.as_ref().map(plain).transpose()?,
        extra: extra(&entry.extra, vocabulary)?,
    };
    check_mail(entry, &mapping, rules)?;
    Ok(mapping)
}

/// Whoever names users by their mail has to look at whether the issuer knows that it is theirs.
fn check_mail(entry: &MappingEntry, mapping: &Mapping, rules: &[ClaimRule]) -> Result<(), Fault> {
    let Source::Expression(name) = &mapping.username else { return Ok(()) };
    if !uses_mail(name) {
        return Ok(());
    }
    let rules = rules.iter().filter_map(|rule| match rule {
        ClaimRule::Expression(rule) => Some(&rule.program),
        ClaimRule::Value { .. } => None,
    });
    let extra = mapping.extra.iter().map(|(_, program)| program);
    if std::iter::once(name).chain(extra).chain(rules).any(uses_mail_verified) {
        return Ok(());
    }
    let problem = "claims.email_verified must be used in claimMappings.username.expression or \
                   claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when \
                   claims.email is used in claimMappings.username.expression";
    Err(fault(&entry.username, problem))
}

fn prefixed(entry: &Spanned<PrefixedEntry>) -> Result<Source, Fault> {
    let PrefixedEntry { claim, prefix, expression } = &entry.value;
    match (filled(claim.as_ref()), filled(expression.as_ref()), prefix) {
        (Some(claim), None, Some(prefix)) => {
            Ok(Source::Claim { claim: claim.value.clone(), prefix: prefix.value.clone() })
        }
        (Some(_), None, None) => Err(fault(entry, "prefix must be given where claim is; it may be empty")),
        (None, Some(_), Some(prefix)) => Err(fault(prefix, "prefix cannot stand beside expression")),
        (None, Some(expression), None) => over_any(expression).map(Source::Expression),
        _ => Err(fault(entry, ONE_OF_TWO)),
    }
}

fn plain(entry: &Spanned<PlainEntry>) -> Result<Source, Fault> {
    let PlainEntry { claim, expression } = &entry.value;
    match (filled(claim.as_ref()), filled(expression.as_ref())) {
        (Some(claim), None) => Ok(Source::Claim { claim: claim.value.clone(), prefix: String::new() }),
        (None, Some(expression)) => over_any(expression).map(Source::Expression),
        _ => Err(fault(entry, ONE_OF_TWO)),
    }
}

fn extra(entries: &[ExtraEntry], vocabulary: &Vocabulary) -> Result<Vec<(String, Program)>, Fault> {
    let mut extra: Vec<(String, Program)> = Vec::new();
    for ExtraEntry { key, value_expression } in entries {
        check_key(key, vocabulary)?;
        if extra.iter().any(|(known, _)| *known == key.value) {
            return Err(fault(key, format!("there are two keys {:?}", key.value)));
        }
        extra.push((key.value.clone(), over_any(value_expression)?));
    }
    Ok(extra)
}

/// A key is a domain and a path, in lower case, because clients send keys as names of headers.
fn check_key(key: &Spanned<String>, vocabulary: &Vocabulary) -> Result<(), Fault> {
    let wrong = |problem: String| Err(fault(key, format!("key {problem}")));
    let Some((domain, path)) = key.value.split_once('/') else {
        return wrong("must be a domain and a path, such as example.com/tenant".to_owned());
    };
    if let Some(problem) = constraint::dns_subdomain(domain).into_iter().next() {
        return wrong(format!("begins with what is no domain: {problem}"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:@".contains(&byte);
    if path.is_empty() || !path.bytes().all(is_plain) {
        return wrong("has a path that is empty or has characters that no path may have".to_owned());
    }
    if key.value.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return wrong("must be in lower case".to_owned());
    }
    for of in [vocabulary.group_suffix, vocabulary.label_domain] {
        if domain == of || domain.strip_suffix(of).is_some_and(|rest| rest.ends_with('.')) {
            return wrong(format!("must not be in the domain {of}, which is the server's"));
        }
    }
    Ok(())
}

/// An expression whose type only the claims of a token tell.
fn over_any(expression: &Spanned<String>) -> Result<Program, Fault> {
    compiled(expression, |text| over_claims(text, &Type::Dyn))
}

fn compiled(
    expression: &Spanned<String>,
    compile: impl FnOnce(&str) -> Result<Program, ExpressionError>,
) -> Result<Program, Fault> {
    if expression.value.trim().is_empty() {
        return Err(fault(expression, "expression must not be empty"));
    }
    // The place in the expression is told too: how a text is quoted decides where it is in the file.
    compile(&expression.value).map_err(|error| fault(expression, format!("expression:{error}")))
}

fn text(field: &Text) -> String {
    field.as_ref().map(|field| field.value.clone()).unwrap_or_default()
}
