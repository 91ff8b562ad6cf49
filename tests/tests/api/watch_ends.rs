//! Watches end when their credential or their right is gone, and when their time is over; all others go on.

use std::time::{Duration, Instant};

use http::Method;
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::{Next, Watch},
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};

use crate::{bootstrap_tokens, restart::hang_up};

const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";
const BINDINGS: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

/// Lets these users and groups see the objects of the namespace.
async fn let_see(admin: &Client, name: &str, subjects: &[(&str, &str)]) {
    let subjects: Vec<Value> =
        subjects.iter().map(|(kind, name)| json!({"kind": kind, "name": name})).collect();
    let binding = json!({
        "metadata": {"name": name}, "subjects": subjects, "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    admin.post(BINDINGS, &binding).await.expect(201);
}

/// Panics where a watch does not tell of a change made now.
async fn goes_on(admin: &Client, watch: &mut Watch) {
    let map = config_map(&format!("m{}", rand::random::<u32>()), "1");
    admin.post(CONFIG_MAPS, &map).await.expect(201);
    loop {
        if watch.expect("ADDED").await["metadata"]["name"] == map["metadata"]["name"] {
            return;
        }
    }
}

/// Panics where a watch does not end soon. What happened before may come first.
pub async fn ends(mut watch: Watch) {
    let start = Instant::now();
    loop {
        match watch.next(Duration::from_secs(30)).await {
            Next::Event(_) => assert!(start.elapsed() < Duration::from_secs(30), "the watch goes on"),
            Next::End("complete") => return,
            other => panic!("expected the end: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_watch_with_less_than_no_time_ends_at_once() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let answer = admin.get(&format!("{WATCH}&timeoutSeconds=-1")).await;
    assert_eq!((answer.status, answer.text()), (200, String::new()));
    admin.get(&format!("{CONFIG_MAPS}?timeoutSeconds=-1")).await.expect(200);
}

#[tokio::test]
async fn a_watch_ends_with_the_right_to_it() {
    let server = TestServer::start().await;
    let (admin, bob, carol) = (server.admin(), server.user("bob"), server.user("carol"));
    let_see(&admin, "bob", &[("User", "bob")]).await;
    let_see(&admin, "others", &[("User", "carol"), ("User", "eve")]).await;
    let as_bob = admin.request(Method::GET, WATCH).header("impersonate-user", "bob").watch().await.unwrap();
    let as_eve = admin.request(Method::GET, WATCH).header("impersonate-user", "eve").watch().await.unwrap();
    let (of_bob, of_carol) = (bob.watch(WATCH).await, carol.watch(WATCH).await);
    admin.delete(&format!("{BINDINGS}/bob")).await.expect(200);
    ends(of_bob).await;
    ends(as_bob).await;
    bob.get(WATCH).await.refused(403, "Forbidden");
    for mut watch in [of_carol, as_eve] {
        goes_on(&admin, &mut watch).await;
    }
}

#[tokio::test]
async fn a_watch_ends_with_the_right_to_impersonate() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let_see(&admin, "eve", &[("User", "eve")]).await;
    let rbac = "/apis/rbac.authorization.orch.io/v1";
    let rules = json!([{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}]);
    let role = json!({"metadata": {"name": "actors"}, "rules": rules});
    admin.post(&format!("{rbac}/clusterroles"), &role).await.expect(201);
    let binding = json!({
        "metadata": {"name": "actors"}, "subjects": [{"kind": "User", "name": "bob"}],
        "roleRef": {"kind": "ClusterRole", "name": "actors"},
    });
    admin.post(&format!("{rbac}/clusterrolebindings"), &binding).await.expect(201);
    let bob = server.user("bob");
    let watch = bob.request(Method::GET, WATCH).header("impersonate-user", "eve").watch().await.unwrap();
    admin.delete(&format!("{rbac}/clusterroles/actors")).await.expect(200);
    ends(watch).await;
}

#[tokio::test]
async fn a_watch_ends_with_the_line_of_its_token() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let_see(&admin, "b", &[("User", "bob"), ("User", "carol")]).await;
    let (of_bob, mut of_carol) =
        (server.user("bob").watch(WATCH).await, server.user("carol").watch(WATCH).await);
    let file = server.scratch_dir().join("tokens.csv");
    let tokens = std::fs::read_to_string(&file).unwrap();
    let left: Vec<&str> = tokens.lines().filter(|line| !line.starts_with("tok-bob")).collect();
    std::fs::write(&file, left.join("\n")).unwrap();
    hang_up(&server);
    ends(of_bob).await;
    goes_on(&admin, &mut of_carol).await;
}

#[tokio::test]
async fn a_watch_ends_with_the_authority_of_its_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("users");
    let file = authority.write(directory.path(), "users.pem");
    let server = TestServer::options().flag(format!("--client-ca-file={}", file.display())).start().await;
    let admin = server.administrator();
    let_see(&admin, "b", &[("User", "olga")]).await;
    let olga = authority.client(&server, "olga", None);
    let of_olga = olga.watch(WATCH).await;
    let mut of_admin = admin.watch(WATCH).await;
    Authority::new("others").write(directory.path(), "users.pem");
    hang_up(&server);
    ends(of_olga).await;
    olga.get(WATCH).await.refused(401, "Unauthorized");
    goes_on(&admin, &mut of_admin).await;
}

#[tokio::test]
async fn a_watch_ends_with_its_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("users");
    let file = authority.write(directory.path(), "users.pem");
    let server = TestServer::options().flag(format!("--client-ca-file={}", file.display())).start().await;
    let_see(&server.admin(), "b", &[("User", "olga")]).await;
    let olga = authority.client_for(&server, "olga", None, Duration::from_secs(5));
    ends(olga.watch(WATCH).await).await;
    olga.get(WATCH).await.refused(401, "Unauthorized");
}

#[tokio::test]
async fn a_watch_ends_with_what_its_token_is_bound_to() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let_see(&admin, "b", &[("Group", "system:serviceaccounts:default")]).await;
    for account in ["robot", "other"] {
        let account = json!({"metadata": {"name": account}});
        admin.post(ACCOUNTS, &account).await.expect(201);
    }
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "robot", "containers": [{"name": "c", "image": "x:1"}]},
    });
    admin.post("/api/v1/namespaces/default/pods", &pod).await.expect(201);
    let secret = json!({"metadata": {"name": "s"}});
    admin.post("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    let mut watches = Vec::new();
    for (account, bound) in [("robot", "Pod/p"), ("robot", "Secret/s"), ("robot", ""), ("other", "")] {
        let mut request = json!({"spec": {}});
        if let Some((kind, name)) = bound.split_once('/') {
            request["spec"]["boundObjectRef"] = json!({"kind": kind, "apiVersion": "v1", "name": name});
        }
        let answer = admin.post(&format!("{ACCOUNTS}/{account}/token"), &request).await.expect(201);
        let token = answer["status"]["token"].as_str().unwrap();
        watches.push(server.without_credentials().with_token(token).watch(WATCH).await);
    }
    let mut watches = watches.into_iter();
    for gone in ["pods/p", "secrets/s", "serviceaccounts/robot"] {
        admin.delete(&format!("/api/v1/namespaces/default/{gone}")).await.expect(200);
        ends(watches.next().unwrap()).await;
    }
    goes_on(&admin, &mut watches.next().unwrap()).await;
}

#[tokio::test]
async fn a_watch_ends_with_the_secret_of_its_bootstrap_token() {
    let server = TestServer::options().flag("--enable-bootstrap-token-auth").start().await;
    let admin = server.admin();
    let_see(&admin, "b", &[("Group", "system:bootstrappers:a"), ("User", "bob")]).await;
    let mut of_bob = server.user("bob").watch(WATCH).await;
    let with_token = server.without_credentials().with_token(bootstrap_tokens::TOKEN);
    let expired = json!({"stringData": {"expiration": "2020-01-01T00:00:00Z"}});
    admin.post(bootstrap_tokens::SECRETS, &bootstrap_tokens::secret()).await.expect(201);
    let mut watch = with_token.watch(WATCH).await;
    goes_on(&admin, &mut watch).await;
    admin.delete(bootstrap_tokens::SECRET).await.expect(200);
    ends(watch).await;
    with_token.get(WATCH).await.refused(401, "Unauthorized");
    admin.post(bootstrap_tokens::SECRETS, &bootstrap_tokens::secret()).await.expect(201);
    let watch = with_token.watch(WATCH).await;
    admin.merge(bootstrap_tokens::SECRET, &expired).await.expect(200);
    ends(watch).await;
    goes_on(&admin, &mut of_bob).await;
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_over() {
    let server = TestServer::options().flag("--min-request-timeout=1").start().await;
    let admin = server.admin();
    let start = Instant::now();
    ends(admin.watch(WATCH).await).await;
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // What the client says counts.
    let mut long = admin.watch(&format!("{WATCH}&timeoutSeconds=600")).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    goes_on(&admin, &mut long).await;
}
