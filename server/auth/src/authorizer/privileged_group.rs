//! Members of `system:masters` may do everything, whatever else is configured.

use std::borrow::Cow;

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    user::{GROUP_MASTERS, UserInfo},
};

/// Stands before all configured modes, so that no configuration locks the administrator out.
#[derive(Clone, Copy, Debug)]
pub struct PrivilegedGroup;

impl Authorizer for PrivilegedGroup {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        let reason = Cow::Borrowed("");
        Answer::Ready(if attributes.user.in_group(GROUP_MASTERS) {
            Decision::Allow { reason }
        } else {
            Decision::NoOpinion { reason }
        })
    }

    /// A back door is not advertised: the configured modes tell what members may do.
    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        Answer::Ready(Rules::default())
    }
}
