//! Allows nothing.

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    user::UserInfo,
};

/// The mode `AlwaysDeny`. It has no opinion instead of denying, so that another mode can still allow.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        Answer::Ready(Decision::NoOpinion { reason: "Everything is forbidden.".into() })
    }

    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        Answer::Ready(Rules::default())
    }
}
