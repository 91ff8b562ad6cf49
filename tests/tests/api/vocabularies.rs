//! The two vocabularies of one binary.

use http::Method;
use orch_api::rbac::v1::ROLE_TYPE;
use orch_machinery::protobuf::encode;
use orch_tests::{
    TestServer,
    objects::{NAMESPACES, name, names, version},
};
use serde_json::{Value, json};

#[tokio::test]
async fn each_vocabulary_has_its_own_names_and_only_those() {
    for (vocabulary, group, other, system) in [
        (
            "orch",
            "coordination.orch.io",
            "coordination.k8s.io",
            ["orch-node-lease", "orch-public", "orch-system"],
        ),
        (
            "kubernetes",
            "coordination.k8s.io",
            "coordination.orch.io",
            ["kube-node-lease", "kube-public", "kube-system"],
        ),
    ] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let namespaces = admin.get(NAMESPACES).await.expect(200);
        assert_eq!(names(&namespaces)[1..], system);
        let leases = admin.get(&format!("/apis/{group}/v1/leases")).await.expect(200);
        assert_eq!(leases["apiVersion"], format!("{group}/v1"));
        // The other name is not listed. Programs that have it built in are answered all the same.
        for unlisted in [format!("/apis/{other}/v1"), format!("/openapi/v3/apis/{other}/v1")] {
            assert_eq!(admin.get(&unlisted).await.status, 404, "{unlisted}");
        }
        let everything = [
            admin.get("/apis").await.text(),
            admin.get(&format!("/openapi/v3/apis/{group}/v1")).await.text(),
            admin.get("/openapi/v3/api/v1").await.text(),
            admin.get(NAMESPACES).await.text(),
        ];
        let foreign = if vocabulary == "orch" { "k8s.io" } else { "orch.io" };
        for text in everything {
            assert!(!text.contains(foreign), "{foreign} in the vocabulary {vocabulary}: {text}");
        }
    }
}

/// A client that has the other names built in is read and answered in them; what is stored, and what others
/// see, has the server's own.
#[tokio::test]
async fn a_client_is_answered_in_the_spelling_that_it_uses() {
    for (vocabulary, own, other) in [("orch", "orch.io", "k8s.io"), ("kubernetes", "k8s.io", "orch.io")] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let path = |suffix: &str, what: &str| {
            format!("/apis/rbac.authorization.{suffix}/v1/namespaces/default/{what}")
        };
        let theirs = |what: &str| path(other, what);
        let group = |suffix: &str| format!("rbac.authorization.{suffix}");
        let version_of = |suffix: &str| format!("rbac.authorization.{suffix}/v1");
        let role = |name: &str, suffix: &str| {
            json!({
                "kind": "Role", "apiVersion": version_of(suffix), "metadata": {"name": name},
                "rules": [{"apiGroups": ["", group(suffix)], "resources": ["roles"], "verbs": ["get"]}],
            })
        };
        let seen =
            |object: &Value| [object["apiVersion"].clone(), object["rules"][0]["apiGroups"][1].clone()];
        let (in_theirs, in_ours) = ([version_of(other), group(other)], [version_of(own), group(own)]);

        let created = admin.post(&theirs("roles"), &role("a", other)).await.expect(201);
        assert_eq!(seen(&created), in_theirs);
        assert_eq!(seen(&admin.get(&path(own, "roles/a")).await.expect(200)), in_ours);
        assert_eq!(seen(&admin.get(&theirs("roles/a")).await.expect(200)), in_theirs);
        let list = admin.get(&theirs("roles")).await.expect(200);
        assert_eq!(
            (&list["apiVersion"], list["items"][0]["apiVersion"].as_str()),
            (&json!(version_of(other)), None)
        );
        assert_eq!(list["items"][0]["rules"][0]["apiGroups"][1], group(other));

        // Every kind of write, in every format; protobuf is read, and answered in JSON.
        let mut watch =
            admin.watch(&format!("{}?watch=1&resourceVersion={}", theirs("roles"), version(&list))).await;
        let put = admin.put(&theirs("roles/a"), &role("a", other)).await.expect(200);
        assert_eq!(version(&put), version(&created), "nothing has changed");
        let message = encode(&role("b", other), &ROLE_TYPE, &version_of(other), "Role").unwrap();
        let media_type = "application/vnd.kubernetes.protobuf";
        let request = admin.request(Method::POST, &theirs("roles")).body(media_type, message);
        let answer = request.header("accept", &format!("{media_type},application/json")).send().await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(seen(&answer.expect(201)), in_theirs);
        let added = watch.expect("ADDED").await;
        assert_eq!((name(&added), seen(&added)), ("b", in_theirs.clone().map(Value::from)));
        for (media_type, body) in [
            (
                "application/merge-patch+json",
                json!({"apiVersion": version_of(other), "metadata": {"labels": {"l": "1"}}}),
            ),
            (
                "application/json-patch+json",
                json!([{"op": "test", "path": "/rules/0/apiGroups/1", "value": group(other)}]),
            ),
            ("application/apply-patch+yaml", role("a", other)),
        ] {
            let path = format!("{}?fieldManager=me&force=true", theirs("roles/a"));
            let path = if media_type.contains("apply") { path } else { theirs("roles/a") };
            let request = admin.request(Method::PATCH, &path).body(media_type, body.to_string());
            assert_eq!(seen(&request.send().await.expect(200)), in_theirs, "{media_type}");
        }
        // The body alone may have the other spelling too.
        let changed = admin.put(&path(own, "roles/a"), &role("a", other)).await.expect(200);
        assert_eq!(seen(&changed), in_theirs);

        let missing = admin.get(&theirs("roles/none")).await;
        missing.refused(404, "NotFound");
        assert_eq!(missing.json()["details"]["group"], group(other));
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let rows = admin.request(Method::GET, &theirs("roles")).header("accept", table).send().await;
        assert_eq!(rows.expect(200)["rows"].as_array().map(Vec::len), Some(2));
        let options = json!({"kind": "DeleteOptions", "apiVersion": version_of(other)});
        let delete =
            admin.request(Method::DELETE, &theirs("roles/a")).json(&options).send().await.expect(200);
        assert_eq!(delete["details"]["group"], group(other));
        let yaml = admin.request(Method::GET, &theirs("roles/b")).header("accept", "application/yaml");
        assert_eq!(yaml.send().await.status, 406);
    }
}

/// What a client writes into labels, annotations and other values of its own is not the server's to spell, in
/// no way to write.
#[tokio::test]
async fn values_of_the_user_stay_as_they_are_in_both_spellings() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let (ours, theirs) = ("rbac.authorization.orch.io", "rbac.authorization.k8s.io");
    let path = |group: &str, name: &str| format!("/apis/{group}/v1/namespaces/default/roles{name}");
    for (name, note) in [("a", theirs), ("b", ours)] {
        let annotations = json!({"note": note, "apiGroup": note, "apiVersion": format!("{note}/v1")});
        let labels = json!({"group": note});
        let role = json!({
            "kind": "Role", "apiVersion": format!("{theirs}/v1"),
            "metadata": {"name": name, "annotations": annotations, "labels": labels},
            "rules": [{"apiGroups": [theirs], "resources": [note], "verbs": [note]}],
        });
        let item = path(theirs, &format!("/{name}"));
        let patch = |media_type: &'static str, path: String, body: Value| {
            let request = admin.request(Method::PATCH, &path).body(media_type, body.to_string());
            async move { request.send().await.expect(200) }
        };
        let metadata = json!({"metadata": {"annotations": annotations}});
        let operations = json!([
            {"op": "replace", "path": "/metadata/annotations", "value": annotations},
            {"op": "test", "path": "/metadata/labels/group", "value": note},
            {"op": "replace", "path": "/rules/0/apiGroups/0", "value": theirs},
        ]);
        let answers = [
            admin.post(&path(theirs, ""), &role).await.expect(201),
            admin.put(&item, &role).await.expect(200),
            patch("application/merge-patch+json", item.clone(), metadata.clone()).await,
            patch("application/strategic-merge-patch+json", item.clone(), metadata).await,
            patch("application/json-patch+json", item.clone(), operations).await,
            patch("application/apply-patch+yaml", format!("{item}?fieldManager=me&force=true"), role).await,
            admin.get(&item).await.expect(200),
            admin.get(&path(ours, &format!("/{name}"))).await.expect(200),
        ];
        let last = answers.len() - 1;
        for (index, answer) in answers.iter().enumerate() {
            let group = if index == last { ours } else { theirs };
            assert_eq!(answer["metadata"]["annotations"], annotations, "{index}");
            assert_eq!(answer["metadata"]["labels"], labels, "{index}");
            let rule = json!({"apiGroups": [group], "resources": [note], "verbs": [note]});
            assert_eq!(answer["rules"][0], rule, "{index}");
        }
    }
}

/// Rules are written in the server's own names, and hold for both.
#[tokio::test]
async fn the_same_is_authorized_in_both_spellings() {
    let server = TestServer::options().flag("--authorization-mode=AlwaysDeny").start().await;
    let bob = server.user("bob");
    for suffix in ["orch.io", "k8s.io"] {
        let path = format!("/apis/coordination.{suffix}/v1/namespaces/default/leases");
        let message = bob.get(&path).await.refused(403, "Forbidden");
        assert!(message.contains("in API group \"coordination.orch.io\""), "{message}");
    }
}

/// The path of an operation has no group; its body has.
#[tokio::test]
async fn an_operation_is_answered_in_the_spelling_of_its_body() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let robot = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "robot"}});
    admin.post("/api/v1/namespaces/default/serviceaccounts", &robot).await.expect(201);
    for api_version in ["authentication.k8s.io/v1", "authentication.orch.io/v1"] {
        let request = json!({"kind": "TokenRequest", "apiVersion": api_version, "spec": {}});
        let answer = admin.post(path, &request).await.expect(201);
        assert_eq!(answer["apiVersion"], api_version);
        assert!(answer["status"]["token"].is_string());
    }
}
