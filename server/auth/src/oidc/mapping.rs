//! Which claims make the user.

use std::collections::BTreeMap;

use orch_expression::{
    program::Program,
    typed::{Term, TermKind},
    value::Value,
};
use serde_json::Value as Json;

use super::rules::Claims;
use crate::user::UserInfo;

/// The claim of an address of mail, and the one that tells whether the issuer knows that it is the user's.
const MAIL: &str = "email";
const MAIL_VERIFIED: &str = "email_verified";

/// What a part of the user is made of.
#[derive(Clone, Debug)]
pub enum Source {
    /// A claim, with a text before it.
    Claim {
        /// Its name.
        claim: String,
        /// What stands before its value.
        prefix: String,
    },
    /// An expression over the variable `claims`.
    Expression(Program),
}

/// The parts of the user.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The name; it may not be empty.
    pub username: Source,
    /// The groups, as a text or a list of texts.
    pub groups: Option<Source>,
    /// The uid.
    pub uid: Option<Source>,
    /// Further attributes by their keys, each a text or a list of texts.
    pub extra: Vec<(String, Program)>,
}

impl Mapping {
    /// The claim that has the groups.
    pub(super) fn groups_claim(&self) -> Option<&str> {
        match &self.groups {
            Some(Source::Claim { claim, .. }) => Some(claim),
            Some(Source::Expression(_)) | None => None,
        }
    }

    /// The user of a token.
    pub(super) fn user(&self, claims: &mut Claims<'_>) -> Result<UserInfo, String> {
        let name = self.name(claims)?;
        if name.is_empty() {
            return Err("the name of the user is empty".to_owned());
        }
        let uid = match &self.uid {
            None => String::new(),
            Some(source) => text(source, claims, "the uid")?,
        };
        let mut extra = BTreeMap::new();
        for (key, program) in &self.extra {
            let values = texts(&claims.evaluate(program)?, key)?;
            if !values.is_empty() {
                extra.insert(key.clone(), values);
            }
        }
        Ok(UserInfo { name, uid, groups: self.groups(claims)?, extra })
    }

    fn name(&self, claims: &mut Claims<'_>) -> Result<String, String> {
        if let Source::Claim { claim, .. } = &self.username {
            if claim == MAIL
                && let Some(verified) = claims.fields.get(MAIL_VERIFIED)
                && *verified != Json::Bool(true)
            {
                return Err(format!("the claim {MAIL_VERIFIED:?} is not true"));
            }
            // With a prefix it would make one user of all who have no name.
            if claims.text(claim)?.is_empty() {
                return Err(format!("the claim {claim:?} is empty"));
            }
        }
        text(&self.username, claims, "the name of the user")
    }

    fn groups(&self, claims: &mut Claims<'_>) -> Result<Vec<String>, String> {
        let (claim, prefix) = match &self.groups {
            None => return Ok(Vec::new()),
            Some(Source::Expression(program)) => return texts(&claims.evaluate(program)?, "the groups"),
            Some(Source::Claim { claim, prefix }) => (claim, prefix),
        };
        let prefixed = |group: &str| format!("{prefix}{group}");
        match claims.fields.get(claim) {
            Some(Json::String(group)) => Ok(vec![prefixed(group)]),
            Some(Json::Array(groups)) => {
                let groups = groups.iter().map(|group| Some(prefixed(group.as_str()?)));
                groups
                    .collect::<Option<_>>()
                    .ok_or_else(|| format!("the claim {claim:?} is no list of texts"))
            }
            None | Some(Json::Null) => Ok(Vec::new()),
            Some(_) => Err(format!("the claim {claim:?} is neither a text nor a list of texts")),
        }
    }
}

/// A part that must be there, and a text.
fn text(source: &Source, claims: &mut Claims<'_>, what: &str) -> Result<String, String> {
    match source {
        Source::Claim { claim, prefix } => Ok(format!("{prefix}{}", claims.text(claim)?)),
        Source::Expression(program) => match claims.evaluate(program)? {
            Value::Text(text) => Ok(text.as_ref().to_owned()),
            other => Err(format!("{what} is of the type {}, and not string", other.type_name())),
        },
    }
}

/// A part that may be a text, a list of texts, or nothing; empty texts are left out.
fn texts(value: &Value, what: &str) -> Result<Vec<String>, String> {
    let wrong = |value: &Value| format!("{what}: {} is neither string nor list(string)", value.type_name());
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::List(list) => list.items(),
        one => std::slice::from_ref(one),
    };
    let texts = items.iter().map(|item| match item {
        Value::Text(text) => Ok(text.as_ref().to_owned()),
        other => Err(wrong(other)),
    });
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    Ok(texts.into_iter().filter(|text| !text.is_empty()).collect())
}

/// Whether an expression makes the name of an address of mail.
pub fn uses_mail(program: &Program) -> bool {
    uses_claim(program, MAIL)
}

/// Whether an expression looks at whether the address is known to be the user's.
pub fn uses_mail_verified(program: &Program) -> bool {
    uses_claim(program, MAIL_VERIFIED)
}

fn uses_claim(program: &Program, claim: &str) -> bool {
    let is_claims = |term: &Term| matches!(&term.kind, TermKind::Variable(name) if &**name == "claims");
    program.term().any(&mut |term| match &term.kind {
        TermKind::Select { operand, field, .. } | TermKind::Has { operand, field } => {
            &**field == claim && is_claims(operand)
        }
        TermKind::Index { operand, index, .. } => {
            let is_named = matches!(&index.kind, TermKind::Constant(Value::Text(name)) if &**name == claim);
            is_named && is_claims(operand)
        }
        _ => false,
    })
}
