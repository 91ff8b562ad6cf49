//! `Warning` headers for objects that are accepted but probably wrong, with every way of writing an object.

use http::{Method, header};
use orch_tests::{TestServer, client::Answer};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const OLD_LABEL: &str =
    r#"299 - "spec.nodeSelector[beta.orch.io/os]: deprecated since v1.14; use \"orch.io/os\" instead""#;
const OLD_LABEL_IN_TEMPLATE: &str = r#"299 - "spec.template.spec.nodeSelector[beta.orch.io/os]: deprecated since v1.14; use \"orch.io/os\" instead""#;

#[tokio::test]
async fn what_makes_a_pod_warns_and_what_changes_it_does_not() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let pod = pod("p");
    let told = |answer: &Answer| {
        answer.expect(if answer.status == 201 { 201 } else { 200 });
        warnings(answer)
    };
    assert_eq!(told(&admin.post(&format!("{PODS}?dryRun=All"), &pod).await), [OLD_LABEL]);
    assert_eq!(told(&admin.post(PODS, &pod).await), [OLD_LABEL]);
    let item = format!("{PODS}/p");
    let mut object = admin.get(&item).await.expect(200);
    object["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(told(&admin.put(&item, &object).await), [""; 0]);
    let label = json!({"metadata": {"labels": {"a": "c"}}});
    assert_eq!(told(&admin.merge(&item, &label).await), [""; 0]);
    let phase = json!({"status": {"phase": "Running"}});
    assert_eq!(told(&admin.merge(&format!("{item}/status"), &phase).await), [""; 0]);
    let configuration = pod_with_labels("applied", &json!({}));
    for expected in [&[OLD_LABEL][..], &[]] {
        let path = format!("{PODS}/applied?fieldManager=me");
        let apply = admin.request(Method::PATCH, &path);
        let apply = apply.body("application/apply-patch+yaml", configuration.to_string());
        assert_eq!(told(&apply.send().await), expected);
    }
    let dotted = admin.post(PODS, &self::pod("p.x")).await;
    assert_eq!(told(&dotted).len(), 2);
    assert_eq!(told(&admin.merge(&format!("{PODS}/p.x"), &label).await), [""; 0]);
    // A pod that is refused draws no warnings by rules, but those about unknown fields.
    let mut wrong = self::pod("q");
    wrong["spec"]["restartPolicy"] = json!("Sometimes");
    let refused = admin.post(PODS, &wrong).await;
    refused.refused(422, "Invalid");
    assert_eq!(warnings(&refused), [""; 0]);
    wrong["spec"]["wheels"] = json!(4);
    let unknown = r#"299 - "unknown field \"spec.wheels\"""#;
    let refused = admin.post(PODS, &wrong).await;
    refused.refused(422, "Invalid");
    assert_eq!(warnings(&refused), [unknown]);
    let change = json!({"spec": {"restartPolicy": "Sometimes", "wheels": 4}});
    let refused = admin.merge(&item, &change).await;
    refused.refused(422, "Invalid");
    assert_eq!(warnings(&refused), [unknown]);
    let refused = admin.post(&format!("{PODS}?fieldValidation=Ignore"), &wrong).await;
    assert_eq!(warnings(&refused), [""; 0]);
}

#[tokio::test]
async fn a_refusal_tells_of_unknown_fields_too() {
    let old_version = "--runtime-config=flowcontrol.apiserver.k8s.io/v1beta3=true";
    let server = TestServer::options().vocabulary("kubernetes").flag(old_version).start().await;
    let admin = server.admin();
    let unknown = [r#"299 - "unknown field \"extra\"""#];
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "Wrong_"}, "extra": 1});
    let refused = admin.post(maps, &map).await;
    refused.refused(422, "Invalid");
    assert_eq!(warnings(&refused), unknown);
    let map = json!({"metadata": {"name": "missing"}, "extra": 1});
    let refused = admin.put(&format!("{maps}/missing"), &map).await;
    refused.refused(404, "NotFound");
    assert_eq!(warnings(&refused), unknown);
    let review = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let refused = admin.post(review, &json!({"spec": {}, "extra": 1})).await;
    refused.refused(400, "BadRequest");
    assert_eq!(warnings(&refused), unknown);
    // So does a version that will go.
    let old = "/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas/missing";
    let refused = admin.get(old).await;
    refused.refused(404, "NotFound");
    let told = warnings(&refused);
    assert!(told.len() == 1 && told[0].contains(" is deprecated in v1."), "{told:?}");
}

#[tokio::test]
async fn a_template_warns_when_it_changes_and_an_annotation_when_it_comes() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let template = pod_with_labels("t", &json!({"app": "a"}));
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
            "metadata": {"labels": {"app": "a"}}, "spec": template["spec"],
        }},
    });
    assert_eq!(warnings(&admin.post(DAEMON_SETS, &set).await), [OLD_LABEL_IN_TEMPLATE]);
    let item = format!("{DAEMON_SETS}/d");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(warnings(&admin.merge(&item, &label).await), [""; 0]);
    let change = json!({"spec": {"minReadySeconds": 5}});
    assert_eq!(warnings(&admin.merge(&item, &change).await), [""; 0]);
    let change = json!({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}});
    assert_eq!(warnings(&admin.merge(&item, &change).await), [OLD_LABEL_IN_TEMPLATE]);

    let annotations = json!({"orch.io/enforce-mountable-secrets": "true"});
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "a", "annotations": annotations},
        "secrets": [{"name": "s", "namespace": "elsewhere"}],
    });
    let created = admin.post(ACCOUNTS, &account).await;
    assert_eq!(warnings(&created).len(), 1);
    assert_eq!(created.expect(201)["secrets"], json!([{"name": "s"}]));
    assert_eq!(warnings(&admin.merge(&format!("{ACCOUNTS}/a"), &label).await), [""; 0]);
}

#[tokio::test]
async fn tables_hide_annotations_that_stand_for_fields() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let template = pod_with_labels("t", &json!({"app": "a"}));
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "d", "annotations": {"mine": "stays"}},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
            "metadata": {"labels": {"app": "a"}}, "spec": template["spec"],
        }},
    });
    let whole = admin.post(DAEMON_SETS, &set).await.expect(201);
    let annotation = "deprecated.daemonset.template.generation";
    assert_eq!(whole["metadata"]["annotations"][annotation], "1");
    let item = format!("{DAEMON_SETS}/d");
    let shown = |accept: &'static str, path: String| {
        let request = admin.request(Method::GET, &path).header(header::ACCEPT.as_str(), accept);
        async move { request.send().await.expect(200) }
    };
    let table = "application/json;as=Table;g=meta.orch.io;v=v1";
    let metadata = "application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1";
    let mine = json!({"mine": "stays"});
    let row = shown(table, item.clone()).await;
    assert_eq!(row["rows"][0]["object"]["metadata"]["annotations"], mine);
    assert_eq!(shown(metadata, item.clone()).await["metadata"]["annotations"], mine);
    let object = shown(table, format!("{item}?includeObject=Object")).await;
    assert_eq!(object["rows"][0]["object"]["metadata"]["annotations"][annotation], "1");
}

fn pod(name: &str) -> Value {
    pod_with_labels(name, &json!({}))
}

fn pod_with_labels(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "c", "image": "x:1"}], "nodeSelector": {"beta.orch.io/os": "linux"}},
    })
}

fn warnings(answer: &Answer) -> Vec<String> {
    let values = answer.headers.get_all(header::WARNING).iter();
    values.map(|value| value.to_str().unwrap().to_owned()).collect()
}
