//! The mode `RBAC`: decides by the roles and bindings that are stored.
//!
//! The index follows them before each decision: the source says, without a lock, whether there are changes,
//! and these are applied first. So a change is in force when its write has been answered. The index is locked
//! for decisions, which are short; what needs many rules takes a snapshot of them.

use std::{
    collections::HashSet,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use super::{
    coverage,
    index::Index,
    permission::Missing,
    policy::{Change, PolicyName, PolicyRule},
    refusal,
    rule_set::SharedRules,
};
use crate::{
    answer::Answer,
    authorizer::{
        Attributes, Authorizer, Decision,
        rules::{PathRule, ResourceRule, Rules},
    },
    user::UserInfo,
};

/// About how many bytes of JSON a list of rules has at most.
const MAX_LISTED: usize = 1_500_000;

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
    /// Decides by the roles and bindings in `all`, and the changes that the source brings. `group` is the API
    /// group of roles in messages.
    pub fn new(group: &str, all: Vec<Change>, source: Box<dyn PolicySource>) -> Self {
        Rbac { source, group: group.to_owned(), index: RwLock::new(index_of(group, all)) }
    }

    /// Checks that a user has the rules that they want to give away, in this namespace or, where it is empty,
    /// everywhere.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn check_granted(
        &self,
        user: &UserInfo,
        namespace: &str,
        wanted: impl IntoIterator<Item = &PolicyRule>,
        written: &str,
    ) -> Result<(), String> {
        let (rules, problems) = self.held(user, namespace, written);
        granted(user, &coverage::missing(&rules, wanted).await, &problems)
    }

    /// The same for the rules of a role. One that the user has is not looked at.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn check_role_granted(
        &self,
        user: &UserInfo,
        namespace: &str,
        wanted: &SharedRules,
        written: &str,
    ) -> Result<(), String> {
        let (rules, problems) = self.held(user, namespace, written);
        let wanted = wanted.without(&rules);
        let wanted: Vec<&PolicyRule> = wanted.iter().collect();
        granted(user, &coverage::missing(&rules, wanted).await, &problems)
    }

    /// The rules of a user who writes objects of the resource `written`, and the messages about missing
    /// roles.
    fn held(&self, user: &UserInfo, namespace: &str, written: &str) -> (SharedRules, Vec<String>) {
        let index = self.index();
        (index.rules_of(user, namespace), index.missing_for(user, namespace, written))
    }

    /// The rules of a role, those of its parts if it is aggregated; `None` where it is missing.
    pub fn rules_of_role(&self, name: &PolicyName) -> Option<SharedRules> {
        self.index().rules_of_role(name)
    }

    /// The index with everything that has happened so far.
    fn index(&self) -> RwLockReadGuard<'_, Index> {
        if self.source.has_news() {
            self.catch_up();
        }
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the changes under the lock of the index: a decision that finds none left waits for that lock.
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

fn granted(user: &UserInfo, missing: &Missing<'_>, problems: &[String]) -> Result<(), String> {
    if missing.is_empty() {
        return Ok(());
    }
    Err(refusal::refusal(&user.name, &user.groups, missing, problems))
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
        let (rules, missing) = {
            let index = self.index();
            (index.rules_of(user, namespace), index.missing(user, namespace))
        };
        Answer::Ready(listed(&rules, missing.into_iter().collect()))
    }
}

/// The list of these rules, each once. It ends where it would become too long; repeated rules count too, so
/// that the time for it is bounded as well.
fn listed(rules: &SharedRules, problems: Vec<String>) -> Rules {
    let (mut listed, mut seen) = (Rules { problems, ..Rules::default() }, HashSet::new());
    let mut left = MAX_LISTED;
    for rule in rules.iter() {
        let Some(rest) = left.checked_sub(size(rule)) else {
            listed.problems.push("RBAC: there are more rules than one list may have".to_owned());
            break;
        };
        left = rest;
        if !seen.insert(rule) {
            continue;
        }
        if rule.paths.is_empty() {
            listed.resource.push(resource_rule(rule));
        } else {
            listed.path.push(path_rule(rule));
        }
    }
    listed
}

/// About how many bytes a rule has in JSON.
fn size(rule: &PolicyRule) -> usize {
    /// The names of its fields.
    const FIELDS: usize = 60;
    /// Quotes and a comma.
    const SIGNS: usize = 3;
    let values = rule.lists().into_iter().flatten();
    FIELDS + values.map(|value| value.len() + SIGNS).sum::<usize>()
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
    use std::{
        pin::Pin,
        sync::{
            Mutex,
            atomic::{AtomicBool, Ordering},
        },
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

    /// Admission does so.
    #[test]
    fn a_check_can_go_on_in_another_thread() {
        fn is_sent<'a>(_: Pin<Box<dyn Future<Output = ()> + Send + 'a>>) {}

        let told: &'static Told = Box::leak(Box::default());
        let rbac = Rbac::new("rbac.example.io", Vec::new(), Box::new(told));
        let (user, rules) = (UserInfo::new("bob", [""; 0]), Vec::<PolicyRule>::new());
        let (rbac, user, rules) = (&rbac, &user, &rules);
        is_sent(Box::pin(async move {
            let _ = rbac.check_granted(user, "n", rules, "roles").await;
            let _ = rbac.check_role_granted(user, "n", &SharedRules::default(), "rolebindings").await;
        }));
    }

    #[tokio::test]
    async fn a_user_gives_away_what_they_have() {
        let told: &'static Told = Box::leak(Box::default());
        let all = vec![role("reader", "get"), binding("reader")];
        let rbac = Rbac::new("rbac.example.io", all, Box::new(told));
        let user = UserInfo::new("bob", ["devs"]);
        let wanted = rbac.rules_of_role(&PolicyName::of_cluster("reader")).unwrap();
        let wanted: Vec<&PolicyRule> = wanted.iter().collect();
        let check = async |namespace| rbac.check_granted(&user, namespace, wanted.clone(), "roles").await;
        assert_eq!(check("n").await, Ok(()));
        assert_eq!(
            check("").await.unwrap_err(),
            "user \"bob\" (groups=[\"devs\"]) is attempting to grant RBAC permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"
        );
        let role = rbac.rules_of_role(&PolicyName::of_cluster("reader")).unwrap();
        assert!(rbac.check_role_granted(&user, "n", &role, "rolebindings").await.is_ok());
        assert!(rbac.check_role_granted(&user, "", &role, "rolebindings").await.is_err());
        assert!(rbac.rules_of_role(&PolicyName::of_cluster("none")).is_none());
    }

    fn reader_of(names: impl Iterator<Item = usize>) -> Change {
        let Change::Role(_, Some(role)) = role("reader", "get") else { unreachable!("it is one") };
        let about = |name: usize| PolicyRule { names: vec![format!("n{name}")], ..role.rules[0].clone() };
        let rules = names.map(about).collect();
        Change::Role(PolicyName::of_cluster("reader"), Some(Role { rules, ..Role::default() }))
    }

    #[tokio::test]
    async fn a_list_has_each_rule_once_and_says_where_it_is_cut() {
        let told: &'static Told = Box::leak(Box::default());
        let bound = |number: usize| {
            let Change::Binding(_, binding) = binding("reader") else { unreachable!("it is one") };
            Change::Binding(PolicyName::namespaced("n", format!("b{number}")), binding)
        };
        let bindings = (0..1_000).map(bound);
        let all = bindings.chain([reader_of((0..100).chain(0..100))]).collect();
        let rbac = Rbac::new("rbac.example.io", all, Box::new(told));
        let user = UserInfo::new("bob", [""; 0]);
        let listed = rbac.rules(&user, "n").resolve().await;
        assert_eq!((listed.resource.len(), listed.problems), (100, vec![]));

        told.tell(PolicyNews::Changes(vec![reader_of(0..100_000)]));
        let listed = rbac.rules(&user, "n").resolve().await;
        let names: usize = listed.resource.iter().flat_map(|rule| &rule.names).map(String::len).sum();
        assert!(listed.resource.len() > 5_000 && names < MAX_LISTED, "{}", listed.resource.len());
        assert_eq!(listed.problems, ["RBAC: there are more rules than one list may have"]);
    }
}
