//! Pods with accounts, as `kubectl` makes and shows them.

use orch_tests::{
    TestServer,
    kubectl::{Kubectl, is_installed},
};

#[tokio::test]
async fn pods_that_are_run_have_the_default_account() {
    if !is_installed("accounts of pods") {
        return;
    }
    let flag = "--enable-admission-plugins=ServiceAccount";
    let server = TestServer::options().vocabulary("kubernetes").publish_authority().flag(flag).start().await;
    let kubectl = Kubectl { server: &server };
    kubectl.run("run p --image=x:1").await;
    kubectl.prints("get pod p -o jsonpath={.spec.serviceAccountName}", "default").await;
    let shown =
        ["Service Account:  default", "/var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-"];
    kubectl.shows("describe pod p", &shown).await;
    kubectl.shows("describe pod p", &["TokenExpirationSeconds:  3607", "kube-root-ca.crt"]).await;
    let overrides = r#"--overrides={"spec":{"serviceAccountName":"lost"}}"#;
    let said = "error looking up service account default/lost: serviceaccount \"lost\" not found";
    kubectl.fails(&format!("run q --image=x:1 {overrides}"), &[said]).await;
    kubectl.run("create serviceaccount lost").await;
    kubectl.run(&format!("run q --image=x:1 {overrides}")).await;
}
