//! Whom controllers act as, and so what they may do.
//!
//! What a controller writes is authorized for its account as it would be for a caller over the network. The
//! product's controllers have the accounts and roles of the reference (`schema/seed/controller-roles.yaml`).
//! What the reference's server does by itself, and not its manager of controllers, is done by the server
//! here too. Reads look into the server's memory, as those of the reference's controllers look into shared
//! informers; nobody is asked about them.

use std::sync::Arc;

use orch_auth::{
    authorizer::Authorizer,
    service_account,
    user::{GROUP_AUTHENTICATED, UserInfo},
};
use orch_registry::client::Identity;
use orch_runtime::vocabulary::Vocabulary;

/// The user that the manager of controllers is.
const MANAGER: &str = "system:kube-controller-manager";

/// Whom a controller acts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// The server itself, `system:apiserver`, which may do everything.
    Server,
    /// The manager of all controllers, `system:kube-controller-manager`.
    Manager,
    /// The service account of this name in the system namespace. It need not exist as an object; a binding
    /// to it is enough.
    ServiceAccount(&'static str),
}

impl Account {
    /// The identity that has this account on a server with this authorizer.
    pub(crate) fn identity(self, vocabulary: &Vocabulary, authorizer: &Arc<dyn Authorizer>) -> Identity {
        let user = match self {
            Account::Server => return Identity::server(),
            Account::Manager => UserInfo::new(MANAGER, [GROUP_AUTHENTICATED]),
            Account::ServiceAccount(name) => service_account::user(vocabulary.namespace_system, name),
        };
        Identity::new(user, Arc::clone(authorizer))
    }
}
