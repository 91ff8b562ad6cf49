//! Allows everything.

use crate::{
    answer::Answer,
    authorizer::{
        Attributes, Authorizer, Decision,
        rules::{PathRule, ResourceRule, Rules},
    },
    user::UserInfo,
};

/// The mode `AlwaysAllow`: for trials, and behind a proxy that authorizes requests.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        Answer::Ready(Decision::Allow { reason: "".into() })
    }

    fn rules<'a>(&'a self, _user: &'a UserInfo, _namespace: &'a str) -> Answer<'a, Rules> {
        let all = || vec!["*".to_owned()];
        Answer::Ready(Rules {
            resource: vec![ResourceRule { verbs: all(), groups: all(), resources: all(), names: Vec::new() }],
            path: vec![PathRule { verbs: all(), paths: all() }],
            problems: Vec::new(),
        })
    }
}
