//! Who may make which request: every route and verb, for callers with no credential, with a bad one, without
//! rights, with the right in another namespace, with exactly the right, and for `system:masters`.
//!
//! The routes are those that the server lists, so a new one is covered without a new line here.
//! `access_gaps.txt` lists what callers may do without a right of their own.

use std::collections::BTreeSet;

use http::Method;
use orch_tests::{Client, TestServer, objects::namespace};
use serde_json::{Value, json};

use crate::discovery::{Resource, legacy_resources};

const RBAC: &str = "/apis/rbac.authorization.orch.io/v1";
const ROLE: &str = "exact";
const ELSEWHERE: &str = "elsewhere";
/// The role of callers without a credential.
const FOR_ALL: &str = "system:public-info-viewer";

/// One request, and what it takes to make it.
struct Request {
    verb: String,
    route: String,
    method: Method,
    path: String,
    body: Value,
    /// The rule that allows it and nothing else.
    rule: Value,
    is_namespaced: bool,
}

/// Verbs and routes that are let in without a right.
#[derive(Default)]
struct Open {
    to_users: BTreeSet<(String, String)>,
    /// To callers without a credential as well.
    to_all: BTreeSet<(String, String)>,
}

struct Callers {
    admin: Client,
    anonymous: Client,
    unknown: Client,
    /// Has no right.
    dave: Client,
    /// Has the right in another namespace.
    bob: Client,
    /// Has exactly the right.
    carol: Client,
}

#[tokio::test]
async fn every_request_takes_its_right() {
    let server = TestServer::start().await;
    let callers = Callers {
        admin: server.admin(),
        anonymous: server.without_credentials(),
        unknown: server.without_credentials().with_token("tok-mallory"),
        dave: server.user("dave"),
        bob: server.user("bob"),
        carol: server.user("carol"),
    };
    prepare(&callers.admin).await;
    let mut requests = Vec::new();
    for resource in &legacy_resources(&callers.admin).await {
        requests.extend(resource.verbs.iter().map(|verb| of_resource(resource, verb)));
    }
    for path in callers.admin.get("/").await.expect(200)["paths"].as_array().unwrap() {
        requests.push(of_path(path.as_str().unwrap()));
    }
    assert!(requests.len() > 200, "{} requests", requests.len());

    let mut open = Open::default();
    for request in &requests {
        check(&callers, request, &mut open).await;
    }
    check_gaps(&open.to_users, |_| true);
    check_gaps(&open.to_all, |reason| reason.contains(FOR_ALL));
}

/// The namespace that `bob` has rights in, and bindings to roles that get their rules later.
async fn prepare(admin: &Client) {
    admin.post("/api/v1/namespaces", &namespace(ELSEWHERE)).await.expect(201);
    let user = |name: &str| json!([{"kind": "User", "name": name}]);
    for (scope, in_namespace) in [("cluster", None), ("local", Some("default"))] {
        let name = format!("{ROLE}-{scope}");
        let role = json!({"metadata": {"name": name}, "rules": []});
        admin.post(&format!("{RBAC}/clusterroles"), &role).await.expect(201);
        let binding = |subject: &str| {
            json!({
                "metadata": {"name": name}, "subjects": user(subject),
                "roleRef": {"kind": "ClusterRole", "name": name},
            })
        };
        let (own, path) = match in_namespace {
            Some(namespace) => ("carol", format!("{RBAC}/namespaces/{namespace}/rolebindings")),
            None => ("carol", format!("{RBAC}/clusterrolebindings")),
        };
        admin.post(&path, &binding(own)).await.expect(201);
        let elsewhere = format!("{RBAC}/namespaces/{ELSEWHERE}/rolebindings");
        admin.post(&elsewhere, &binding("bob")).await.expect(201);
    }
}

/// Makes the request as each caller. What is let in without a right goes into `open`.
async fn check(callers: &Callers, request: &Request, open: &mut Open) {
    let what = format!("{} {}", request.verb, request.route);
    grant(&callers.admin, request).await;
    assert_eq!(send(&callers.unknown, request).await, 401, "{what} by unknown");
    for (caller, who) in [(&callers.anonymous, "anonymous"), (&callers.dave, "dave"), (&callers.bob, "bob")] {
        let open = if who == "anonymous" { &mut open.to_all } else { &mut open.to_users };
        match send(caller, request).await {
            403 => {}
            401 => panic!("{what} by {who} is unauthorized"),
            _ => drop(open.insert((request.verb.clone(), request.route.clone()))),
        }
    }
    for (caller, who) in [(&callers.carol, "carol"), (&callers.admin, "admin")] {
        let status = send(caller, request).await;
        assert!(!matches!(status, 401 | 403) && status < 500, "{what} by {who}: {status}");
    }
}

/// Gives the right to the roles that the callers are bound to.
async fn grant(admin: &Client, request: &Request) {
    for (scope, has_right) in [("cluster", !request.is_namespaced), ("local", true)] {
        // A role of a namespace has no rules about paths.
        let rules = if has_right { json!([request.rule]) } else { json!([]) };
        let role = json!({"metadata": {"name": format!("{ROLE}-{scope}")}, "rules": rules});
        admin.put(&format!("{RBAC}/clusterroles/{ROLE}-{scope}"), &role).await.expect(200);
    }
}

async fn send(caller: &Client, request: &Request) -> u16 {
    let Request { method, path, body, .. } = request;
    let mut sent = caller.request(method.clone(), path);
    if !body.is_null() {
        let is_patch = *method == Method::PATCH;
        let media_type = if is_patch { "application/merge-patch+json" } else { "application/json" };
        sent = sent.body(media_type, body.to_string());
    }
    sent.send().await.status
}

fn of_resource(resource: &Resource, verb: &str) -> Request {
    let item = resource.item("does-not-exist");
    let collection = resource.collection();
    let (method, path, body) = match verb {
        "get" => (Method::GET, item, Value::Null),
        "list" => (Method::GET, collection, Value::Null),
        // The version is no number: who may watch is told so, and nobody waits.
        "watch" => (Method::GET, format!("{collection}?watch=1&resourceVersion=x"), Value::Null),
        "create" if resource.subresource() => (Method::POST, item, json!({})),
        "create" => (Method::POST, collection, json!({})),
        "update" => (Method::PUT, item, json!({})),
        "patch" => (Method::PATCH, item, json!({})),
        "delete" => (Method::DELETE, item, Value::Null),
        // The selector matches nothing: covering the verb takes no deletion.
        "deletecollection" => {
            (Method::DELETE, format!("{collection}?labelSelector=never%3Dset"), Value::Null)
        }
        other => panic!("an unknown verb: {other}"),
    };
    Request {
        verb: verb.to_owned(),
        route: resource.qualified(),
        method,
        path,
        body,
        rule: json!({"apiGroups": [resource.group], "resources": [resource.name], "verbs": [verb]}),
        is_namespaced: resource.namespaced,
    }
}

fn of_path(path: &str) -> Request {
    Request {
        verb: "get".to_owned(),
        route: path.to_owned(),
        method: Method::GET,
        path: path.to_owned(),
        body: Value::Null,
        rule: json!({"nonResourceURLs": [path], "verbs": ["get"]}),
        is_namespaced: false,
    }
}

/// Compares what is open with the lines of the reviewed list that have such a reason.
fn check_gaps(open: &BTreeSet<(String, String)>, has_reason: fn(&str) -> bool) {
    let lines = include_str!("access_gaps.txt").lines().filter(|line| !line.starts_with('#'));
    let listed: Vec<(&str, &str)> = lines
        .map(|line| {
            let (request, reason) = line.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}"));
            (request.split_once(' ').unwrap_or_else(|| panic!("no route: {line}")), reason)
        })
        .filter_map(|(route, reason)| has_reason(reason).then_some(route))
        .collect();
    let covers = |(verb, pattern): (&str, &str), (open_verb, route): &(String, String)| {
        let is_route = match pattern.strip_suffix('*') {
            Some(stem) => route.starts_with(stem),
            None => route == pattern,
        };
        verb == open_verb && is_route
    };
    let unlisted: Vec<_> =
        open.iter().filter(|open| !listed.iter().any(|line| covers(*line, open))).collect();
    let stale: Vec<_> = listed.iter().filter(|line| !open.iter().any(|open| covers(**line, open))).collect();
    assert!(unlisted.is_empty() && stale.is_empty(), "not listed: {unlisted:#?}\nnot needed: {stale:#?}");
}
