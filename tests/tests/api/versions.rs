//! A kind in several versions: the same objects, read and written in each of them.

use http::Method;
use orch_tests::{
    Client, TestServer,
    client::Answer,
    objects::{names, version},
};
use serde_json::{Value, json};

const GROUP: &str = "/apis/flowcontrol.apiserver.orch.io";
const V1: &str = "/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations";
const V1BETA3: &str = "/apis/flowcontrol.apiserver.orch.io/v1beta3/prioritylevelconfigurations";
const V1BETA2: &str = "/apis/flowcontrol.apiserver.orch.io/v1beta2/prioritylevelconfigurations";
const ALL: [&str; 3] = [V1, V1BETA3, V1BETA2];
const KEPT: &str = "flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares";
const FLAG: &str =
    "--runtime-config=flowcontrol.apiserver.orch.io/v1beta3,flowcontrol.apiserver.orch.io/v1beta2";
const APPLY: &str = "application/apply-patch+yaml";

async fn server() -> TestServer {
    TestServer::options().flag(FLAG).start().await
}

/// `v1beta3` of a path.
fn version_in(path: &str) -> &str {
    path.split('/').nth(3).unwrap()
}

/// How a version names the shares of a level.
fn shares_in(path: &str) -> &'static str {
    if path == V1BETA2 { "assuredConcurrencyShares" } else { "nominalConcurrencyShares" }
}

fn shares(level: &Value, path: &str) -> Value {
    level["spec"]["limited"][shares_in(path)].clone()
}

fn level(path: &str, name: &str, shares: Option<u32>) -> Value {
    let mut level = json!({
        "apiVersion": format!("flowcontrol.apiserver.orch.io/{}", version_in(path)),
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name, "labels": {"team": name}},
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
    });
    if let Some(shares) = shares {
        level["spec"]["limited"][shares_in(path)] = shares.into();
    }
    level
}

async fn apply(client: &Client, path: &str, query: &str, object: &Value) -> Answer {
    let name = object["metadata"]["name"].as_str().unwrap();
    let path = format!("{path}/{name}?{query}");
    client.request(Method::PATCH, &path).body(APPLY, object.to_string()).send().await
}

async fn patch(client: &Client, path: &str, media_type: &str, body: Value) -> Value {
    client.request(Method::PATCH, path).body(media_type, body.to_string()).send().await.expect(200)
}

#[tokio::test]
async fn an_object_is_created_in_one_version_and_read_in_each() {
    let server = server().await;
    let admin = server.admin();
    for (created_in, sent, stored) in [
        (V1, Some(7), 7),
        (V1, None, 30),
        (V1, Some(0), 0),
        (V1BETA3, Some(7), 7),
        (V1BETA3, None, 30),
        (V1BETA3, Some(0), 30),
        (V1BETA2, Some(7), 7),
        (V1BETA2, Some(0), 30),
    ] {
        let created = admin.post(created_in, &level(created_in, "l", sent)).await.expect(201);
        assert_eq!(shares(&created, created_in), stored, "{created_in} {sent:?}");
        assert_eq!(created["apiVersion"], level(created_in, "l", sent)["apiVersion"]);
        for path in ALL {
            let read = admin.get(&format!("{path}/l")).await.expect(200);
            assert_eq!(shares(&read, path), stored, "created in {created_in}, read in {path}");
            assert_eq!(read["apiVersion"], level(path, "l", None)["apiVersion"]);
            assert_eq!(version(&read), version(&created));
            let keeps = read["metadata"]["annotations"][KEPT] == "0";
            assert_eq!(keeps, path != V1 && stored == 0, "{path}: {read}");
            // What was read is written back without a change, in every version.
            let put = admin.put(&format!("{path}/l"), &read).await.expect(200);
            assert_eq!(put, read, "{path}");
            let listed = admin.get(&format!("{path}?labelSelector=team%3Dl")).await.expect(200);
            assert_eq!(listed["items"][0]["spec"], read["spec"]);
            assert_eq!((names(&listed), &listed["apiVersion"]), (vec!["l"], &read["apiVersion"]));
        }
        let gone = admin.delete(&format!("{created_in}/l")).await.expect(200);
        assert_eq!(gone["status"], "Success");
        admin.get(&format!("{V1}/l")).await.refused(404, "NotFound");
    }
}

#[tokio::test]
async fn every_patch_works_in_every_version() {
    let server = server().await;
    let admin = server.admin();
    admin.post(V1, &level(V1, "l", Some(1))).await.expect(201);
    let (mut expected, mut generation) = (1, 1);
    for path in ALL {
        let (name, item) = (shares_in(path), format!("{path}/l"));
        for media_type in [
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/json-patch+json",
        ] {
            expected += 1;
            generation += 1;
            let body = if media_type.contains("json-patch") {
                json!([{"op": "replace", "path": format!("/spec/limited/{name}"), "value": expected}])
            } else {
                json!({"spec": {"limited": {name: expected}}})
            };
            let changed = patch(&admin, &item, media_type, body.clone()).await;
            assert_eq!(shares(&changed, path), expected, "{path} {media_type}");
            assert_eq!(changed["metadata"]["generation"], generation);
            let same = patch(&admin, &item, media_type, body).await;
            assert_eq!(version(&same), version(&changed), "nothing changed, nothing was written");
            for other in ALL {
                let read = admin.get(&format!("{other}/l")).await.expect(200);
                assert_eq!(shares(&read, other), expected);
                assert_eq!(read["metadata"]["generation"], generation);
            }
        }
        // A field of another version is unknown here.
        let other = if path == V1BETA2 { "nominalConcurrencyShares" } else { "assuredConcurrencyShares" };
        let strict = format!("{item}?fieldValidation=Strict");
        let change = json!({"spec": {"limited": {other: 9}}});
        admin.merge(&strict, &change).await.refused(400, "BadRequest");
        // Rules are those of the kind, with the names of the stored version.
        let message =
            admin.merge(&item, &json!({"spec": {"limited": {name: -1}}})).await.refused(422, "Invalid");
        assert!(message.contains("spec.limited.nominalConcurrencyShares: Invalid value: -1"), "{message}");
    }
    let condition = json!([{"type": "Mine", "status": "True", "lastTransitionTime": null}]);
    let status = json!({"status": {"conditions": condition}});
    let status = admin.merge(&format!("{V1BETA2}/l/status"), &status).await.expect(200);
    assert_eq!(status["status"]["conditions"][0]["type"], "Mine");
    assert_eq!(admin.get(&format!("{V1}/l")).await.expect(200)["status"], status["status"]);
    // A dry run changes nothing, and is answered in the version that asks.
    let change = json!({"metadata": {"labels": {"x": "y"}}});
    let dry = admin.merge(&format!("{V1BETA2}/l?dryRun=All"), &change).await.expect(200);
    assert_eq!((&dry["metadata"]["labels"]["x"], shares(&dry, V1BETA2)), (&json!("y"), json!(expected)));
    assert_eq!(version(&admin.get(&format!("{V1}/l")).await.expect(200)), version(&status));
}

#[tokio::test]
async fn lists_come_in_pages_in_every_version() {
    let server = server().await;
    let admin = server.admin();
    for number in 0..5 {
        let name = format!("l{number}");
        admin.post(V1, &level(V1, &name, Some(number))).await.expect(201);
    }
    for path in ALL {
        let whole = admin.get(&format!("{path}?labelSelector=team")).await.expect(200);
        let (mut items, mut token) = (Vec::new(), String::new());
        loop {
            let page = format!("{path}?labelSelector=team&limit=2&continue={token}");
            let page = admin.get(&page).await.expect(200);
            assert_eq!(page["apiVersion"], level(path, "l", None)["apiVersion"]);
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(json!(items), whole["items"], "{path}");
        let found: Vec<Value> = items.iter().map(|item| shares(item, path)).collect();
        assert_eq!(found, (0..5).map(Value::from).collect::<Vec<_>>(), "{path}");
        // A page may begin in one version and go on in another one.
        let first = admin.get(&format!("{V1}?labelSelector=team&limit=4")).await.expect(200);
        let token = first["metadata"]["continue"].as_str().unwrap();
        let rest =
            admin.get(&format!("{path}?labelSelector=team&limit=4&continue={token}")).await.expect(200);
        assert_eq!(rest["items"][0], items[4], "{path}");
    }
}

#[tokio::test]
async fn every_form_of_an_answer_is_in_the_version_that_asks() {
    const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io";
    const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io";
    const PROTOBUF: &str = "application/vnd.orch.protobuf";
    let server = server().await;
    let admin = server.admin();
    admin.post(V1, &level(V1, "l", Some(0))).await.expect(201);
    for path in ALL {
        let get = async |path: &str, accept: &str| {
            admin.request(Method::GET, path).header("accept", accept).send().await
        };
        let read = admin.get(&format!("{path}/l")).await.expect(200);
        let metadata = get(&format!("{path}/l"), METADATA).await.expect(200);
        assert_eq!(metadata["kind"], "PartialObjectMetadata");
        // What the version keeps in an annotation is there too.
        assert_eq!(metadata["metadata"], read["metadata"], "{path}");
        let list = get(&format!("{path}?labelSelector=team"), METADATA_LIST).await.expect(200);
        assert_eq!(list["items"][0]["metadata"], read["metadata"], "{path}");

        // The stored form in protobuf is that of the version, and is read back as the same object.
        let answer = get(&format!("{path}/l"), PROTOBUF).await;
        let is_known = answer.status == 200;
        let json = get(&format!("{path}/l"), &format!("{PROTOBUF},application/json")).await;
        assert!(is_known || (answer.status == 406 && json.expect(200) == read), "{path}: {}", answer.status);
        if is_known {
            let version = format!("flowcontrol.apiserver.orch.io/{}", version_in(path));
            let names_it = answer.body.windows(version.len()).any(|bytes| bytes == version.as_bytes());
            assert!(names_it, "{path}");
            let put = admin.request(Method::PUT, &format!("{path}/l")).body(PROTOBUF, answer.body.clone());
            assert_eq!(put.send().await.expect(200), read, "{path}");
        }
    }
}

#[tokio::test]
async fn a_status_is_replaced_in_every_version() {
    let server = server().await;
    let admin = server.admin();
    admin.post(V1, &level(V1, "l", Some(3))).await.expect(201);
    for (number, path) in ALL.into_iter().enumerate() {
        let mut sent = admin.get(&format!("{path}/l/status")).await.expect(200);
        assert_eq!(shares(&sent, path), 3);
        let kind = format!("Seen{number}");
        sent["status"]["conditions"] = json!([{
            "type": kind, "status": "True", "lastTransitionTime": null, "reason": "", "message": "",
        }]);
        sent["spec"]["limited"][shares_in(path)] = json!(9);
        let put = admin.put(&format!("{path}/l/status"), &sent).await.expect(200);
        assert_eq!((&put["status"]["conditions"][0]["type"], shares(&put, path)), (&json!(kind), json!(3)));
        for other in ALL {
            let read = admin.get(&format!("{other}/l")).await.expect(200);
            assert_eq!((&read["status"], version(&read)), (&put["status"], version(&put)), "{path} {other}");
        }
        // The older version is a conflict, whichever one is spoken.
        let mut late = admin.get(&format!("{path}/l")).await.expect(200);
        late["metadata"]["resourceVersion"] = sent["metadata"]["resourceVersion"].clone();
        admin.put(&format!("{path}/l/status"), &late).await.refused(409, "Conflict");
    }
}

#[tokio::test]
async fn a_watch_begins_with_what_there_is_in_its_own_version() {
    let server = server().await;
    let admin = server.admin();
    admin.post(V1BETA2, &level(V1BETA2, "l", Some(3))).await.expect(201);
    let query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
                 &labelSelector=team%3Dl";
    for path in ALL {
        let mut watch = admin.watch(&format!("{path}?{query}")).await;
        let first = watch.expect("ADDED").await;
        assert_eq!(
            (&first["apiVersion"], shares(&first, path)),
            (&level(path, "", None)["apiVersion"], json!(3))
        );
        let bookmark = watch.expect("BOOKMARK").await;
        assert_eq!(bookmark["apiVersion"], first["apiVersion"], "{path}");
        assert_eq!(bookmark["metadata"]["annotations"]["orch.io/initial-events-end"], "true", "{bookmark}");
    }
}

#[tokio::test]
async fn a_watch_shows_its_own_version_whoever_writes() {
    let server = server().await;
    let admin = server.admin();
    let start = admin.get(V1).await.expect(200)["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let selector = "labelSelector=team%3Dl";
    let mut watches = Vec::new();
    for path in ALL {
        watches
            .push((path, admin.watch(&format!("{path}?watch=1&resourceVersion={start}&{selector}")).await));
    }
    admin.post(V1BETA2, &level(V1BETA2, "l", Some(3))).await.expect(201);
    admin
        .merge(&format!("{V1}/l"), &json!({"spec": {"limited": {"nominalConcurrencyShares": 0}}}))
        .await
        .expect(200);
    admin
        .merge(&format!("{V1BETA3}/l"), &json!({"metadata": {"labels": {"team": "other"}}}))
        .await
        .expect(200);
    admin.merge(&format!("{V1}/l"), &json!({"metadata": {"labels": {"team": "l"}}})).await.expect(200);
    admin.delete(&format!("{V1BETA3}/l")).await.expect(200);
    for (path, mut watch) in watches {
        for (kind, expected) in [("ADDED", 3), ("MODIFIED", 0), ("DELETED", 0), ("ADDED", 0), ("DELETED", 0)]
        {
            let event = watch.event().await;
            assert_eq!(
                (event["type"].as_str(), shares(&event["object"], path)),
                (Some(kind), json!(expected)),
                "{path}"
            );
            assert_eq!(event["object"]["apiVersion"], level(path, "l", None)["apiVersion"]);
        }
    }
}

/// The entry of a manager: the version in which its fields are named, and those of the limits.
fn owned<'o>(object: &'o Value, manager: &str) -> (&'o str, Vec<&'o str>) {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == manager).unwrap();
    let fields = entry["fieldsV1"]["f:spec"]["f:limited"].as_object();
    let version = entry["apiVersion"].as_str().unwrap().split('/').nth(1).unwrap();
    (version, fields.into_iter().flatten().map(|(name, _)| name.as_str()).collect())
}

#[tokio::test]
async fn managers_in_two_versions_share_an_object() {
    let server = server().await;
    let admin = server.admin();
    let created = apply(&admin, V1BETA2, "fieldManager=old", &level(V1BETA2, "l", Some(5))).await.expect(201);
    assert_eq!(owned(&created, "old"), ("v1beta2", vec!["f:assuredConcurrencyShares", "f:limitResponse"]));

    // The same value in another version is shared, another value is a conflict.
    let new = |shares| {
        json!({"apiVersion": "flowcontrol.apiserver.orch.io/v1", "kind": "PriorityLevelConfiguration",
            "metadata": {"name": "l"}, "spec": {"limited": {"nominalConcurrencyShares": shares}}})
    };
    let shared = apply(&admin, V1, "fieldManager=new", &new(5)).await.expect(200);
    assert_eq!(owned(&shared, "new"), ("v1", vec!["f:nominalConcurrencyShares"]));
    assert_eq!(owned(&shared, "old"), ("v1beta2", vec!["f:assuredConcurrencyShares", "f:limitResponse"]));
    let message = apply(&admin, V1, "fieldManager=new", &new(6)).await.refused(409, "Conflict");
    let expected = "conflict with \"old\": .spec.limited.nominalConcurrencyShares";
    assert!(message.contains(expected), "{message}");
    let forced = apply(&admin, V1, "fieldManager=new&force=true", &new(6)).await.expect(200);
    assert_eq!(owned(&forced, "old"), ("v1beta2", vec!["f:limitResponse"]));

    // The other way round.
    let message = apply(&admin, V1BETA2, "fieldManager=old", &level(V1BETA2, "l", Some(7))).await;
    let message = message.refused(409, "Conflict");
    let expected = "conflict with \"new\": .spec.limited.assuredConcurrencyShares";
    assert!(message.contains(expected), "{message}");

    // An update in a third version takes the field from both.
    let update = json!({"spec": {"limited": {"nominalConcurrencyShares": 8}}});
    let updated = admin.merge(&format!("{V1BETA3}/l?fieldManager=third"), &update).await.expect(200);
    assert_eq!(owned(&updated, "third"), ("v1beta3", vec!["f:nominalConcurrencyShares"]));
    let read = admin.get(&format!("{V1}/l")).await.expect(200);
    assert_eq!(read["metadata"]["managedFields"], updated["metadata"]["managedFields"]);
    assert!(
        !read["metadata"]["managedFields"].as_array().unwrap().iter().any(|entry| entry["manager"] == "new")
    );

    // A manager that moves to another version keeps its entry, and gives up what it leaves out.
    let mut moved = level(V1, "l", None);
    moved["metadata"]["labels"] = json!({"team": "new"});
    let moved = apply(&admin, V1, "fieldManager=old&force=true", &moved).await.expect(200);
    assert_eq!(owned(&moved, "old"), ("v1", vec!["f:limitResponse"]));
    assert_eq!(shares(&moved, V1), 8);
}

#[tokio::test]
async fn versions_are_off_unless_they_are_named() {
    let mut server = TestServer::options().flag("--runtime-config=api/all=true").start().await;
    let admin = server.admin();
    let of_group = admin.get(GROUP).await.expect(200);
    let versions = |group: &Value| {
        let versions = group["versions"].as_array().unwrap().iter();
        versions.map(|version| version["version"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(versions(&of_group), ["v1"]);
    for path in [V1BETA3, V1BETA2] {
        admin.get(path).await.refused(404, "NotFound");
    }
    admin.post(V1, &level(V1, "l", Some(4))).await.expect(201);

    server.stop().await;
    server.restart_with(FLAG).await;
    let admin = server.admin();
    let of_group = admin.get(GROUP).await.expect(200);
    assert_eq!(versions(&of_group), ["v1", "v1beta3", "v1beta2"]);
    assert_eq!(of_group["preferredVersion"]["version"], "v1");
    // All versions have the hash of the stored one.
    let mut hashes = Vec::new();
    for version in ["v1", "v1beta3", "v1beta2"] {
        let resources = admin.get(&format!("{GROUP}/{version}")).await.expect(200);
        let resources = resources["resources"].as_array().unwrap().iter();
        let hash = |resource: &Value| resource["storageVersionHash"].as_str().map(str::to_owned);
        hashes.push(resources.filter_map(hash).collect::<Vec<_>>());
    }
    assert_eq!((&hashes[1], &hashes[2], hashes[0].len()), (&hashes[0], &hashes[0], 2));

    let read = admin.get(&format!("{V1BETA2}/l")).await;
    let warning = "flowcontrol.apiserver.orch.io/v1beta2 PriorityLevelConfiguration is deprecated in v1.26+, \
                   unavailable in v1.29+; use flowcontrol.apiserver.orch.io/v1 PriorityLevelConfiguration";
    assert_eq!(read.header("warning"), format!("299 - \"{warning}\""));
    assert_eq!(shares(&read.expect(200), V1BETA2), 4);
    let table =
        admin.request(Method::GET, V1BETA2).header("accept", "application/json;as=Table;v=v1;g=meta.orch.io");
    let table = table.send().await.expect(200);
    assert_eq!(table["columnDefinitions"][2]["name"], "AssuredConcurrencyShares");
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["cells"][0] == "l").unwrap();
    assert_eq!(row["cells"][2], 4);
    // The versions of flow schemas are all the same.
    let schemas = admin.get(&format!("{GROUP}/v1beta3/flowschemas/probes")).await.expect(200);
    assert_eq!(
        schemas["spec"],
        admin.get(&format!("{GROUP}/v1/flowschemas/probes")).await.expect(200)["spec"]
    );
}

#[tokio::test]
async fn reviews_are_answered_in_an_older_version() {
    const REVIEWS: &str = "/apis/authorization.orch.io/v1beta1";
    let server = TestServer::start().await;
    let review = |group: Value| {
        json!({"apiVersion": "authorization.orch.io/v1beta1", "kind": "SubjectAccessReview", "spec": {
            "user": "somebody", "group": group, "resourceAttributes": {"verb": "get", "resource": "pods"}}})
    };
    let path = format!("{REVIEWS}/subjectaccessreviews");
    server.admin().post(&path, &review(json!([]))).await.refused(404, "NotFound");

    let server = TestServer::options().flag("--runtime-config=authorization.orch.io/v1beta1").start().await;
    let admin = server.admin();
    for (group, allowed) in [(json!(["system:masters"]), true), (json!(["others"]), false)] {
        let answer = admin.post(&path, &review(group.clone())).await;
        assert!(answer.header("warning").contains("use authorization.orch.io/v1 SubjectAccessReview"));
        let answer = answer.expect(201);
        assert_eq!(answer["apiVersion"], "authorization.orch.io/v1beta1");
        assert_eq!((&answer["spec"]["group"], &answer["status"]["allowed"]), (&group, &json!(allowed)));
        let fields = &answer["metadata"]["managedFields"][0];
        assert_eq!(fields["apiVersion"], "authorization.orch.io/v1beta1");
        assert!(fields["fieldsV1"]["f:spec"]["f:group"].is_object(), "{fields}");
    }
    // The name of the newer version is unknown here.
    let mut newer = review(Value::Null);
    newer["spec"]["groups"] = json!(["system:masters"]);
    let strict = format!("{path}?fieldValidation=Strict");
    admin.post(&strict, &newer).await.refused(400, "BadRequest");
    for (kind, path, spec) in [
        (
            "LocalSubjectAccessReview",
            "namespaces/default/localsubjectaccessreviews",
            &review(json!(["g"]))["spec"],
        ),
        (
            "SelfSubjectAccessReview",
            "selfsubjectaccessreviews",
            &json!({"nonResourceAttributes": {"path": "/", "verb": "get"}}),
        ),
        ("SelfSubjectRulesReview", "selfsubjectrulesreviews", &json!({"namespace": "default"})),
    ] {
        let body = json!({"apiVersion": "authorization.orch.io/v1beta1", "kind": kind, "spec": spec});
        let answer = admin.post(&format!("{REVIEWS}/{path}"), &body).await.expect(201);
        assert_eq!((&answer["kind"], &answer["apiVersion"]), (&json!(kind), &body["apiVersion"]));
    }
}
