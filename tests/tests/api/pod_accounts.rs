//! The accounts of pods, where the operator has turned the plugin on: what clients see in a new pod, and that
//! what is mounted in it exists and is accepted.

use orch_tests::{
    TestServer,
    objects::{NAMESPACES, namespace},
    server::ServerOptions,
};
use serde_json::{Value, json};

const FLAG: &str = "--enable-admission-plugins=ServiceAccount";
const PODS: &str = "/api/v1/namespaces/default/pods";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

fn pod(name: &str, spec: &Value) -> Value {
    let containers = json!([{"name": "c", "image": "x:1"}]);
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers},
    });
    for (field, value) in spec.as_object().expect("a spec is an object") {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn with_plugin() -> ServerOptions {
    TestServer::options().publish_authority().flag(FLAG)
}

/// Agents of nodes fill such a volume; here the test does what they do.
#[tokio::test]
async fn what_is_mounted_in_a_pod_is_there_and_is_accepted() {
    for (vocabulary, domain, word) in [("orch", "orch.io", "orch"), ("kubernetes", "kubernetes.io", "kube")] {
        let server = with_plugin().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        // In a namespace that is new, too: its account comes a moment after it.
        admin.post(NAMESPACES, &namespace("new")).await.expect(201);
        let inside = format!("{NAMESPACES}/new");
        let pod = admin.post(&format!("{inside}/pods"), &pod("p", &json!({}))).await.expect(201);
        let spec = &pod["spec"];
        assert_eq!(
            (&spec["serviceAccountName"], &spec["serviceAccount"]),
            (&json!("default"), &json!("default"))
        );
        let mount = &spec["containers"][0]["volumeMounts"][0];
        assert_eq!(mount["mountPath"], format!("/var/run/secrets/{domain}/serviceaccount"));
        assert_eq!(mount["readOnly"], true);
        let volume = &spec["volumes"][0];
        assert_eq!(volume["name"], mount["name"]);
        assert!(volume["name"].as_str().unwrap().starts_with(&format!("{word}-api-access-")), "{volume}");
        let sources = &volume["projected"]["sources"];
        let map = sources[1]["configMap"]["name"].as_str().unwrap();
        assert_eq!(map, format!("{word}-root-ca.crt"));
        let map = format!("{inside}/configmaps/{map}");
        let is_there = |answer: &Value| answer["data"]["ca.crt"].is_string();
        let mut found = admin.get(&map).await.json();
        for _ in 0..100 {
            if is_there(&found) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            found = admin.get(&map).await.json();
        }
        assert!(is_there(&found), "{found}");

        let seconds = &sources[0]["serviceAccountToken"]["expirationSeconds"];
        assert_eq!(seconds, 3607);
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"]});
        let request =
            json!({"spec": {"audiences": [], "expirationSeconds": seconds, "boundObjectRef": bound}});
        let path = format!("{inside}/serviceaccounts/default/token");
        let token = admin.post(&path, &request).await.expect(201);
        let token = token["status"]["token"].as_str().unwrap().to_owned();
        let said = server.without_credentials().with_token(&token).get(PODS).await.refused(403, "Forbidden");
        assert!(said.contains("system:serviceaccount:new:default"), "{said}");
    }
}

#[tokio::test]
async fn a_pod_whose_account_does_not_exist_is_refused() {
    let server = with_plugin().start().await;
    let admin = server.admin();
    let lost = pod("p", &json!({"serviceAccountName": "lost"}));
    assert_eq!(
        admin.post(PODS, &lost).await.refused(403, "Forbidden"),
        "pods \"p\" is forbidden: error looking up service account default/lost: \
         serviceaccount \"lost\" not found"
    );
    admin
        .post(ACCOUNTS, &json!({"metadata": {"name": "lost"}, "imagePullSecrets": [{"name": "s"}]}))
        .await
        .expect(201);
    let created = admin.post(&format!("{PODS}?dryRun=All"), &lost).await.expect(201);
    assert_eq!(created["spec"]["imagePullSecrets"], json!([{"name": "s"}]));
}

#[tokio::test]
async fn an_apply_that_is_repeated_changes_nothing_that_was_added() {
    let server = with_plugin().start().await;
    let admin = server.admin();
    let path = format!("{PODS}/p?fieldManager=m");
    let apply = async || {
        let body = pod("p", &json!({})).to_string();
        let request = admin.request(http::Method::PATCH, &path).body("application/apply-patch+yaml", body);
        request.send().await
    };
    let created = apply().await.expect(201);
    assert_eq!(created["spec"]["volumes"].as_array().map(Vec::len), Some(1));
    let again = apply().await.expect(200);
    assert_eq!(again, created);
}

/// As recorded from the reference without the plugin.
#[tokio::test]
async fn pods_are_left_alone_where_the_plugin_is_off() {
    let server = TestServer::start().await;
    let created = server.admin().post(PODS, &pod("p", &json!({}))).await.expect(201);
    for field in ["serviceAccountName", "serviceAccount", "volumes"] {
        assert_eq!(created["spec"].get(field), None, "{field}");
    }
}
