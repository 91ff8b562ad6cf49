//! The context of one request: who makes it, and what is collected while it is answered.

use std::sync::{Mutex, MutexGuard, PoisonError};

use orch_auth::{answer::Answer, authorizer::Decision, user::UserInfo};

use crate::core::Core;

/// Who makes a request, and whether they may do something else in passing.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The identity.
    pub user: &'a UserInfo,
    /// Answers for what the verb of the request alone does not settle.
    pub access: &'a dyn Access,
}

/// Decides whether a caller may also do something else to what the request is about.
pub trait Access: Sync {
    /// Whether the caller may do `verb` to it.
    fn may<'a>(&'a self, verb: &'a str) -> Answer<'a, Decision>;
}

/// What is known of one request, and what is to be told of it.
pub struct RequestContext<'a> {
    /// The server.
    pub core: &'a Core,
    /// Who makes the request.
    pub caller: Caller<'a>,
    /// What the client calls itself; a write without a field manager is recorded under it.
    pub user_agent: &'a str,
    warnings: Mutex<Vec<String>>,
}

impl<'a> RequestContext<'a> {
    /// A request that nothing has been said about yet.
    pub fn new(core: &'a Core, caller: Caller<'a>, user_agent: &'a str) -> Self {
        RequestContext { core, caller, user_agent, warnings: Mutex::default() }
    }

    /// Tells the client something that it should know although the request succeeds.
    pub fn warn(&self, warning: impl Into<String>) {
        self.warnings().push(warning.into());
    }

    /// Tells the client several things.
    pub fn warn_all(&self, warnings: impl IntoIterator<Item = String>) {
        self.warnings().extend(warnings);
    }

    /// How many warnings there are, for [`rewind_warnings`](RequestContext::rewind_warnings).
    pub fn count_warnings(&self) -> usize {
        self.warnings().len()
    }

    /// Forgets later warnings: a write that runs again gives its warnings anew.
    pub fn rewind_warnings(&self, count: usize) {
        self.warnings().truncate(count);
    }

    /// Takes out the warnings, in the order in which they were given.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings())
    }

    fn warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
