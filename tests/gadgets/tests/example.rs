//! The README's five minutes, as they are written there: one more YAML file in the example, and a new kind is
//! served, explained and validated.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

use std::time::Duration;

use orch_tests::{
    Client, TestServer,
    kubectl::{Kubectl, is_installed},
};
use serde_json::{Value, json};

const WIDGETS: &str = "/apis/example.orch.io/v1/namespaces/default/widgets";
const GADGETS: &str = "/apis/example.orch.io/v1/namespaces/default/gadgets";

/// Where in the example the README puts the file. The build script of this package puts it there.
const PLACE: &str = "schema/example.orch.io/v1/gadget.yaml";

const SERVER: &str = env!("CARGO_BIN_EXE_gadgets");

#[tokio::test]
async fn one_yaml_file_is_a_new_resource() {
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&format!("`examples/widgets/{PLACE}`")), "the README names another place");
    let [_schema, object] = yaml_blocks(readme).try_into().expect("the README has a schema and an object");
    who_may_scale_a_widget().await;
    let server =
        TestServer::options().binary(SERVER.into()).flag("--authorization-mode=AlwaysAllow").start().await;
    let admin = server.admin();

    let resources = admin.get("/apis/example.orch.io/v1").await.expect(200);
    let resources: Vec<&Value> = resources["resources"].as_array().unwrap().iter().collect();
    let gadgets =
        resources.iter().find(|resource| resource["name"] == "gadgets").expect("gadgets are discovered");
    assert_eq!(gadgets["shortNames"], json!(["gd"]));
    assert!(resources.iter().any(|resource| resource["name"] == "widgets"), "widgets are still there");

    the_kind_of_the_guide_is_served(&admin).await;

    let gadget = json!({
        "apiVersion": "example.orch.io/v1", "kind": "Gadget", "metadata": {"name": "a"},
        "spec": {"job": "Drill"},
    });
    let created = admin.post(GADGETS, &gadget).await.expect(201);
    assert_eq!(created["spec"], json!({"job": "Drill", "speed": 20}), "defaults are filled in");
    let wrong = json!({"spec": {"job": "Sing", "speed": 900}});
    let refused = admin.merge(&format!("{GADGETS}/a"), &wrong).await;
    refused.refused(422, "Invalid");
    let causes = refused.json()["details"]["causes"].clone();
    let field = |name: &str| {
        let cause = causes.as_array().unwrap().iter().find(|cause| cause["field"] == name);
        cause.unwrap_or_else(|| panic!("{name} is not among {causes}"))["message"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(field("spec.job"), r#"Unsupported value: "Sing": supported values: "Cut", "Drill", "Weld""#);
    let said = field("spec.speed");
    assert!(
        readme.contains(&format!("spec.speed: {said}")),
        "the README promises another message than {said:?}"
    );

    with_kubectl(&server, &object).await;
    what_is_registered(&server).await;
    how_a_widget_is_scaled(&server).await;
    a_recipe_goes_with_its_widget(&server).await;
}

/// The first file that the guide to schemas shows is a kind; it and the others are built with the example.
async fn the_kind_of_the_guide_is_served(admin: &Client) {
    let widgets = "/apis/guide0.orch.io/v1/namespaces/default/widgets";
    let widget = |colour: &str| json!({"metadata": {"name": "a"}, "spec": {"colour": colour}});
    let created = admin.post(widgets, &widget("Red")).await.expect(201);
    assert_eq!(created["spec"], json!({"colour": "Red", "replicas": 1}));
    admin.post(widgets, &widget("Blue")).await.refused(422, "Invalid");
}

/// The sub-resource `scale` of a kind of one's own, which comes from one line of its schema file.
async fn how_a_widget_is_scaled(server: &TestServer) {
    let admin = server.admin();
    let (path, scale) = (format!("{WIDGETS}/a"), format!("{WIDGETS}/a/scale"));
    admin.merge(&path, &json!({"spec": {"replicas": 3}})).await.expect(200);
    let selector = json!({"status": {"selector": "widget=a"}});
    admin.merge(&format!("{path}/status"), &selector).await.expect(200);
    eventually(async || {
        let shown = admin.get(&scale).await.expect(200);
        let numbers = (&shown["spec"]["replicas"], &shown["status"]["replicas"]);
        (numbers == (&json!(3), &json!(3))).then_some(())
    })
    .await;
    let (widget, shown) = (admin.get(&path).await.expect(200), admin.get(&scale).await.expect(200));
    let of_widget = |name: &str| widget["metadata"][name].clone();
    let expected = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": of_widget("uid"),
            "resourceVersion": of_widget("resourceVersion"),
            "creationTimestamp": of_widget("creationTimestamp"),
        },
        "spec": {"replicas": 3},
        "status": {"replicas": 3, "selector": "widget=a"},
    });
    assert_eq!(shown, expected);

    let resources = admin.get("/apis/example.orch.io/v1").await.expect(200);
    let listed = resources["resources"].as_array().unwrap();
    let entry = listed.iter().find(|resource| resource["name"] == "widgets/scale").expect("it is discovered");
    let expected = json!({
        "name": "widgets/scale", "singularName": "", "namespaced": true,
        "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"],
    });
    assert_eq!(*entry, expected);
    let groups = admin.get("/apis").await.expect(200)["groups"].clone();
    assert!(
        groups.as_array().unwrap().iter().all(|group| group["name"] != "autoscaling"),
        "it serves nothing"
    );
    let document = admin.get("/openapi/v3/apis/example.orch.io/v1").await.expect(200);
    let published = &document["components"]["schemas"]["autoscaling.v1.Scale"];
    let gvk = json!([{"group": "autoscaling", "kind": "Scale", "version": "v1"}]);
    assert_eq!(published["x-kubernetes-group-version-kind"], gvk);

    if is_installed("scaling a widget") {
        let kubectl = Kubectl { server };
        kubectl.prints("scale widgets/a --replicas=4", "widget.example.orch.io/a scaled").await;
        let command = "scale widgets/a --current-replicas=4 --replicas=5";
        kubectl.prints(command, "widget.example.orch.io/a scaled").await;
        kubectl.prints("get widget a -o jsonpath={.spec.replicas}", "5").await;
    }
    // Rules and behaviour are those of the widget.
    let refused = admin.merge(&scale, &json!({"spec": {"replicas": 1}})).await;
    let message = refused.refused(422, "Invalid").clone();
    assert!(message.starts_with(r#"Widget.example.orch.io "a" is invalid: spec.replicas: "#), "{message}");
}

const RIGHTS: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default";

/// A right to a kind is none to its scale, and the other way round.
async fn who_may_scale_a_widget() {
    let server = TestServer::options().binary(SERVER.into()).start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let (path, scale) = (format!("{WIDGETS}/a"), format!("{WIDGETS}/a/scale"));
    let widget = json!({
        "apiVersion": "example.orch.io/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"colour": "Red", "replicas": 2},
    });
    admin.post(WIDGETS, &widget).await.expect(201);
    let role = |resource: &str, verbs: &[&str]| {
        let rule = json!({"apiGroups": ["example.orch.io"], "resources": [resource], "verbs": verbs});
        json!({"metadata": {"name": "r"}, "rules": [rule]})
    };
    let widgets = role("widgets", &["get", "update", "patch"]);
    admin.post(&format!("{RIGHTS}/roles"), &widgets).await.expect(201);
    let binding = json!({
        "metadata": {"name": "r"}, "subjects": [{"kind": "User", "name": "bob"}],
        "roleRef": {"apiGroup": "rbac.authorization.orch.io", "kind": "Role", "name": "r"},
    });
    admin.post(&format!("{RIGHTS}/rolebindings"), &binding).await.expect(201);
    let replicas = |number: i32| json!({"spec": {"replicas": number}});
    let given = async |role: &Value, path: &str| {
        admin.put(&format!("{RIGHTS}/roles/r"), role).await.expect(200);
        let mut asked = admin.get(&scale).await.expect(200);
        // Of no version, as it is changed in between, and with no fewer pieces than the controller has
        // made by then.
        asked["metadata"] = json!({"name": "a", "namespace": "default"});
        asked["spec"] = json!({"replicas": 3});
        [bob.get(path).await, bob.merge(path, &replicas(3)).await, bob.put(path, &asked).await]
            .map(|answer| answer.status)
    };
    assert_eq!(given(&widgets, &scale).await, [403; 3]);
    let message = bob.get(&scale).await.refused(403, "Forbidden");
    assert!(message.contains("cannot get resource \"widgets/scale\""), "{message}");
    let reader = role("widgets/scale", &["get"]);
    assert_eq!(given(&reader, &scale).await, [200, 403, 403]);
    let scaler = role("widgets/scale", &["get", "patch", "update"]);
    assert_eq!(given(&scaler, &scale).await, [200; 3]);
    assert_eq!([bob.get(&path).await, bob.merge(&path, &replicas(4)).await].map(|it| it.status), [403; 2]);
    let every = role("*/scale", &["get", "patch", "update"]);
    assert_eq!(given(&every, &scale).await, [200; 3]);
}

/// What the example adds in Rust: a behaviour, an admission plugin, a controller and a route.
async fn what_is_registered(server: &TestServer) {
    let (admin, bob) = (server.admin(), server.user("bob"));
    let widget = |name: &str, colour: &str, replicas: i32| {
        json!({
            "apiVersion": "example.orch.io/v1", "kind": "Widget", "metadata": {"name": name},
            "spec": {"colour": colour, "replicas": replicas},
        })
    };
    let refused = bob.post(WIDGETS, &widget("red", "Red", 1)).await;
    assert_eq!(
        refused.refused(403, "Forbidden"),
        r#"widgets.example.orch.io "red" is forbidden: only painters may make and delete red widgets"#
    );
    let created = bob.post(WIDGETS, &widget("a", "Green", 2)).await.expect(201);
    assert_eq!(created["metadata"]["labels"], json!({"example.orch.io/colour": "Green"}));
    admin.post(WIDGETS, &widget("red", "Red", 1)).await.expect(201);
    bob.delete(&format!("{WIDGETS}/red")).await.refused(403, "Forbidden");
    admin.delete(&format!("{WIDGETS}/red")).await.expect(200);

    let recipe = "/api/v1/namespaces/default/configmaps/a-recipe";
    let made = eventually(async || {
        let answer = admin.get(recipe).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    assert_eq!(made["data"], json!({"colour": "Green", "pieces": "2"}));
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], created["metadata"]["uid"]);
    let path = format!("{WIDGETS}/a");
    eventually(async || {
        let widget = admin.get(&path).await.expect(200);
        (widget["status"]["made"] == 2).then_some(())
    })
    .await;
    let refused = admin.merge(&path, &json!({"spec": {"replicas": 1}})).await;
    let message = refused.refused(422, "Invalid");
    assert!(message.contains("spec.replicas: Invalid value: 1: must be at least 2"), "{message}");
    // What it owns is made again when somebody deletes it, or changes it.
    admin.delete(recipe).await.expect(200);
    eventually(async || (admin.get(recipe).await.status == 200).then_some(())).await;
    admin.merge(recipe, &json!({"data": {"pieces": "7"}})).await.expect(200);
    eventually(async || {
        let recipe = admin.get(recipe).await.expect(200);
        (recipe["data"]["pieces"] == "2").then_some(())
    })
    .await;

    let answer = bob.get("/colours").await;
    assert_eq!(answer.expect(200), json!({"colours": ["Red", "Green", "Blue"], "caller": "bob"}));
    assert_eq!(bob.post("/colours", &json!({})).await.status, 405);
    let metrics = admin.get("/metrics").await;
    assert!(metrics.text().contains(r#"workqueue_depth{name="recipes"}"#), "controllers are counted");
    let ready = admin.get("/readyz?verbose").await;
    assert!(ready.text().contains("[+]controller/recipes ok"), "{}", ready.text());
}

/// A config map is deleted with the widget that owns it.
async fn a_recipe_goes_with_its_widget(server: &TestServer) {
    let admin = server.admin();
    let recipe = "/api/v1/namespaces/default/configmaps/a-recipe";
    admin.get(recipe).await.expect(200);
    admin.delete(&format!("{WIDGETS}/a")).await.expect(200);
    eventually(async || (admin.get(recipe).await.status == 404).then_some(())).await;
}

/// Asks until there is an answer.
async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asked).await.expect("it happens within 20 seconds")
}

/// The commands that the README shows, where kubectl is installed.
async fn with_kubectl(server: &TestServer, object: &str) {
    if !is_installed("the README's commands for a new resource") {
        return;
    }
    std::fs::write(server.scratch_dir().join("gadget.yaml"), object).unwrap();
    let kubectl = Kubectl { server };
    kubectl.prints("apply -f gadget.yaml", "gadget.example.orch.io/sawmill created").await;
    kubectl.prints("get gadget sawmill -o jsonpath={.spec.speed}", "20").await;
    kubectl.shows("get gd", &["sawmill"]).await;
    kubectl.shows("explain gadget.spec.speed", &["Turns per second."]).await;
    let told = r#"The Gadget "sawmill" is invalid: spec.speed: Invalid value: 900: must be between 0 and 500, inclusive"#;
    kubectl.fails(r#"patch gadget sawmill --type=merge -p {"spec":{"speed":900}}"#, &[told]).await;
    kubectl.shows("delete gadget sawmill", &["deleted"]).await;
}

/// The contents of the fenced blocks that are YAML.
fn yaml_blocks(text: &str) -> Vec<String> {
    let blocks = text.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}
