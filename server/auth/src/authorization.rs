//! All configured authorizers together.
//!
//! They are asked in order, and the first that allows or denies decides. If none decides, the request is
//! forbidden, and the reasons are joined, one in each line; but it fails if one of them could not find out.

use std::{ops::ControlFlow, path::PathBuf};

use crate::{
    answer::{Answer, in_order},
    authorizer::{
        Attributes, Authorizer, Decision, privileged_group::PrivilegedGroup, reason::Reason, rules::Rules,
    },
    user::UserInfo,
    webhook::WebhookConfig,
};

/// An authorizer that can be configured by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything is allowed.
    AlwaysAllow,
    /// Nothing is allowed.
    AlwaysDeny,
    /// Nodes may do what their pods need.
    Node,
    /// Roles and bindings decide.
    Rbac,
    /// A file of policies decides.
    Abac,
    /// Another server decides.
    Webhook,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 6] =
        [Self::AlwaysAllow, Self::AlwaysDeny, Self::Abac, Self::Node, Self::Rbac, Self::Webhook];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlwaysAllow => "AlwaysAllow",
            Self::AlwaysDeny => "AlwaysDeny",
            Self::Node => "Node",
            Self::Rbac => "RBAC",
            Self::Abac => "ABAC",
            Self::Webhook => "Webhook",
        }
    }
}

/// How requests are authorized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationConfig {
    /// Asked in this order. Members of `system:masters` are allowed before any mode is asked.
    pub modes: Vec<Mode>,
    /// The policies of the mode ABAC; present exactly where that mode is asked.
    pub policy_file: Option<PathBuf>,
    /// The webhook of the mode Webhook; present exactly where that mode is asked.
    pub webhook: Option<WebhookConfig>,
    /// A file that says all this instead: then there are no modes.
    pub file: Option<PathBuf>,
}

/// Decides about every request.
pub struct Authorization {
    authorizers: Vec<Box<dyn Authorizer>>,
}

impl Authorization {
    /// Asks the rule of the privileged group first, then the program's own authorizers (`own`), and then
    /// those of the configured modes.
    pub fn new(
        own: impl IntoIterator<Item = Box<dyn Authorizer>>,
        modes: impl IntoIterator<Item = Box<dyn Authorizer>>,
    ) -> Self {
        let first: Box<dyn Authorizer> = Box::new(PrivilegedGroup);
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

/// What the authorizers say that do not decide.
#[derive(Default)]
struct Reasons {
    reason: Reason,
    problems: Vec<String>,
}

impl Reasons {
    /// Ends with the first decision.
    fn add(&mut self, decision: Decision) -> ControlFlow<Decision> {
        let reason = match decision {
            Decision::Allow { .. } | Decision::Deny { .. } => return ControlFlow::Break(decision),
            Decision::NoOpinion { reason } => reason,
            Decision::Failed { reason, problem } => {
                self.problems.push(problem);
                reason
            }
        };
        if self.reason.is_empty() {
            self.reason = reason;
        } else if !reason.is_empty() {
            self.reason = format!("{}\n{}", &*self.reason, &*reason).into();
        }
        ControlFlow::Continue(())
    }

    fn into_decision(self) -> Decision {
        let Reasons { reason, problems } = self;
        match problems.as_slice() {
            [] => Decision::NoOpinion { reason },
            [one] => Decision::Failed { reason, problem: one.clone() },
            several => Decision::Failed { reason, problem: format!("[{}]", several.join(", ")) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Authorization;
    use crate::{
        answer::Answer,
        authorizer::{
            Attributes, Authorizer, Decision, ResourceTarget, Target, always_allow::AlwaysAllow,
            always_deny::AlwaysDeny, rules::Rules,
        },
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

    fn failed(reason: &'static str, problem: &str) -> Decision {
        Decision::Failed { reason: reason.into(), problem: problem.to_owned() }
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
            (vec![failed("", "gone"), allow()], allow()),
            (vec![failed("", "gone"), deny()], deny()),
            (vec![failed("", "gone"), none("no rule")], failed("no rule", "gone")),
            (vec![failed("a", "gone"), none("b"), failed("", "slow")], failed("a\nb", "[gone, slow]")),
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

    /// Authorizers of modes that need nothing else.
    fn boxed(names: &[&str]) -> Vec<Box<dyn Authorizer>> {
        let one = |name: &&str| match *name {
            "allow" => Box::new(AlwaysAllow) as Box<dyn Authorizer>,
            _ => Box::new(AlwaysDeny),
        };
        names.iter().map(one).collect()
    }

    #[tokio::test]
    async fn modes_decide_in_order_after_the_privileged_group() {
        let plain = UserInfo::new("bob", ["devs"]);
        let master = UserInfo::new("admin", [GROUP_MASTERS]);
        for (modes, plain_allowed) in
            [(vec![], false), (vec!["allow"], true), (vec!["deny"], false), (vec!["deny", "allow"], true)]
        {
            let all = Authorization::new([], boxed(&modes));
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
            let all = Authorization::new([own], boxed(&["allow"]));
            let ask = async |user| all.authorize(&attributes(user)).resolve().await.is_allowed();
            assert_eq!(ask(&plain).await, plain_allowed);
            assert!(ask(&master).await);
        }
    }

    #[tokio::test]
    async fn rules_of_all_authorizers_are_put_together() {
        let user = UserInfo::new("bob", ["devs"]);
        let list =
            async |modes: &[&str]| Authorization::new([], boxed(modes)).rules(&user, "n").resolve().await;
        assert_eq!(list(&["deny"]).await, Rules::default());
        let allowed = list(&["deny", "allow"]).await;
        assert_eq!((allowed.resource.len(), allowed.path.len()), (1, 1));
        assert!(allowed.problems.is_empty());
        let fixed = Fixed { decision: allow(), later: false };
        let members: [Box<dyn Authorizer>; 2] = [Box::new(AlwaysAllow), Box::new(fixed)];
        let partly = Authorization::from_authorizers(members).rules(&user, "n").resolve().await;
        assert_eq!(partly.resource, allowed.resource);
        assert_eq!(partly.problems, Rules::unknown().problems);
    }

    #[tokio::test]
    async fn the_reason_of_a_refusal_reaches_the_caller() {
        let all = Authorization::new([], boxed(&["deny"]));
        let user = UserInfo::new("bob", ["devs"]);
        let decision = all.authorize(&attributes(&user)).resolve().await;
        assert_eq!(decision.reason(), "Everything is forbidden.");
    }
}
