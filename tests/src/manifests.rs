//! The manifests with which a server is run in a cluster, judged by a server as far as it serves their kinds.

use serde_json::{Value, json};

use crate::client::Client;

/// What manifests say.
pub struct Judged {
    /// Their kinds, in their order.
    pub kinds: Vec<String>,
    /// The file of flags that the server is started with.
    pub flags: String,
}

/// The documents of a file in YAML, as texts.
pub fn documents(text: &str) -> impl Iterator<Item = &str> {
    let documents = text.trim_start_matches("---\n").split("\n---\n");
    documents.filter(|document| !document.trim().is_empty())
}

/// Creates the objects in a namespace, by strict rules; of a stateful set the pod and the claim that it would
/// make, and what it has in common with a daemon set.
///
/// # Panics
/// Where one of them is not right.
pub async fn judge(admin: &Client, namespace: &str, manifests: Vec<Value>) -> Judged {
    let strict = "fieldValidation=Strict";
    let create = async |path: &str, object: &Value| {
        admin.post(&format!("{path}?{strict}"), object).await.expect(201);
    };
    let in_namespace = |resource: &str| format!("/api/v1/namespaces/{namespace}/{resource}");
    let mut judged = Judged { kinds: Vec::new(), flags: String::new() };
    let mut services = Vec::new();
    for mut object in manifests {
        let kind = object["kind"].as_str().expect("an object has a kind").to_owned();
        match &*kind {
            "Namespace" => create("/api/v1/namespaces", &object).await,
            "ServiceAccount" => create(&in_namespace("serviceaccounts"), &object).await,
            "ConfigMap" => {
                let flags = object["data"]["config.yaml"].as_str().expect("it is the file of flags");
                flags.clone_into(&mut judged.flags);
                create(&in_namespace("configmaps"), &object).await;
            }
            "StatefulSet" => {
                let spec = &mut object["spec"];
                assert_eq!(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
                let mut claim = spec["volumeClaimTemplates"][0].take();
                create(&in_namespace("persistentvolumeclaims"), &claim).await;
                let name = claim["metadata"]["name"].take();
                let volume = json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
                let volumes = spec["template"]["spec"]["volumes"].as_array_mut().expect("it has volumes");
                volumes.push(volume);
                let mut pod = spec["template"].clone();
                pod["metadata"]["name"] = json!("orch-apiserver-0");
                create(&in_namespace("pods"), &pod).await;
                let daemons = format!("/apis/apps/v1/namespaces/{namespace}/daemonsets");
                create(&daemons, &as_daemon_set(object, &services)).await;
            }
            "Service" => {
                services.push(object["metadata"]["name"].clone());
                create(&in_namespace("services"), &object).await;
            }
            _ => panic!("{kind}"),
        }
        judged.kinds.push(kind);
    }
    judged
}

/// A stateful set without what daemon sets do not have, which is judged here: it has a service that comes
/// before it, and runs once.
fn as_daemon_set(mut set: Value, services: &[Value]) -> Value {
    assert_eq!(set["apiVersion"], "apps/v1");
    set["kind"] = json!("DaemonSet");
    let spec = set["spec"].as_object_mut().expect("it has a specification");
    let service = spec.remove("serviceName").expect("pods get their names from a service");
    assert!(services.contains(&service), "{service} is none of {services:?}");
    assert_eq!(spec.remove("replicas"), Some(json!(1)), "one server owns a database");
    let claims = spec.remove("volumeClaimTemplates").expect("the data are kept");
    assert_eq!(claims.as_array().map(Vec::len), Some(1), "all claims are judged");
    set
}
