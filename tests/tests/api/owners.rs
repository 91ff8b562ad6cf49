//! Field ownership where several managers write to one object, and the conflicts that they are told of.

use http::Method;
use orch_tests::{Answer, Client, TestServer, objects::CONFIG_MAPS};
use serde_json::{Value, json};

const SERVICE_ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

async fn apply(client: &Client, path: &str, manager: &str, force: bool, object: &Value) -> Answer {
    let path = format!("{path}?fieldManager={manager}&force={force}");
    client.request(Method::PATCH, &path).body("application/apply-patch+yaml", object.to_string()).send().await
}

fn with_data(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

/// The fields of each entry, by manager and operation.
fn entries(object: &Value) -> Vec<(String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let name = |entry: &Value| {
        format!("{} {}", entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap())
    };
    entries.iter().map(|entry| (name(entry), entry["fieldsV1"].clone())).collect()
}

#[tokio::test]
async fn a_conflict_names_all_managers_and_their_fields() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    apply(&admin, &item, "one", false, &with_data(&json!({"x": "1", "shared": "1"}))).await.expect(201);
    apply(&admin, &item, "two", false, &with_data(&json!({"y": "1", "shared": "1"}))).await.expect(200);
    let change = json!({"data": {"z": "1"}});
    let merge = format!("{item}?fieldManager=three");
    admin.merge(&merge, &change).await.expect(200);

    let all = with_data(&json!({"x": "2", "y": "2", "z": "2", "shared": "2"}));
    let answer = apply(&admin, &item, "four", false, &all).await;
    let status = answer.expect(409);
    let message = status["message"].as_str().unwrap();
    assert_eq!(
        message,
        "Apply failed with 5 conflicts: conflicts with \"one\":\n- .data.shared\n- .data.x\n\
         conflicts with \"three\" using v1:\n- .data.z\n\
         conflicts with \"two\":\n- .data.shared\n- .data.y"
    );
    let causes = status["details"]["causes"].as_array().unwrap();
    let fields: Vec<&str> = causes.iter().map(|cause| cause["field"].as_str().unwrap()).collect();
    assert_eq!(fields, [".data.shared", ".data.x", ".data.z", ".data.shared", ".data.y"]);
    assert!(causes.iter().all(|cause| cause["reason"] == "FieldManagerConflict"), "{causes:?}");

    let forced = apply(&admin, &item, "four", true, &all).await.expect(200);
    let owned = json!({"f:data": {"f:shared": {}, "f:x": {}, "f:y": {}, "f:z": {}}});
    assert_eq!(entries(&forced), [("four Apply".to_owned(), owned)], "the others have nothing left");
}

#[tokio::test]
async fn what_several_own_stays_until_the_last_gives_it_up() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    for manager in ["one", "two"] {
        apply(&admin, &item, manager, false, &with_data(&json!({"k": "1"}))).await;
    }
    let kept = apply(&admin, &item, "one", false, &with_data(&json!({}))).await.expect(200);
    assert_eq!(kept["data"], json!({"k": "1"}));
    let gone = apply(&admin, &item, "two", false, &with_data(&json!({}))).await.expect(200);
    assert_eq!(gone["data"]["k"], Value::Null, "{gone}");
}

/// Items of a list that is a map belong to those who name them, each by its key; the same item may be of
/// several.
#[tokio::test]
async fn items_are_owned_by_their_keys() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{SERVICE_ACCOUNTS}/a");
    let account = |secrets: &[&str]| {
        let secrets: Vec<Value> = secrets.iter().map(|name| json!({"name": name})).collect();
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": secrets})
    };
    apply(&admin, &item, "one", false, &account(&["p", "q"])).await.expect(201);
    let both = apply(&admin, &item, "two", false, &account(&["q", "r"])).await.expect(200);
    assert_eq!(both["secrets"], json!([{"name": "p"}, {"name": "q"}, {"name": "r"}]));
    let less = apply(&admin, &item, "one", false, &account(&[])).await.expect(200);
    assert_eq!(less["secrets"], json!([{"name": "q"}, {"name": "r"}]), "what two names stays");
    let key = |name: &str| format!("k:{{\"name\":\"{name}\"}}");
    // A reference is one value: what is in it has no owners of its own.
    let owned = json!({"f:secrets": {key("q"): {}, key("r"): {}}});
    let (_, of_two) = entries(&less).into_iter().find(|(name, _)| name == "two Apply").unwrap();
    assert_eq!(of_two, owned);

    let answer = apply(&admin, &item, "one", false, &account(&["s", "s"])).await;
    let message = answer.refused(500, "");
    assert!(message.contains(r#"duplicate entries for key [name="s"]"#), "{message}");
}

/// A write of a value that is there already takes nothing from who owns it.
#[tokio::test]
async fn the_same_value_written_again_stays_with_its_owner() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let applied = apply(&admin, &item, "one", false, &with_data(&json!({"k": "1"}))).await.expect(201);
    let path = format!("{item}?fieldManager=two");
    let same = admin.merge(&path, &json!({"data": {"k": "1"}})).await.expect(200);
    assert_eq!(same, applied);
    let other = admin.merge(&path, &json!({"data": {"k": "2"}})).await.expect(200);
    assert_eq!(entries(&other), [("two Update".to_owned(), json!({"f:data": {"f:k": {}}}))]);
}

/// The managers that own the field at a path of `fieldsV1`.
fn owners<'o>(object: &'o Value, path: &str) -> Vec<&'o str> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
    let owning = entries.filter(|entry| entry["fieldsV1"].pointer(path).is_some());
    owning.map(|entry| entry["manager"].as_str().unwrap()).collect()
}

/// What the server puts in place of what an update asks for belongs to nobody anew: owners follow from what
/// was asked for, as in the reference. In a create they follow from what is stored.
#[tokio::test]
async fn what_the_server_changes_in_an_update_is_not_of_its_sender() {
    const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
    const COUNT: &str = "deprecated.daemonset.template.generation";
    let server = TestServer::start().await;
    let admin = server.admin();
    let set = json!({"metadata": {"name": "a"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}]},
        },
    }});
    let count = format!("/f:metadata/f:annotations/f:{COUNT}");
    let created = admin.post(&format!("{SETS}?fieldManager=creator"), &set).await.expect(201);
    assert_eq!(owners(&created, &count), ["creator"]);
    let template = json!({"spec": {"template": {"metadata": {"annotations": {"new": "1"}}}}});
    let patched = admin.merge(&format!("{SETS}/a?fieldManager=patcher"), &template).await.expect(200);
    assert_eq!(patched["metadata"]["annotations"][COUNT], "2");
    assert_eq!(owners(&patched, &count), ["creator"], "{patched}");
    let without = admin.put(&format!("{SETS}/a?fieldManager=replacer"), &set).await.expect(200);
    assert_eq!(without["metadata"]["annotations"][COUNT], "3");
    assert_eq!(owners(&without, &count), ["replacer"], "it asked for another count");

    let account = json!({"metadata": {"name": "a"}, "secrets": [{"name": "p"}]});
    admin.post(&format!("{SERVICE_ACCOUNTS}?fieldManager=creator"), &account).await.expect(201);
    let longer = json!({"secrets": [{"name": "p", "kind": "Secret"}]});
    let longer =
        admin.merge(&format!("{SERVICE_ACCOUNTS}/a?fieldManager=patcher"), &longer).await.expect(200);
    assert_eq!(longer["secrets"], account["secrets"]);
    assert_eq!(owners(&longer, "/f:secrets/k:{\"name\":\"p\"}"), ["patcher"]);

    let finalizers = json!({"spec": {"finalizers": ["x/y"]}});
    let space = "/api/v1/namespaces/default?fieldManager=patcher";
    let space = admin.merge(space, &finalizers).await.expect(200);
    assert_ne!(space["spec"], finalizers["spec"], "only the path `finalize` changes them");
    assert_eq!(owners(&space, "/f:spec/f:finalizers"), ["patcher"]);
}

/// A service that has no addresses for a while keeps the owner of its traffic policy.
#[tokio::test]
async fn a_policy_that_comes_back_is_of_whom_it_was() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let server = TestServer::start().await;
    let admin = server.admin();
    let policy = "/f:spec/f:internalTrafficPolicy";
    for (spec, owner) in [
        (json!({"clusterIP": "None"}), "creator"),
        (json!({"type": "ExternalName", "externalName": "a.b"}), "patcher"),
    ] {
        let service = json!({"metadata": {"generateName": "a"}, "spec": spec});
        let made = admin.post(&format!("{SERVICES}?fieldManager=creator"), &service).await.expect(201);
        let item = format!("{SERVICES}/{}", made["metadata"]["name"].as_str().unwrap());
        let away = json!({"spec": {"type": "ExternalName", "externalName": "a.b", "clusterIP": null}});
        admin.merge(&format!("{item}?fieldManager=first"), &away).await.expect(200);
        let back = json!({"spec": {"type": "ClusterIP", "externalName": null, "ports": [{"port": 1}]}});
        let back = admin.merge(&format!("{item}?fieldManager=patcher"), &back).await.expect(200);
        assert_eq!(back["spec"]["internalTrafficPolicy"], "Cluster");
        assert_eq!(owners(&back, policy), [owner], "{back}");
    }
}
