//! What new pods get from their accounts, and which pods are refused.

use orch_runtime::Tree;
use serde_json::json;

use super::*;
use crate::testing::{NAMESPACE, TestServer, is_owned};

const PLACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

async fn server() -> TestServer {
    let server = TestServer::start_with_plugin("ServiceAccount").await;
    account(&server, DEFAULT, json!({})).await;
    server
}

async fn account(server: &TestServer, name: &str, with: Tree) {
    let mut account = json!({"metadata": {"name": name}});
    add(&mut account, with);
    server.create::<ServiceAccount>(NAMESPACE, account).await.unwrap();
}

fn add(tree: &mut Tree, with: Tree) {
    let Tree::Object(fields) = with else { panic!("an object has fields") };
    tree.as_object_mut().unwrap().extend(fields);
}

async fn pod(server: &TestServer, name: &str, with: Tree) -> Result<Tree> {
    let mut pod = json!({
        "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    add(&mut pod["spec"], with);
    server.create::<Pod>(NAMESPACE, pod).await
}

fn refusal(result: Result<Tree>) -> String {
    let Err(ApiError::Forbidden(forbidden)) = result else { panic!("{result:?}") };
    forbidden.message.clone()
}

#[tokio::test]
async fn a_pod_acts_as_the_default_account_and_finds_its_token() {
    let server = server().await;
    let init = json!({"initContainers": [{"name": "i", "image": "i"}]});
    let pod = pod(&server, "p", init).await.unwrap();
    let spec = &pod["spec"];
    assert_eq!((&spec["serviceAccountName"], &spec["serviceAccount"]), (&json!(DEFAULT), &json!(DEFAULT)));
    let volume = spec["volumes"][0]["name"].as_str().unwrap();
    assert!(volume.starts_with("kube-api-access-") && volume.len() == 21, "{volume}");
    let sources = json!([
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{
            "path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
        }]}},
    ]);
    let expected = json!([{"name": volume, "projected": {"sources": sources, "defaultMode": 420}}]);
    assert_eq!(spec["volumes"], expected);
    let mounts = json!([{"name": volume, "readOnly": true, "mountPath": PLACE}]);
    for containers in ["initContainers", "containers"] {
        assert_eq!(spec[containers][0]["volumeMounts"], mounts);
    }
    // What the server adds belongs to nobody.
    let container = ["f:spec", "f:containers", "k:{\"name\":\"c\"}"];
    assert!(is_owned(&pod, &container));
    assert!(!is_owned(&pod, &[&container[..], &["f:volumeMounts"]].concat()));
    for field in ["f:serviceAccountName", "f:serviceAccount", "f:volumes"] {
        assert!(!is_owned(&pod, &["f:spec", field]), "{field}");
    }
}

#[tokio::test]
async fn what_a_pod_has_already_is_kept() {
    let server = server().await;
    account(&server, "named", json!({})).await;
    let own = json!({"name": "own", "emptyDir": {}});
    let mounted = |path: &str| json!([{"name": "own", "mountPath": path}]);
    let with = json!({
        "serviceAccountName": "named", "volumes": [own],
        "containers": [
            {"name": "at-place", "image": "i", "volumeMounts": mounted(PLACE)},
            {"name": "elsewhere", "image": "i", "volumeMounts": mounted("/x")},
        ],
    });
    let first = pod(&server, "p", with).await.unwrap();
    let spec = &first["spec"];
    assert_eq!(spec["volumes"].as_array().unwrap().len(), 2);
    assert_eq!(spec["containers"][0]["volumeMounts"].as_array().unwrap().len(), 1);
    assert_eq!(spec["containers"][1]["volumeMounts"].as_array().unwrap().len(), 2);
    for field in ["f:serviceAccountName", "f:serviceAccount"] {
        assert!(is_owned(&first, &["f:spec", field]), "{field}");
    }
    let all = json!([{"name": "all", "image": "i", "volumeMounts": mounted(PLACE)}]);
    let with = json!({"volumes": [own], "containers": all});
    let second = pod(&server, "q", with).await.unwrap();
    assert_eq!(second["spec"]["volumes"].as_array().unwrap().len(), 1);
    // A volume of that name is taken, as in a pod that was read and is created anew.
    let taken = json!([{"name": "kube-api-access-abcde", "emptyDir": {}}]);
    let third = pod(&server, "r", json!({"volumes": taken})).await.unwrap();
    assert_eq!(third["spec"]["volumes"].as_array().unwrap().len(), 1);
    assert_eq!(third["spec"]["containers"][0]["volumeMounts"][0]["name"], "kube-api-access-abcde");
}

#[tokio::test]
async fn pods_and_accounts_say_whether_a_token_is_mounted() {
    let server = server().await;
    account(&server, "silent", json!({"automountServiceAccountToken": false})).await;
    account(&server, "loud", json!({"automountServiceAccountToken": true})).await;
    for (name, account, says, expected) in [
        ("a", "silent", json!(null), false),
        ("b", "silent", json!(true), true),
        ("c", "loud", json!(false), false),
        ("d", "loud", json!(null), true),
    ] {
        let mut with = json!({"serviceAccountName": account});
        if !says.is_null() {
            with["automountServiceAccountToken"] = says;
        }
        let pod = pod(&server, name, with).await.unwrap();
        assert_eq!(pod["spec"].get("volumes").is_some(), expected, "{name}");
    }
}

#[tokio::test]
async fn a_pod_has_the_pull_secrets_of_its_account_or_its_own() {
    let server = server().await;
    account(&server, "puller", json!({"imagePullSecrets": [{"name": "s"}]})).await;
    let given = pod(&server, "p", json!({"serviceAccountName": "puller"})).await.unwrap();
    assert_eq!(given["spec"]["imagePullSecrets"], json!([{"name": "s"}]));
    assert!(!is_owned(&given, &["f:spec", "f:imagePullSecrets"]));
    let own = json!({"serviceAccountName": "puller", "imagePullSecrets": [{"name": "own"}]});
    let own = pod(&server, "q", own).await.unwrap();
    assert_eq!(own["spec"]["imagePullSecrets"], json!([{"name": "own"}]));
}

#[tokio::test(start_paused = true)]
async fn the_account_must_exist() {
    let server = TestServer::start_with_plugin("ServiceAccount").await;
    for (name, with) in [("lost", json!({"serviceAccountName": "lost"})), (DEFAULT, json!({}))] {
        assert_eq!(
            refusal(pod(&server, "p", with).await),
            format!(
                "pods \"p\" is forbidden: error looking up service account n/{name}: \
                 serviceaccount \"{name}\" not found"
            )
        );
    }
    // The default account of a new namespace comes a moment later.
    let late = async {
        tokio::time::sleep(Duration::from_millis(350)).await;
        account(&server, DEFAULT, json!({})).await;
    };
    let (pod, ()) = tokio::join!(pod(&server, "p", json!({})), late);
    assert_eq!(pod.unwrap()["spec"]["serviceAccountName"], DEFAULT);
}

#[tokio::test]
async fn mirror_pods_have_no_account() {
    let server = server().await;
    let mirror = |spec: Tree| {
        let mut pod = json!({
            "metadata": {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}},
            "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "one"},
        });
        add(&mut pod["spec"], spec);
        server.create::<Pod>(NAMESPACE, pod)
    };
    let token = json!([{"serviceAccountToken": {"path": "t"}}]);
    for (spec, expected) in [
        (json!({"serviceAccountName": "default"}), "a mirror pod may not reference service accounts"),
        (
            json!({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}),
            "a mirror pod may not reference secrets",
        ),
        (json!({"imagePullSecrets": [{"name": "s"}]}), "a mirror pod may not reference secrets"),
        (
            json!({"volumes": [{"name": "v", "projected": {"sources": token}}]}),
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ] {
        assert_eq!(refusal(mirror(spec).await), format!("pods \"m\" is forbidden: {expected}"));
    }
    let plain = mirror(json!({})).await.unwrap();
    assert_eq!(plain["spec"].get("serviceAccountName").or(plain["spec"].get("volumes")), None);
}

#[tokio::test]
async fn an_account_may_limit_the_secrets_of_its_pods() {
    let server = server().await;
    let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
    let limited = json!({
        "metadata": {"name": "l", "annotations": annotations}, "secrets": [{"name": "s"}],
        "imagePullSecrets": [{"name": "pull"}],
    });
    server.create::<ServiceAccount>(NAMESPACE, limited).await.unwrap();
    let key =
        |secret: &str| json!({"name": "V", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}});
    let container = |secret: &str| json!([{"name": "c", "image": "i", "env": [key(secret)]}]);
    let from =
        |secret: &str| json!([{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": secret}}]}]);
    let volume = |secret: &str| json!([{"name": "v", "secret": {"secretName": secret}}]);
    let of = |what: &str| {
        format!("{what}\"x\" is not allowed because service account l does not reference that secret")
    };
    for (field, value, expected) in [
        ("volumes", volume("x"), of("volume with secret.secretName=")),
        ("containers", container("x"), of("container c with envVar V referencing secret.secretName=")),
        ("containers", from("x"), of("container c with envFrom referencing secret.secretName=")),
        (
            "imagePullSecrets",
            json!([{"name": "x"}]),
            "imagePullSecrets[0].name=\"x\" is not allowed because service account l does not reference \
             that imagePullSecret"
                .to_owned(),
        ),
    ] {
        let with = json!({"serviceAccountName": "l", field: value});
        assert_eq!(refusal(pod(&server, "p", with).await), format!("pods \"p\" is forbidden: {expected}"));
    }
    let with = json!({"serviceAccountName": "l", "volumes": volume("s"), "containers": container("s")});
    pod(&server, "p", with).await.unwrap();

    let add = |secret: &'static str| {
        move |pod: &mut Tree| {
            let env = json!([{"name": "V", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]);
            let added = json!({"name": "e", "image": "i", "imagePullPolicy": "Always", "env": env});
            pod["spec"]["ephemeralContainers"] = json!([added]);
        }
    };
    let refused = server.update::<Pod>(EPHEMERAL_CONTAINERS, NAMESPACE, "p", add("x")).await;
    let expected = of("ephemeral container e with envVar V referencing secret.secretName=");
    assert_eq!(refusal(refused), format!("pods \"p\" is forbidden: {expected}"));
    let added = server.update::<Pod>(EPHEMERAL_CONTAINERS, NAMESPACE, "p", add("s")).await.unwrap();
    // Nothing is mounted in containers that come later.
    assert_eq!(added["spec"]["ephemeralContainers"][0].get("volumeMounts"), None);
}
