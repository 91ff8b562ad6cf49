//! Whom each controller acts as: ARCHITECTURE.md says it, and roles allow each account what it does.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use orch_api::{core::v1::PersistentVolumeClaimPhase, storagemigration::v1alpha1::StorageVersionMigration};
use orch_auth::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, Target},
};
use orch_registry::options::Propagation;
use orch_runtime::object::Kind;

use super::{
    trust::{all_of, robot, token_secret},
    *,
};
use crate::account::Account;

/// The table of controllers begins below this line.
const TABLE: &str = "| controller | acts as |";

/// What the documents call an account: service accounts by their names alone.
fn shown(account: Account) -> &'static str {
    match account {
        Account::Server => "system:apiserver",
        Account::Manager => "system:kube-controller-manager",
        Account::ServiceAccount(name) => name,
    }
}

/// The name that an account has in requests.
fn user(account: Account) -> String {
    match account {
        Account::ServiceAccount(name) => {
            format!("system:serviceaccount:{}:{name}", orch_api::ORCH.namespace_system)
        }
        account => shown(account).to_owned(),
    }
}

#[test]
fn each_controller_acts_as_the_documents_say() {
    let document = include_str!("../../../../../ARCHITECTURE.md");
    let table = document.lines().skip_while(|line| !line.starts_with(TABLE)).skip(2);
    let row = |line: &str| -> (String, String) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        (cells[1].to_owned(), cells[2].to_owned())
    };
    let said: BTreeMap<_, _> = table.take_while(|line| line.starts_with('|')).map(row).collect();
    let is = all().into_iter().map(|it| (it.name().to_owned(), shown(it.account()).to_owned()));
    let is: BTreeMap<_, _> = is.collect();
    assert_eq!(said, is);
}

/// What each user asked for, and what was refused to it.
struct Asked {
    roles: Arc<dyn Authorizer>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    by: BTreeMap<String, BTreeSet<String>>,
    refused: BTreeSet<String>,
}

impl Authorizer for Asked {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        Answer::Later(Box::pin(async move {
            let decision = self.roles.authorize(attributes).resolve().await;
            let Target::Resource(target) = attributes.target else { return decision };
            let name = &attributes.user.name;
            let what = format!("{} {}/{}", attributes.verb, target.resource, target.subresource);
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !decision.is_allowed() {
                seen.refused.insert(format!("{name}: {what}"));
            }
            seen.by.entry(name.clone()).or_default().insert(what);
            decision
        }))
    }
}

/// Gives every controller that has an account something to write.
async fn work_for_all(fixture: &Fixture) {
    fixture.create::<Namespace>(json!({"metadata": {"name": "going"}})).await;
    fixture.create::<ConfigMap>(json!({"metadata": {"name": "c", "namespace": "going"}})).await;
    for (id, expiration) in [("sign01", "2999-01-01T00:00:00Z"), ("past01", "2001-01-01T00:00:00Z")] {
        fixture.create::<Secret>(token(id, expiration)).await;
    }
    let info = json!({"name": "cluster-info", "namespace": orch_api::ORCH.namespace_public});
    fixture.create::<ConfigMap>(json!({"metadata": info, "data": {"kubeconfig": "k"}})).await;
    fixture.create::<ServiceAccount>(robot()).await;
    fixture.create::<Secret>(token_secret("s", "robot")).await;
    let select = json!({"clusterRoleSelectors": [{"matchLabels": {"part": "x"}}]});
    let whole = json!({"metadata": {"name": "whole"}, "aggregationRule": select});
    fixture.create::<ClusterRole>(whole).await;
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let part = json!({"metadata": {"name": "part", "labels": {"part": "x"}}, "rules": rules});
    fixture.create::<ClusterRole>(part).await;
    let spec = json!({"resource": {"version": "v1", "resource": "configmaps"}});
    fixture.create::<StorageVersionMigration>(json!({"metadata": {"name": "m"}, "spec": spec})).await;
    let (labels, containers) = (json!({"app": "d"}), json!([{"name": "c", "image": "i"}]));
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    let spec = json!({"selector": {"matchLabels": labels}, "template": template});
    fixture.create::<Node>(json!({"metadata": {"name": "n"}})).await;
    let set = json!({"metadata": {"name": "d", "namespace": NAMESPACE}, "spec": spec});
    fixture.create::<DaemonSet>(set).await;
    for name in ["bound", "free"] {
        let spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"},
            "persistentVolumeReclaimPolicy": "Delete",
        });
        fixture.create::<PersistentVolume>(json!({"metadata": {"name": name}, "spec": spec})).await;
    }
    fixture.create::<PersistentVolumeClaim>(claim("c")).await;
}

/// What begins when that is done.
async fn ends_of_all(fixture: &Fixture) {
    fixture.delete::<Namespace>(("", "going")).await;
    fixture.delete::<PersistentVolumeClaim>((NAMESPACE, "c")).await;
    fixture.change::<Node>(("", "n"), "", |node| node["spec"]["unschedulable"] = json!(true)).await;
    fixture.change::<DaemonSet>((NAMESPACE, "d"), "", |set| set["spec"]["minReadySeconds"] = json!(1)).await;
    fixture.delete::<ServiceAccount>((NAMESPACE, "robot")).await;
    let sets = fixture.resource::<DaemonSet>();
    let propagation = Some(Propagation::Foreground);
    let foreground = DeletionOptions { propagation, ..DeletionOptions::default() };
    fixture.client.delete(sets, NAMESPACE, "d", foreground).await.unwrap();
    fixture.settle().await;
    // As the agent of its node does.
    let at_once = DeletionOptions { grace_period: Some(0), ..DeletionOptions::default() };
    for pod in left::<Pod>(fixture) {
        fixture.client.delete(fixture.resource::<Pod>(), NAMESPACE, &pod, at_once.clone()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn each_account_may_do_what_its_controller_does() {
    let fixture = Fixture::new().await;
    let (controllers, _authority) = all_of("one");
    let accounts: BTreeSet<Account> = controllers.iter().map(|controller| controller.account()).collect();
    let asked = Arc::new(Asked { roles: fixture.roles().await, seen: Mutex::default() });
    let judge: Arc<dyn Authorizer> = Arc::clone(&asked) as _;
    let (running, monitor) = fixture.start_under(&judge, controllers);
    work_for_all(&fixture).await;
    let claims = || fixture.client.api::<PersistentVolumeClaim>().unwrap().get(NAMESPACE, "c").unwrap();
    let is_bound = || claims().status.phase == Some(PersistentVolumeClaimPhase::Bound);
    fixture.until("the claim is bound", is_bound).await;
    fixture.until("the set has its pod", || !left::<Pod>(&fixture).is_empty()).await;
    fixture.settle().await;
    ends_of_all(&fixture).await;
    fixture.until("the namespace is gone", || !fixture.exists::<Namespace>(("", "going"))).await;
    fixture.until("the secret is gone", || !fixture.exists::<Secret>((NAMESPACE, "s"))).await;
    fixture.until("the set is gone", || !fixture.exists::<DaemonSet>((NAMESPACE, "d"))).await;
    fixture.settle().await;

    {
        let seen = asked.seen.lock().unwrap();
        assert_eq!(seen.refused, BTreeSet::new());
        let expected: BTreeSet<String> =
            accounts.into_iter().filter(|account| *account != Account::Server).map(user).collect();
        assert_eq!(seen.by.keys().cloned().collect::<BTreeSet<_>>(), expected, "each has written something");
        let failing: Vec<_> =
            monitor.stats().into_iter().filter(|it| it.failing > 0).map(|it| it.name).collect();
        assert_eq!(failing, [""; 0]);
    }
    fixture.finish(running).await;
}

fn left<T: Kind>(fixture: &Fixture) -> Vec<String> {
    let snapshot = fixture.client.snapshot(fixture.resource::<T>());
    snapshot.in_namespace(NAMESPACE).map(|object| object.key().name.to_string()).collect()
}
