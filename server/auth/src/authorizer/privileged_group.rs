//! Members of `system:masters` may do everything, whatever else is configured.

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    user::{GROUP_MASTERS, UserInfo},
};

/// It is asked before all configured modes, so that no configuration can lock out the administrator.
#[derive(Clone, Copy, Debug)]
pub struct PrivilegedGroup;

impl Authorizer for PrivilegedGroup {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        let reason = "".into();
        Answer::Ready(if attributes.user.in_group(GROUP_MASTERS) {
            Decision::Allow { reason }
        } else {
            Decision::NoOpinion { reason }
        })
    }

    /// The rules of this group are not listed; lists show what the configured modes allow.
    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        Answer::Ready(Rules::default())
    }
}
