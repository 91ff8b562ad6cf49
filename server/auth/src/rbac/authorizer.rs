//! The mode `RBAC`: decides by the roles and bindings that are stored.
//!
//! The index follows them when somebody asks. Before each decision the source is asked whether there is news,
//! which takes no lock; what there is, is read before the decision. So a change is in force when the answer
//! to its write has been given.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::{
    coverage,
    index::{Index, RulesOf},
    policy::{Change, PolicyName, PolicyRule},
};
use crate::{
    answer::Answer,
    authorizer::{
        Attributes, Authorizer, Decision,
        rules::{PathRule, ResourceRule, Rules},
    },
    user::UserInfo,
};

/// Where roles and bindings come from.
pub trait PolicySource: Send + Sync {
    /// Whether something may have happened that [`news`](PolicySource::news) has not returned. It is asked
    /// for each decision.
    fn has_news(&self) -> bool;

    /// What happened since the last call.
    fn news(&self) -> PolicyNews;
}

/// What happened to roles and bindings.
#[derive(Debug)]
pub enum PolicyNews {
    /// All that there is; everything else is gone.
    Everything(Vec<Change>),
    /// What happened, in order.
    Changes(Vec<Change>),
}

/// See the module.
pub struct Rbac {
    source: Box<dyn PolicySource>,
    group: String,
    index: RwLock<Index>,
}

impl Rbac {
    /// Decides by what the source tells; `all` is what there is at the beginning. `group` is the API group of
    /// roles in messages.
    pub fn new(group: &str, all: Vec<Change>, source: Box<dyn PolicySource>) -> Self {
        Rbac { source, group: group.to_owned(), index: RwLock::new(index_of(group, all)) }
    }

    /// Checks that a user has the rules that they want to give away, in this namespace or, where it is empty,
    /// everywhere.
    ///
    /// # Errors
    /// The message for the user.
    pub fn check_granted(
        &self,
        user: &UserInfo,
        namespace: &str,
        wanted: &[PolicyRule],
        written: &str,
    ) -> Result<(), String> {
        let index = self.index();
        let RulesOf { rules, .. } = index.rules_of(user, namespace);
        let missing = coverage::missing(&rules, wanted);
        if missing.is_empty() {
            return Ok(());
        }
        let problems = index.missing_for(user, namespace, written);
        Err(coverage::refusal(&user.name, &user.groups, missing, &problems))
    }

    /// The rules of a role, those of its parts if it is aggregated; `None` where it is missing.
    pub fn rules_of_role(&self, name: &PolicyName) -> Option<Vec<PolicyRule>> {
        self.index().rules_of_role(name).map(|rules| rules.into_iter().cloned().collect())
    }

    /// The index with everything that has happened so far.
    fn index(&self) -> RwLockReadGuard<'_, Index> {
        if self.source.has_news() {
            self.catch_up();
        }
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The news are taken while the index is locked: whoever finds none any more waits for them at the lock.
    fn catch_up(&self) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if !self.source.has_news() {
            return;
        }
        match self.source.news() {
            PolicyNews::Changes(changes) => {
                for change in changes {
                    index.apply(change);
                }
            }
            PolicyNews::Everything(all) => *index = index_of(&self.group, all),
        }
    }
}

fn index_of(group: &str, all: Vec<Change>) -> Index {
    let mut index = Index::new(group);
    for change in all {
        index.apply(change);
    }
    index
}

impl Authorizer for Rbac {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        Answer::Ready(self.index().decide(attributes))
    }

    fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> Answer<'a, Rules> {
        let index = self.index();
        let RulesOf { rules, problems } = index.rules_of(user, namespace);
        let (paths, resources): (Vec<_>, Vec<_>) = rules.into_iter().partition(|rule| !rule.paths.is_empty());
        Answer::Ready(Rules {
            resource: resources.into_iter().map(resource_rule).collect(),
            path: paths.into_iter().map(path_rule).collect(),
            problems,
        })
    }
}

fn resource_rule(rule: &PolicyRule) -> ResourceRule {
    let PolicyRule { verbs, groups, resources, names, .. } = rule.clone();
    ResourceRule { verbs, groups, resources, names }
}

fn path_rule(rule: &PolicyRule) -> PathRule {
    PathRule { verbs: rule.verbs.clone(), paths: rule.paths.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;
    use crate::{
        authorizer::{ResourceTarget, Target},
        rbac::policy::{Binding, Role, Subject},
    };

    /// News that a test puts in.
    #[derive(Default)]
    struct Told {
        has_news: AtomicBool,
        news: Mutex<Vec<PolicyNews>>,
    }

    impl PolicySource for &'static Told {
        fn has_news(&self) -> bool {
            self.has_news.load(Ordering::SeqCst)
        }

        fn news(&self) -> PolicyNews {
            self.has_news.store(false, Ordering::SeqCst);
            self.news.lock().unwrap().remove(0)
        }
    }

    impl Told {
        fn tell(&self, news: PolicyNews) {
            self.news.lock().unwrap().push(news);
            self.has_news.store(true, Ordering::SeqCst);
        }
    }

    fn role(name: &str, verb: &str) -> Change {
        let list = |text: &str| vec![text.to_owned()];
        let rule = PolicyRule {
            verbs: list(verb),
            groups: list(""),
            resources: list("pods"),
            ..PolicyRule::default()
        };
        Change::Role(PolicyName::of_cluster(name), Some(Role { rules: vec![rule], ..Role::default() }))
    }

    fn binding(role: &str) -> Change {
        let binding =
            Binding { role: PolicyName::of_cluster(role), subjects: vec![Subject::User("bob".to_owned())] };
        Change::Binding(PolicyName::namespaced("n", "b"), Some(binding))
    }

    #[tokio::test]
    async fn news_are_in_force_at_the_next_decision() {
        let told: &'static Told = Box::leak(Box::default());
        let rbac = Rbac::new("rbac.example.io", vec![role("reader", "get")], Box::new(told));
        let user = UserInfo::new("bob", [""; 0]);
        let may = async |verb: &str, namespace: &str| {
            let target = ResourceTarget { resource: "pods", namespace, ..ResourceTarget::default() };
            let attributes = Attributes { user: &user, verb, target: Target::Resource(target) };
            rbac.authorize(&attributes).resolve().await
        };
        assert_eq!(may("get", "n").await, Decision::NoOpinion { reason: "".into() });
        told.tell(PolicyNews::Changes(vec![binding("reader")]));
        let reason = r#"RBAC: allowed by RoleBinding "b/n" of ClusterRole "reader" to User "bob""#;
        assert_eq!(may("get", "n").await, Decision::Allow { reason: reason.into() });
        assert!(!may("get", "m").await.is_allowed());
        assert!(!may("list", "n").await.is_allowed());

        told.tell(PolicyNews::Changes(vec![Change::Role(PolicyName::of_cluster("reader"), None)]));
        let reason = r#"RBAC: clusterrole.rbac.example.io "reader" not found"#;
        assert_eq!(may("get", "n").await, Decision::NoOpinion { reason: reason.into() });
        assert_eq!(may("get", "m").await, Decision::NoOpinion { reason: "".into() });

        told.tell(PolicyNews::Everything(vec![binding("lister"), role("lister", "list")]));
        assert!(!may("get", "n").await.is_allowed());
        assert!(may("list", "n").await.is_allowed());
        let listed = rbac.rules(&user, "n").resolve().await;
        assert_eq!((listed.resource.len(), listed.problems.len()), (1, 0));
        assert_eq!(rbac.rules(&user, "m").resolve().await, Rules::default());
    }

    #[test]
    fn a_user_gives_away_what_they_have() {
        let told: &'static Told = Box::leak(Box::default());
        let all = vec![role("reader", "get"), binding("reader")];
        let rbac = Rbac::new("rbac.example.io", all, Box::new(told));
        let user = UserInfo::new("bob", ["devs"]);
        let wanted = rbac.rules_of_role(&PolicyName::of_cluster("reader")).unwrap();
        assert_eq!(rbac.check_granted(&user, "n", &wanted, "roles"), Ok(()));
        assert_eq!(
            rbac.check_granted(&user, "", &wanted, "roles").unwrap_err(),
            "user \"bob\" (groups=[\"devs\"]) is attempting to grant RBAC permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"
        );
        assert_eq!(rbac.rules_of_role(&PolicyName::of_cluster("none")), None);
    }
}
