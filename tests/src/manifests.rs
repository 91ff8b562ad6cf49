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
/// make.
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
            "Service" => create(&in_namespace("services"), &object).await,
            "StatefulSet" => {
                let spec = &mut object["spec"];
                assert_eq!(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
                let mut claim = spec["volumeClaimTemplates"][0].take();
                create(&in_namespace("persistentvolumeclaims"), &claim).await;
                let name = claim["metadata"]["name"].take();
                let mut pod = spec["template"].take();
                pod["metadata"]["name"] = json!("orch-apiserver-0");
                let volume = json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
                pod["spec"]["volumes"].as_array_mut().expect("it has volumes").push(volume);
                create(&in_namespace("pods"), &pod).await;
            }
            _ => panic!("{kind}"),
        }
        judged.kinds.push(kind);
    }
    judged
}
