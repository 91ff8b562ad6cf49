//! Access by roles and bindings: what every server starts with, when a change is in force, and the modes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use orch_tests::{
    TestServer,
    client::Client,
    objects::{CONFIG_MAPS, SECRETS, config_map},
};
use serde_json::{Value, json};

const RBAC: &str = "/apis/rbac.authorization.orch.io/v1";
const BINDINGS: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";

fn binding(name: &str, role: &str, user: &str) -> Value {
    json!({
        "metadata": {"name": name}, "subjects": [{"kind": "User", "name": user}],
        "roleRef": {"kind": "ClusterRole", "name": role},
    })
}

#[tokio::test]
async fn the_roles_of_every_server_are_bound_and_in_force() {
    let mut server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    bob.get("/version").await.expect(200);
    bob.get("/metrics").await.refused(403, "Forbidden");
    bob.get(CONFIG_MAPS).await.refused(403, "Forbidden");
    admin.post(BINDINGS, &binding("b", "view", "bob")).await.expect(201);
    bob.get(CONFIG_MAPS).await.expect(200);
    bob.get(SECRETS).await.refused(403, "Forbidden");
    bob.post(CONFIG_MAPS, &config_map("a", "1")).await.refused(403, "Forbidden");
    admin.post(BINDINGS, &binding("c", "edit", "bob")).await.expect(201);
    bob.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    // The parts of the cluster have their own roles.
    for (user, role) in [
        ("system:kube-controller-manager", "system:kube-controller-manager"),
        ("system:kube-scheduler", "system:kube-scheduler"),
        ("system:kube-scheduler", "system:volume-scheduler"),
    ] {
        let binding = admin.get(&format!("{RBAC}/clusterrolebindings/{role}")).await.expect(200);
        assert_eq!(binding["subjects"][0]["name"], user);
    }
    // What an operator changes survives a start, and what is missing comes back.
    admin.delete(&format!("{RBAC}/clusterroles/view")).await.expect(200);
    bob.get("/version").await.expect(200);
    assert!(server.stop().await.success());
    server.restart().await;
    server.admin().get(&format!("{RBAC}/clusterroles/view")).await.expect(200);
    server.user("bob").get(CONFIG_MAPS).await.expect(200);
}

#[tokio::test]
async fn nobody_gives_away_what_they_do_not_have() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let rule =
        |resource: &str, verbs: &[&str]| json!({"apiGroups": [""], "resources": [resource], "verbs": verbs});
    let writer = json!({"apiGroups": ["rbac.authorization.orch.io"], "resources": ["*"], "verbs": [
        "create", "get", "update", "patch"]});
    let role = |name: &str, rules: Value| json!({"metadata": {"name": name}, "rules": rules});
    let roles = format!("{RBAC}/clusterroles");
    admin.post(&roles, &role("writer", json!([writer, rule("configmaps", &["get"])]))).await.expect(201);
    let bindings = format!("{RBAC}/clusterrolebindings");
    admin.post(&bindings, &binding("writer", "writer", "bob")).await.expect(201);

    bob.post(&roles, &role("held", json!([rule("configmaps", &["get"])]))).await.expect(201);
    let refused = "user \"bob\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC \
                   permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";
    let secrets = role("held", json!([rule("secrets", &["get"])]));
    let answer = bob.put(&format!("{roles}/held"), &secrets).await.refused(403, "Forbidden");
    assert!(answer.ends_with(refused), "{answer}");
    let apply = bob.request(http::Method::PATCH, &format!("{roles}/new?fieldManager=m&force=true"));
    let configuration = json!({"apiVersion": "rbac.authorization.orch.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "new"}, "rules": [rule("secrets", &["get"])]});
    let answer = apply.body("application/apply-patch+yaml", configuration.to_string()).send().await;
    assert!(answer.refused(403, "Forbidden").ends_with(refused));
    let dry = bob.post(&format!("{roles}?dryRun=All"), &role("x", json!([rule("secrets", &["get"])]))).await;
    assert!(dry.refused(403, "Forbidden").ends_with(refused));

    // A label gives the rules of a role to an aggregated one, and a selector takes those of all others.
    let labelled = json!({"metadata": {"labels": {"rbac.authorization.orch.io/aggregate-to-view": "true"}}});
    bob.merge(&format!("{roles}/held"), &labelled).await.expect(200);
    let everything = json!({"metadata": {"name": "all"}, "rules": [],
        "aggregationRule": {"clusterRoleSelectors": [{}]}});
    let answer = bob.post(&roles, &everything).await.refused(403, "Forbidden");
    assert!(answer.ends_with("must have cluster-admin privileges to use the aggregationRule"), "{answer}");
    let changed = json!({"aggregationRule": null});
    let answer = bob.merge(&format!("{roles}/view"), &changed).await;
    answer.refused(403, "Forbidden");

    let answer = bob.post(&bindings, &binding("x", "cluster-admin", "bob")).await.refused(403, "Forbidden");
    assert!(answer.contains("is attempting to grant RBAC permissions not currently held"), "{answer}");
    bob.post(&bindings, &binding("x", "held", "eve")).await.expect(201);
    bob.post(&bindings, &binding("y", "nothing", "eve")).await.refused(404, "NotFound");
    // The verb `bind` is about one role alone.
    let bind = json!({"apiGroups": ["rbac.authorization.orch.io"], "resources": ["clusterroles"],
        "verbs": ["bind"], "resourceNames": ["cluster-admin"]});
    admin.post(&roles, &role("binder", json!([bind]))).await.expect(201);
    admin.post(&bindings, &binding("binder", "binder", "bob")).await.expect(201);
    bob.post(&bindings, &binding("z", "cluster-admin", "eve")).await.expect(201);
    bob.post(&bindings, &binding("w", "admin", "eve")).await.refused(403, "Forbidden");
}

/// However many bindings grant a long role, its rules are listed once, and a list of rules ends somewhere.
#[tokio::test]
async fn a_review_of_rules_is_no_longer_than_the_roles() {
    const BINDINGS_OF_IT: usize = 40;
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let roles = format!("{RBAC}/namespaces/default/roles");
    let long_name = |role: &str, number: usize| format!("{role}-{number}-{}", "x".repeat(100));
    let role = |name: &str, count: usize| {
        let names: Vec<_> = (0..count).map(|number| long_name(name, number)).collect();
        let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"],
            "resourceNames": names});
        json!({"metadata": {"name": name}, "rules": [rule]})
    };
    let bind = async |name: String, role: &str| {
        let binding = json!({"metadata": {"name": name}, "subjects": [{"kind": "User", "name": "bob"}],
            "roleRef": {"kind": "Role", "name": role}});
        admin.post(BINDINGS, &binding).await.expect(201);
    };
    let review = async || {
        let question = json!({"spec": {"namespace": "default"}});
        let review = bob.post("/apis/authorization.orch.io/v1/selfsubjectrulesreviews", &question).await;
        (review.text().len(), review.expect(201)["status"].clone())
    };
    admin.post(&roles, &role("long", 1_000)).await.expect(201);
    for number in 0..BINDINGS_OF_IT {
        bind(format!("long{number}"), "long").await;
    }
    let (length, status) = review().await;
    let rules = status["resourceRules"].as_array().unwrap();
    assert_eq!(rules.iter().filter(|rule| rule["resourceNames"].is_array()).count(), 1);
    assert!(length < 200_000 && status["incomplete"] == false, "{length} bytes");

    for name in ["longer", "longest"] {
        admin.post(&roles, &role(name, 7_000)).await.expect(201);
        bind(name.to_owned(), name).await;
    }
    let (length, status) = review().await;
    assert!(length < 2_000_000 && status["incomplete"] == true, "{length} bytes");
    assert_eq!(status["evaluationError"], "RBAC: there are more rules than one list may have");
    // The rest of the rules hold all the same.
    for (role, number, code, reason) in [
        ("longer", 6_999, 404, "NotFound"),
        ("longest", 6_999, 404, "NotFound"),
        ("longest", 7_000, 403, "Forbidden"),
    ] {
        bob.get(&format!("{CONFIG_MAPS}/{}", long_name(role, number))).await.refused(code, reason);
    }
}

/// 32 clients use a right while it is taken away. What began after the answer is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_right_is_gone_when_its_removal_is_answered() {
    const CLIENTS: usize = 32;
    const ROUNDS: usize = 5;
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let path = format!("{CONFIG_MAPS}/a");
    for round in 0..ROUNDS {
        admin.post(BINDINGS, &binding("b", "view", "bob")).await.expect(201);
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..CLIENTS).map(|_| {
            let (client, path, stop) = (server.user("bob"), path.clone(), Arc::clone(&stop));
            tokio::spawn(async move { uses(&client, &path, &stop).await })
        });
        let clients: Vec<_> = clients.collect();
        // Everybody has used the right before it goes.
        server.user("bob").get(&path).await.expect(200);
        admin.delete(&format!("{BINDINGS}/b")).await.expect(200);
        let answered = Instant::now();
        server.user("bob").get(&path).await.refused(403, "Forbidden");
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            for (began, status) in client.await.unwrap() {
                assert!(status == 200 || status == 403, "{status}");
                assert!(
                    status == 403 || began < answered,
                    "round {round}: let in {:?} late",
                    began - answered
                );
            }
        }
    }
}

/// When each request of a client began, and its answer. The last one begins after the client is told to stop.
async fn uses(client: &Client, path: &str, stop: &AtomicBool) -> Vec<(Instant, u16)> {
    let mut answers = Vec::new();
    loop {
        let is_last = stop.load(Ordering::Relaxed);
        let began = Instant::now();
        answers.push((began, client.get(path).await.status));
        if is_last {
            return answers;
        }
    }
}

#[tokio::test]
async fn a_file_of_policies_decides() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policies");
    let policy = r#"{"apiVersion": "abac.authorization.orch.io/v1beta1", "kind": "Policy",
        "spec": {"user": "bob", "namespace": "default", "resource": "configmaps", "readonly": true}}"#;
    std::fs::write(&file, policy.replace('\n', " ")).unwrap();
    let options = TestServer::options().flag("--authorization-mode=ABAC,RBAC");
    let server = options.flag(format!("--authorization-policy-file={}", file.display())).start().await;
    let bob = server.user("bob");
    bob.get(CONFIG_MAPS).await.expect(200);
    let message = bob.post(CONFIG_MAPS, &config_map("a", "1")).await.refused(403, "Forbidden");
    assert!(message.ends_with(r#"in the namespace "default": No policy matched."#), "{message}");
    bob.get("/version").await.expect(200);
}

#[tokio::test]
async fn a_node_reads_what_its_pods_need() {
    let server = TestServer::start().await;
    let (admin, node) = (server.admin(), server.user("node"));
    let secret = |name: &str| json!({"metadata": {"name": name}});
    for name in ["used", "other"] {
        admin.post(SECRETS, &secret(name)).await.expect(201);
    }
    node.get(&format!("{SECRETS}/used")).await.refused(403, "Forbidden");
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "nodeName": "one", "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "secret": {"secretName": "used"}}]}});
    admin.post("/api/v1/namespaces/default/pods", &pod).await.expect(201);
    node.get(&format!("{SECRETS}/used")).await.expect(200);
    let message = node.get(&format!("{SECRETS}/other")).await.refused(403, "Forbidden");
    let unrelated = "no relationship found between node 'one' and this object";
    assert!(message.ends_with(unrelated), "{message}");
    node.get(SECRETS).await.refused(403, "Forbidden");
    node.get("/api/v1/nodes").await.expect(200);
    let at_once = "/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0";
    admin.delete(at_once).await.expect(200);
    node.get(&format!("{SECRETS}/used")).await.refused(403, "Forbidden");
}
