//! Controllers do what their accounts may do, and no more.

use orch_api::rbac::v1::{ClusterRoleBinding, RoleBinding, Subject};

use super::*;
use crate::{account::Account, stats::Stats};

const CONTROLLER: &str = "serviceaccount-controller";
const BINDING: &str = "system:controller:service-account-controller";

fn accounts_only() -> Vec<Box<dyn AnyController>> {
    all().into_iter().filter(|controller| controller.name() == CONTROLLER).collect()
}

#[tokio::test(start_paused = true)]
async fn a_controller_without_its_right_goes_on_when_it_is_back() {
    let fixture = Fixture::new().await;
    let (running, monitor) = fixture.start_under_roles(accounts_only()).await;
    let stats = || -> Stats { monitor.stats().remove(0) };
    fixture.until("it has its right", || fixture.exists::<ServiceAccount>((NAMESPACE, "default"))).await;
    assert_eq!((stats().retries, stats().failing), (0, 0));

    fixture.delete::<ClusterRoleBinding>(("", BINDING)).await;
    fixture.create::<Namespace>(json!({"metadata": {"name": "other"}})).await;
    fixture.until("it is refused", || stats().retries > 3).await;
    assert_eq!(stats().failing, 1, "the namespace is tried again");
    assert!(!fixture.exists::<ServiceAccount>(("other", "default")));

    bootstrap_policy::reconcile(&fixture.client).await.unwrap();
    fixture.until("the right is back", || fixture.exists::<ServiceAccount>(("other", "default"))).await;
    fixture.settle().await;
    assert_eq!(stats().failing, 0);
    fixture.finish(running).await;
}

/// Each service account that a controller has is the subject of a binding of the seed.
#[tokio::test(start_paused = true)]
async fn each_account_has_roles() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start_under_roles(Vec::new()).await;
    let everywhere = fixture.client.api::<ClusterRoleBinding>().unwrap().list("");
    let in_namespaces = fixture.client.api::<RoleBinding>().unwrap().list("");
    let subjects: Vec<_> = everywhere
        .into_iter()
        .flat_map(|binding| binding.subjects)
        .chain(in_namespaces.into_iter().flat_map(|binding| binding.subjects))
        .collect();
    let is_bound = |account: Account| {
        let (kind, namespace, name) = match account {
            Account::Server => return true,
            Account::Manager => ("User", "", "system:kube-controller-manager"),
            Account::ServiceAccount(name) => ("ServiceAccount", orch_api::ORCH.namespace_system, name),
        };
        let is_it = |subject: &Subject| {
            (&*subject.kind, &*subject.namespace, &*subject.name) == (kind, namespace, name)
        };
        subjects.iter().any(is_it)
    };
    for controller in all() {
        assert!(is_bound(controller.account()), "{}: {:?}", controller.name(), controller.account());
    }
    assert!(!is_bound(Account::ServiceAccount("nobody")));
    fixture.finish(running).await;
}
