//! Kinds that are questions: who answers them.

mod access;
mod identity;
mod rules;

use std::pin::Pin;

use orch_auth::user::UserInfo;
use orch_runtime::{object::ApiObject, resource_def::ResourceDef};

use crate::{error::Result, registry::Call};

/// A question, and who asked it.
pub struct Asked<'a> {
    /// The request.
    pub call: Call<'a>,
    /// Who is asking.
    pub user: &'a UserInfo,
    /// The question, complete and valid.
    pub question: &'a mut dyn ApiObject,
}

/// An answer in the making.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Answers the questions of one kind.
pub trait Review: Send + Sync {
    /// Fills in what the client may leave out, before the question is validated.
    ///
    /// # Errors
    /// 400 for a question that says too little.
    fn prepare(&self, _question: &mut dyn ApiObject) -> Result<()> {
        Ok(())
    }

    /// Whether the answer repeats the question, with a record of who asked.
    fn repeats_question(&self) -> bool {
        true
    }

    /// Writes the answer into the question.
    fn answer<'a>(&'a self, asked: Asked<'a>) -> Answering<'a>;
}

/// Who answers questions of a kind; nobody for kinds that are not the product's own.
pub fn of(def: &ResourceDef) -> Option<&'static dyn Review> {
    match (def.group.split('.').next().unwrap_or_default(), def.kind) {
        ("authorization", "SubjectAccessReview") => Some(&access::Subject),
        ("authorization", "LocalSubjectAccessReview") => Some(&access::LocalSubject),
        ("authorization", "SelfSubjectAccessReview") => Some(&access::SelfSubject),
        ("authorization", "SelfSubjectRulesReview") => Some(&rules::SelfRules),
        ("authentication", "SelfSubjectReview") => Some(&identity::SelfSubject),
        ("authentication", "TokenReview") => Some(&identity::Token),
        _ => None,
    }
}
