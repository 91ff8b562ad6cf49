//! The request context: who makes the request, and the warnings that are collected while it is answered.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use orch_auth::{answer::Answer, authorizer::Decision, user::UserInfo};

use crate::{core::Core, fence::Fence, spelling::Spelling};

/// Who makes a request, and what else they may do.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The identity.
    pub user: &'a UserInfo,
    /// Decides about what the verb of the request does not cover, such as a create by PUT.
    pub access: &'a dyn Access,
}

/// Decides whether a caller may do more to the request's target than the request's verb.
pub trait Access: Sync {
    /// Whether the caller may do `verb` to the target of the request.
    fn may<'a>(&'a self, verb: &'a str) -> Answer<'a, Decision>;
}

/// The context of one request.
pub struct RequestContext<'a> {
    /// The server.
    pub core: &'a Core,
    /// Who makes the request.
    pub caller: Caller<'a>,
    /// What the client calls itself; a write without a field manager is recorded under it.
    pub user_agent: &'a str,
    /// What its writes commit behind.
    pub(crate) fence: Option<&'a Fence>,
    warnings: Mutex<Vec<String>>,
    /// Set once: by the path or by the body.
    spelling: OnceLock<Arc<Spelling>>,
    issued_credential: OnceLock<String>,
}

impl<'a> RequestContext<'a> {
    /// The context of a request, without warnings.
    pub fn new(core: &'a Core, caller: Caller<'a>, user_agent: &'a str) -> Self {
        RequestContext {
            core,
            caller,
            user_agent,
            fence: None,
            warnings: Mutex::default(),
            spelling: OnceLock::new(),
            issued_credential: OnceLock::new(),
        }
    }

    /// The same, whose writes commit only as long as the lease of this fence is held.
    #[must_use]
    pub fn behind(self, fence: Option<&'a Fence>) -> Self {
        RequestContext { fence, ..self }
    }

    /// From here on the client names groups in this spelling.
    pub fn spells(&self, spelling: &Arc<Spelling>) {
        // The path comes first. There is one other vocabulary, so the body cannot mean another one.
        let _ = self.spelling.set(Arc::clone(spelling));
    }

    /// How the client names groups, where that is not the server's own spelling.
    pub fn spelling(&self) -> Option<&Arc<Spelling>> {
        self.spelling.get()
    }

    /// Notes the id of the credential that the request is given. Audit records it, so that later requests
    /// with the credential can be traced to this one.
    pub fn issues_credential(&self, id: String) {
        // A request gets one at most.
        let _ = self.issued_credential.set(id);
    }

    /// The id of the credential that the request gets.
    pub fn issued_credential(&self) -> Option<&str> {
        self.issued_credential.get().map(String::as_str)
    }

    /// Adds a warning to the answer, whether the request succeeds or not.
    pub fn warn(&self, warning: impl Into<String>) {
        self.warnings().push(warning.into());
    }

    /// Adds several warnings.
    pub fn warn_all(&self, warnings: impl IntoIterator<Item = String>) {
        self.warnings().extend(warnings);
    }

    /// How many warnings there are, for [`rewind_warnings`](RequestContext::rewind_warnings).
    pub fn count_warnings(&self) -> usize {
        self.warnings().len()
    }

    /// Drops all but the first `count` warnings. A write that runs again gives its warnings again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{behaviour::Behaviours, test_core};

    #[test]
    fn a_write_that_runs_again_gives_its_warnings_once() {
        let (core, user) = (test_core::core(&Behaviours::default()), UserInfo::anonymous());
        let cx = RequestContext::new(&core, test_core::caller(&user), "test");
        cx.warn("of the body");
        let before = cx.count_warnings();
        for attempt in ["first", "second"] {
            cx.rewind_warnings(before);
            cx.warn_all([format!("{attempt} attempt"), "both attempts".to_owned()]);
        }
        assert_eq!(cx.take_warnings(), ["of the body", "second attempt", "both attempts"]);
        assert_eq!(cx.count_warnings(), 0);
    }
}
