//! All configured authorizers together.
//!
//! They are asked in order, and the first that allows or denies decides. If none decides, the request is
//! forbidden, and the reasons are joined, one in each line.

use std::{borrow::Cow, ops::ControlFlow};

use crate::{
    answer::{Answer, in_order},
    authorizer::{
        Attributes, Authorizer, Decision, always_allow::AlwaysAllow, always_deny::AlwaysDeny,
        privileged_group::PrivilegedGroup, rules::Rules,
    },
    user::UserInfo,
};

/// An authorizer that can be configured by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything is allowed.
    AlwaysAllow,
    /// Nothing is allowed.
    AlwaysDeny,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::AlwaysAllow, Self::AlwaysDeny];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlwaysAllow => "AlwaysAllow",
            Self::AlwaysDeny => "AlwaysDeny",
        }
    }

    fn authorizer(self) -> Box<dyn Authorizer> {
        match self {
            Self::AlwaysAllow => Box::new(AlwaysAllow),
            Self::AlwaysDeny => Box::new(AlwaysDeny),
        }
    }
}

/// How requests are authorized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationConfig {
    /// Asked in this order. Members of `system:masters` are allowed before any mode is asked.
    pub modes: Vec<Mode>,
}

/// Decides about every request.
pub struct Authorization {
    authorizers: Vec<Box<dyn Authorizer>>,
}

impl Authorization {
    /// Sets up the configured modes. The program's own authorizers (`own`) are asked before them.
    pub fn new(config: &AuthorizationConfig, own: impl IntoIterator<Item = Box<dyn Authorizer>>) -> Self {
        let first: Box<dyn Authorizer> = Box::new(PrivilegedGroup);
        let modes = config.modes.iter().map(|mode| mode.authorizer());
        Self::from_authorizers(std::iter::once(first).chain(own).chain(modes))
    }

    /// Uses exactly these authorizers, in this order.
    pub fn from_authorizers(authorizers: impl IntoIterator<Item = Box<dyn Authorizer>>) -> Self {
        Self { authorizers: authorizers.into_iter().collect() }
    }
}

impl Authorizer for Authorization {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        let decisions = self.authorizers.iter().map(|authorizer| authorizer.authorize(attributes));
        in_order(decisions, Reasons::default(), Reasons::add, Reasons::into_decision)
    }

    /// The rules of all authorizers together.
    fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> Answer<'a, Rules> {
        let lists = self.authorizers.iter().map(move |authorizer| authorizer.rules(user, namespace));
        let add = |all: &mut Rules, rules: Rules| {
            all.extend(rules);
            ControlFlow::Continue(())
        };
        in_order(lists, Rules::default(), add, |all| all)
    }
}

/// The reasons of the authorizers that have no opinion.
#[derive(Default)]
struct Reasons(Cow<'static, str>);

impl Reasons {
    /// Ends with the first decision.
    fn add(&mut self, decision: Decision) -> ControlFlow<Decision> {
        let Decision::NoOpinion { reason } = decision else { return ControlFlow::Break(decision) };
        if self.0.is_empty() {
            self.0 = reason;
        } else if !reason.is_empty() {
            let joined = self.0.to_mut();
            joined.push('\n');
            joined.push_str(&reason);
        }
        ControlFlow::Continue(())
    }

    fn into_decision(self) -> Decision {
        Decision::NoOpinion { reason: self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Authorization, AuthorizationConfig, Mode};
    use crate::{
        answer::Answer,
        authorizer::{Attributes, Authorizer, Decision, ResourceTarget, Target, rules::Rules},
        user::{GROUP_MASTERS, UserInfo},
    };

    /// Gives a fixed answer, at once or after one turn of the executor.
    struct Fixed {
        decision: Decision,
        later: bool,
    }

    impl Authorizer for Fixed {
        fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
            let decision = self.decision.clone();
            if !self.later {
                return Answer::Ready(decision);
            }
            Answer::Later(Box::pin(async move {
                tokio::task::yield_now().await;
                decision
            }))
        }
    }

    fn allow() -> Decision {
        Decision::Allow { reason: "granted".into() }
    }

    fn deny() -> Decision {
        Decision::Deny { reason: "vetoed".into() }
    }

    fn none(reason: &'static str) -> Decision {
        Decision::NoOpinion { reason: reason.into() }
    }

    fn attributes(user: &UserInfo) -> Attributes<'_> {
        let target =
            Target::Resource(ResourceTarget { version: "v1", resource: "pods", ..Default::default() });
        Attributes { user, verb: "list", target }
    }

    #[tokio::test]
    async fn the_first_that_decides_is_final_at_once_or_later() {
        let cases = [
            (vec![], none("")),
            (vec![allow(), deny()], allow()),
            (vec![deny(), allow()], deny()),
            (vec![none("no rule"), allow()], allow()),
            (vec![none("no rule"), none(""), none("no policy")], none("no rule\nno policy")),
            (vec![none(""), none("no policy")], none("no policy")),
        ];
        let user = UserInfo::new("bob", ["devs"]);
        for (decisions, expected) in cases {
            // Each bit of the pattern says whether one member answers later.
            for pattern in 0..1_u32 << decisions.len() {
                let members = decisions.iter().cloned().enumerate().map(|(position, decision)| {
                    let later = pattern >> position & 1 == 1;
                    Box::new(Fixed { decision, later }) as Box<dyn Authorizer>
                });
                let all = Authorization::from_authorizers(members);
                let decision = all.authorize(&attributes(&user)).resolve().await;
                assert_eq!(decision, expected, "{decisions:?} later={pattern:b}");
            }
        }
    }

    #[tokio::test]
    async fn modes_decide_in_order_after_the_privileged_group() {
        let plain = UserInfo::new("bob", ["devs"]);
        let master = UserInfo::new("admin", [GROUP_MASTERS]);
        for (modes, plain_allowed) in [
            (vec![], false),
            (vec![Mode::AlwaysAllow], true),
            (vec![Mode::AlwaysDeny], false),
            (vec![Mode::AlwaysDeny, Mode::AlwaysAllow], true),
        ] {
            let all = Authorization::new(&AuthorizationConfig { modes: modes.clone() }, []);
            let ask = async |user| all.authorize(&attributes(user)).resolve().await.is_allowed();
            assert_eq!(ask(&plain).await, plain_allowed, "{modes:?}");
            assert!(ask(&master).await, "{modes:?}");
        }
    }

    #[tokio::test]
    async fn own_authorizers_are_asked_after_the_privileged_group_and_before_the_modes() {
        let plain = UserInfo::new("bob", ["devs"]);
        let master = UserInfo::new("admin", [GROUP_MASTERS]);
        for (own, plain_allowed) in [(deny(), false), (none("not mine"), true), (allow(), true)] {
            let own: Box<dyn Authorizer> = Box::new(Fixed { decision: own, later: false });
            let all = Authorization::new(&AuthorizationConfig { modes: vec![Mode::AlwaysAllow] }, [own]);
            let ask = async |user| all.authorize(&attributes(user)).resolve().await.is_allowed();
            assert_eq!(ask(&plain).await, plain_allowed);
            assert!(ask(&master).await);
        }
    }

    #[tokio::test]
    async fn rules_of_all_authorizers_are_put_together() {
        let user = UserInfo::new("bob", ["devs"]);
        let list = async |modes: &[Mode]| {
            let all = Authorization::new(&AuthorizationConfig { modes: modes.to_vec() }, []);
            all.rules(&user, "n").resolve().await
        };
        assert_eq!(list(&[Mode::AlwaysDeny]).await, Rules::default());
        let allowed = list(&[Mode::AlwaysDeny, Mode::AlwaysAllow]).await;
        assert_eq!((allowed.resource.len(), allowed.path.len()), (1, 1));
        assert!(allowed.problems.is_empty());
        let fixed = Fixed { decision: allow(), later: false };
        let members: [Box<dyn Authorizer>; 2] =
            [Box::new(crate::authorizer::always_allow::AlwaysAllow), Box::new(fixed)];
        let partly = Authorization::from_authorizers(members).rules(&user, "n").resolve().await;
        assert_eq!(partly.resource, allowed.resource);
        assert_eq!(partly.problems, Rules::unknown().problems);
    }

    #[tokio::test]
    async fn the_reason_of_a_refusal_reaches_the_caller() {
        let all = Authorization::new(&AuthorizationConfig { modes: vec![Mode::AlwaysDeny] }, []);
        let user = UserInfo::new("bob", ["devs"]);
        let decision = all.authorize(&attributes(&user)).resolve().await;
        assert_eq!(decision.reason(), "Everything is forbidden.");
    }
}
