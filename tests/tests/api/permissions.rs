//! Which questions each kind of request asks of an authorizer, and what a refusal of each is told.
//!
//! The server runs inside the test, with an authorizer of the test's own before the configured mode: it
//! writes down what it is asked about `bob`, and refuses what it is told to refuse.

use std::sync::{Arc, Mutex};

use http::Method;
use orch_apiserver::{
    config::{self, Invocation},
    server::Server,
};
use orch_auth::{
    answer::Answer as Reply,
    authorizer::{Attributes, Authorizer, Decision, Target},
};
use orch_tests::{
    Client,
    client::{Answer, Protocol, tls_config},
    objects::{CONFIG_MAPS, NAMESPACES, config_map},
};
use serde_json::{Value, json};
use tokio::sync::watch;

const LEASES: &str = "/apis/coordination.orch.io/v1/namespaces/default/leases";
const UNSAFE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential=true";

/// Requests, and what each asks.
const QUESTIONS: &[(&str, &str, &str)] = &[
    ("POST", CONFIG_MAPS, "create - v1 default configmaps - -"),
    ("GET", "/api/v1/namespaces/default/configmaps/a", "get - v1 default configmaps - a"),
    ("HEAD", "/api/v1/namespaces/default/configmaps/a", "get - v1 default configmaps - a"),
    ("GET", CONFIG_MAPS, "list - v1 default configmaps - -"),
    ("GET", "/api/v1/configmaps", "list - v1 - configmaps - -"),
    ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Da", "list - v1 - configmaps - a"),
    ("GET", "/api/v1/configmaps?watch=1&resourceVersion=x", "watch - v1 - configmaps - -"),
    ("GET", "/api/v1/watch/configmaps?resourceVersion=x", "watch - v1 - configmaps - -"),
    ("PUT", "/api/v1/namespaces/default/configmaps/a", "update - v1 default configmaps - a"),
    ("PATCH", "/api/v1/namespaces/default/configmaps/a", "patch - v1 default configmaps - a"),
    ("DELETE", "/api/v1/namespaces/default/configmaps/a", "delete - v1 default configmaps - a"),
    ("DELETE", CONFIG_MAPS, "deletecollection - v1 default configmaps - -"),
    (
        "GET",
        "/apis/apps/v1/namespaces/default/daemonsets/d/status",
        "get apps v1 default daemonsets status d",
    ),
    (
        "PUT",
        "/apis/apps/v1/namespaces/default/daemonsets/d/status",
        "update apps v1 default daemonsets status d",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/daemonsets/d/status",
        "patch apps v1 default daemonsets status d",
    ),
    ("POST", "/api/v1/namespaces/default/pods/p/eviction", "create - v1 default pods eviction p"),
    (
        "POST",
        "/api/v1/namespaces/default/serviceaccounts/s/token",
        "create - v1 default serviceaccounts token s",
    ),
    ("GET", "/api/v1/namespaces/default", "get - v1 default namespaces - default"),
    ("PUT", "/api/v1/namespaces/default/finalize", "update - v1 default namespaces finalize default"),
    ("POST", NAMESPACES, "create - v1 - namespaces - -"),
    ("DELETE", "/api/v1/nodes/n", "delete - v1 - nodes - n"),
    (
        "POST",
        "/apis/authorization.orch.io/v1/selfsubjectrulesreviews",
        "create authorization.orch.io v1 - selfsubjectrulesreviews - -",
    ),
    ("GET", "/version", "get /version"),
    ("GET", "/apis/apps/v1", "get /apis/apps/v1"),
    ("POST", "/livez", "post /livez"),
];

/// What an authorizer is asked, in words: verb, group, version, namespace, resource, subresource and name,
/// `-` for what is empty; or verb and path.
#[derive(Clone, Default)]
struct Table {
    asked: Arc<Mutex<Vec<String>>>,
    refused: Arc<Mutex<&'static str>>,
}

impl Authorizer for Table {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Reply<'a, Decision> {
        let reason = "no rule".into();
        // Controllers ask too.
        if attributes.user.name != "bob" {
            return Reply::Ready(Decision::NoOpinion { reason });
        }
        let question = question(attributes);
        let refused = *self.refused.lock().unwrap();
        let refuses = !refused.is_empty() && question.starts_with(refused);
        self.asked.lock().unwrap().push(question);
        Reply::Ready(if refuses { Decision::Deny { reason } } else { Decision::NoOpinion { reason } })
    }
}

fn question(attributes: &Attributes<'_>) -> String {
    let Target::Resource(target) = attributes.target else {
        let Target::Path(path) = attributes.target else { unreachable!("there is no third") };
        return format!("{} {path}", attributes.verb);
    };
    let words = [
        attributes.verb,
        target.group,
        target.version,
        target.namespace,
        target.resource,
        target.subresource,
        target.name,
    ];
    words.map(|word| if word.is_empty() { "-" } else { word }).join(" ")
}

struct Site {
    table: Table,
    bob: Client,
    admin: Client,
}

impl Site {
    /// Sends a request as `bob`, a patch as an apply where it names a manager. The answer, and what was asked
    /// for it.
    async fn ask(&self, method: &str, path: &str, body: &Value) -> (Answer, Vec<String>) {
        self.table.asked.lock().unwrap().clear();
        let media_type = match (method, path.contains("fieldManager")) {
            ("PATCH", true) => "application/apply-patch+yaml",
            ("PATCH", false) => "application/merge-patch+json",
            _ => "application/json",
        };
        let mut request = self.bob.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
        if !body.is_null() {
            request = request.body(media_type, body.to_string());
        }
        let answer = request.send().await;
        (answer, std::mem::take(&mut *self.table.asked.lock().unwrap()))
    }

    /// The same, where questions that begin so are refused.
    async fn refusing(&self, refused: &'static str, method: &str, path: &str, body: &Value) -> Answer {
        *self.table.refused.lock().unwrap() = refused;
        let answer = self.ask(method, path, body).await.0;
        *self.table.refused.lock().unwrap() = "";
        answer
    }
}

/// Runs a test beside a server.
async fn beside_a_server(test: impl AsyncFnOnce(&Site)) {
    let directory = tempfile::tempdir().unwrap();
    let tokens = directory.path().join("tokens.csv");
    std::fs::write(&tokens, "tok-admin,admin,admin,system:masters\ntok-bob,bob,bob,devs\n").unwrap();
    let data = directory.path().join("data");
    let arguments = [
        "orch",
        "--secure-port=0",
        "--authorization-mode=AlwaysAllow",
        "--feature-gates=AllowUnsafeMalformedObjectDeletion=true",
        &format!("--data-dir={}", data.display()),
        &format!("--token-auth-file={}", tokens.display()),
    ];
    let Ok(Invocation::Serve(config)) = config::parse(arguments, orch_api::VOCABULARIES) else {
        panic!("a good command line")
    };
    let table = Table::default();
    let server =
        Server::builder(*config).resources(orch_api::registry().iter().copied()).authorizer(table.clone());
    let (stop, stopping) = watch::channel(false);
    let running = Box::pin(server.start(stopping)).await.expect("the server starts");
    let authority = std::fs::read(data.join("pki/ca.crt")).unwrap();
    let tls = tls_config(&authority, None, Protocol::Http1);
    let client = Client::new(running.address(), tls, Protocol::Http1);
    let [bob, admin] = ["tok-bob", "tok-admin"].map(|token| client.clone().with_token(token));
    let tested = async {
        test(&Site { table, bob, admin }).await;
        stop.send(true).expect("the server runs");
    };
    let (served, ()) = tokio::join!(Box::pin(running.serve()), Box::pin(tested));
    served.expect("the server ends in order");
}

fn lease(name: &str, seconds: i32) -> Value {
    json!({"apiVersion": "coordination.orch.io/v1", "kind": "Lease", "metadata": {"name": name},
        "spec": {"leaseDurationSeconds": seconds}})
}

#[tokio::test]
async fn every_request_asks_for_what_it_does() {
    beside_a_server(async |site| {
        for (method, path, question) in QUESTIONS {
            let body = if matches!(*method, "GET" | "HEAD") { Value::Null } else { json!({}) };
            let (_, asked) = site.ask(method, path, &body).await;
            assert_eq!(asked, [*question], "{method} {path}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_write_that_may_create_asks_for_create_too() {
    beside_a_server(async |site| {
        let map = config_map("new", "1");
        let (updated, patched) =
            ("update coordination.orch.io v1 default leases - l", "patch - v1 default configmaps - new");
        let (made, created) =
            ("create coordination.orch.io v1 default leases - l", "create - v1 default configmaps - new");
        let (l, new) = (format!("{LEASES}/l"), format!("{CONFIG_MAPS}/new"));
        let applied = format!("{new}?fieldManager=m");
        let dry = format!("{applied}&dryRun=All");
        let elsewhere = "/api/v1/namespaces/nowhere/configmaps/new?fieldManager=m";
        let cases: &[(&str, &str, &Value, u16, &[&str])] = &[
            ("PUT", &new, &map, 404, &["update - v1 default configmaps - new"]),
            ("PATCH", &new, &json!({"data": {}}), 404, &[patched]),
            // A request that makes no sense is refused as such, whatever its caller may do.
            ("PUT", &l, &lease("l", -1), 422, &[updated]),
            ("PATCH", elsewhere, &map, 404, &["patch - v1 nowhere configmaps - new"]),
            ("PUT", &l, &lease("l", 1), 201, &[updated, made]),
            ("PUT", &l, &lease("l", 2), 422, &[updated]),
            (
                "PATCH",
                &l,
                &json!({"spec": {"leaseDurationSeconds": 3}}),
                200,
                &["patch coordination.orch.io v1 default leases - l"],
            ),
            ("PATCH", &dry, &map, 201, &[patched, created]),
            ("PATCH", &applied, &map, 201, &[patched, created]),
            ("PATCH", &applied, &map, 200, &[patched]),
        ];
        for (method, path, body, status, questions) in cases {
            let (answer, asked) = site.ask(method, path, body).await;
            assert_eq!(answer.status, *status, "{method} {path} {answer:?}");
            assert_eq!(asked, *questions, "{method} {path}");
        }
        let forced = format!("{new}?{UNSAFE}");
        let (answer, asked) = site.ask("DELETE", &forced, &Value::Null).await;
        answer.expect(200);
        assert_eq!(
            asked,
            [
                "delete - v1 default configmaps - new",
                "unsafe-delete-ignore-read-errors - v1 default configmaps - new"
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_refusal_names_what_is_missing() {
    beside_a_server(async |site| {
        for (question, method, path, message) in [
            ("create", "POST", CONFIG_MAPS, r#"configmaps is forbidden: User "bob" cannot create resource "configmaps" in API group "" in the namespace "default": no rule"#),
            ("delete", "DELETE", "/api/v1/namespaces/default/configmaps/a", r#"configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" in the namespace "default": no rule"#),
            ("deletecollection", "DELETE", CONFIG_MAPS, r#"configmaps is forbidden: User "bob" cannot deletecollection resource "configmaps" in API group "" in the namespace "default": no rule"#),
            ("update apps", "PUT", "/apis/apps/v1/namespaces/default/daemonsets/d/status", r#"daemonsets.apps "d" is forbidden: User "bob" cannot update resource "daemonsets/status" in API group "apps" in the namespace "default": no rule"#),
            ("create - v1 default pods eviction", "POST", "/api/v1/namespaces/default/pods/p/eviction", r#"pods "p" is forbidden: User "bob" cannot create resource "pods/eviction" in API group "" in the namespace "default": no rule"#),
            ("update - v1 - nodes", "PUT", "/api/v1/nodes/n", r#"nodes "n" is forbidden: User "bob" cannot update resource "nodes" in API group "" at the cluster scope: no rule"#),
            ("post", "POST", "/livez", r#"forbidden: User "bob" cannot post path "/livez": no rule"#),
        ] {
            let answer = site.refusing(question, method, path, &json!({})).await;
            assert_eq!(answer.refused(403, "Forbidden"), message);
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
        }
    })
    .await;
}

#[tokio::test]
async fn a_write_creates_nothing_without_permission_to_create() {
    beside_a_server(async |site| {
        let (l, new) = (format!("{LEASES}/l"), format!("{CONFIG_MAPS}/new"));
        let (lease, map) = (lease("l", 1), config_map("new", "1"));
        let applied = format!("{new}?fieldManager=m");
        let answer = site.refusing("create", "PUT", &l, &lease).await;
        assert_eq!(
            answer.expect(403),
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "reason": "Forbidden",
                "message": "leases.coordination.orch.io \"l\" is forbidden: User \"bob\" cannot create resource \
                    \"leases\" in API group \"coordination.orch.io\" in the namespace \"default\": no rule",
                "details": {"name": "l", "group": "coordination.orch.io", "kind": "leases"}, "code": 403,
            })
        );
        for path in [format!("{applied}&dryRun=All"), applied] {
            let answer = site.refusing("create", "PATCH", &path, &map).await;
            assert_eq!(
                answer.refused(403, "Forbidden"),
                r#"configmaps "new" is forbidden: User "bob" cannot create resource "configmaps" in API group "" "#
                    .to_owned()
                    + r#"in the namespace "default": no rule"#
            );
        }
        for path in [&l, &new] {
            site.admin.get(path).await.refused(404, "NotFound");
        }
        // To change an object that exists takes no permission to create.
        site.admin.post(CONFIG_MAPS, &map).await.expect(201);
        let merged = json!({"data": {"more": "2"}});
        site.refusing("create", "PATCH", &new, &merged).await.expect(200);

        let forced = format!("{new}?{UNSAFE}");
        let answer = site.refusing("unsafe", "DELETE", &forced, &Value::Null).await;
        assert_eq!(
            answer.refused(403, "Forbidden"),
            r#"configmaps "new" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: no rule"#
        );
        site.admin.get(&new).await.expect(200);
        site.refusing("unsafe", "DELETE", &new, &Value::Null).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn selectors_are_checked_before_the_options_of_a_deletion() {
    beside_a_server(async |site| {
        let wrong = json!({"propagationPolicy": "Sideways"});
        let path = format!("{CONFIG_MAPS}?fieldSelector=nothing%3D1");
        let (answer, _) = site.ask("DELETE", &path, &wrong).await;
        answer.refused(400, "BadRequest");
        let (answer, _) = site.ask("DELETE", CONFIG_MAPS, &wrong).await;
        answer.refused(422, "Invalid");
    })
    .await;
}
