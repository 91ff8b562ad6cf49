//! How often each configured authorizer decides. Those that have no opinion are not counted.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    user::UserInfo,
};

/// The counts of all authorizers. They outlive a change of the configuration: one that keeps its type and its
/// name goes on counting.
#[derive(Debug, Default)]
pub struct Decisions(Mutex<BTreeMap<Decider, Arc<Counts>>>);

/// A configured authorizer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decider {
    /// `RBAC`, `Webhook` ...
    pub kind: &'static str,
    /// Its name in the configuration.
    pub name: String,
}

/// What an authorizer decided, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Requests that it allowed.
    pub allowed: u64,
    /// Requests that it denied, whatever others would say.
    pub denied: u64,
}

#[derive(Debug, Default)]
struct Counts {
    allowed: AtomicU64,
    denied: AtomicU64,
}

/// An authorizer whose decisions are counted.
struct Counted {
    authorizer: Box<dyn Authorizer>,
    counts: Arc<Counts>,
}

impl Decisions {
    /// Counts what this authorizer decides.
    pub fn of(&self, decider: Decider, authorizer: Box<dyn Authorizer>) -> Box<dyn Authorizer> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = Arc::clone(all.entry(decider).or_default());
        Box::new(Counted { authorizer, counts })
    }

    /// The counts now.
    pub fn get(&self) -> Vec<(Decider, Decided)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |counts: &Counts| Decided {
            allowed: counts.allowed.load(Ordering::Relaxed),
            denied: counts.denied.load(Ordering::Relaxed),
        };
        all.iter().map(|(decider, counts)| (decider.clone(), read(counts))).collect()
    }
}

impl Counts {
    fn add(&self, decision: &Decision) {
        match decision {
            Decision::Allow { .. } => &self.allowed,
            Decision::Deny { .. } => &self.denied,
            Decision::NoOpinion { .. } | Decision::Failed { .. } => return,
        }
        .fetch_add(1, Ordering::Relaxed);
    }
}

impl Authorizer for Counted {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        match self.authorizer.authorize(attributes) {
            Answer::Ready(decision) => {
                self.counts.add(&decision);
                Answer::Ready(decision)
            }
            Answer::Later(decision) => Answer::Later(Box::pin(async move {
                let decision = decision.await;
                self.counts.add(&decision);
                decision
            })),
        }
    }

    fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> Answer<'a, Rules> {
        self.authorizer.rules(user, namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::{Decided, Decider, Decisions};
    use crate::{
        answer::Answer,
        authorizer::{Attributes, Authorizer, Decision, Target, always_allow::AlwaysAllow},
        user::UserInfo,
    };

    /// Answers later, by the path.
    struct ByPath;

    impl Authorizer for ByPath {
        fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
            let decision = match attributes.target {
                Target::Path("/deny") => Decision::Deny { reason: "".into() },
                Target::Path("/fail") => Decision::Failed { reason: "".into(), problem: "gone".to_owned() },
                _ => Decision::NoOpinion { reason: "".into() },
            };
            Answer::Later(Box::pin(async { decision }))
        }
    }

    #[tokio::test]
    async fn decisions_are_counted_by_who_made_them_over_changes_of_the_configuration() {
        let decisions = Decisions::default();
        let decider = |kind: &'static str, name: &str| Decider { kind, name: name.to_owned() };
        let user = UserInfo::anonymous();
        for _ in 0..2 {
            let hook = decisions.of(decider("Webhook", "first"), Box::new(ByPath));
            let all = decisions.of(decider("AlwaysAllow", "alwaysallow"), Box::new(AlwaysAllow));
            for path in ["/deny", "/fail", "/none"] {
                let attributes = Attributes { user: &user, verb: "get", target: Target::Path(path) };
                for authorizer in [&hook, &all] {
                    let _ = authorizer.authorize(&attributes).resolve().await;
                }
            }
        }
        assert_eq!(
            decisions.get(),
            [
                (decider("AlwaysAllow", "alwaysallow"), Decided { allowed: 6, denied: 0 }),
                (decider("Webhook", "first"), Decided { allowed: 0, denied: 2 }),
            ]
        );
    }
}
