//! What etcd refuses is answered at once, and what a client is told of it.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Method;
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::Answer,
    objects::{CONFIG_MAPS, config_map, names},
    server::ServerOptions,
};
use serde_json::{Value, json};

use crate::{gateway, member::Member, replicas::over, secured::write_pair};

/// A server waits longer than this for an answer that does not come.
const AT_ONCE: Duration = Duration::from_secs(3);

const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

async fn at_once(client: &Client, path: &str, object: &Value) -> Answer {
    let began = Instant::now();
    let answer = client.request(Method::POST, path).json(object).send().await;
    assert!(began.elapsed() < AT_ONCE, "{:?}: {answer:?}", began.elapsed());
    answer
}

/// Members whose data differ take no writes until somebody has looked at them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_corrupt_etcd_is_told_at_once_and_still_read() {
    let Some(member) = Member::start() else { return };
    let server = over(&member, "/corrupt").start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("before", "1")).await.expect(201);
    gateway::alarm(&member, true, "1", "CORRUPT").await;
    let refused = at_once(&admin, CONFIG_MAPS, &config_map("between", "1")).await;
    assert_eq!(refused.status, 507, "{refused:?}");
    assert!(refused.text().contains("takes no writes"), "{refused:?}");
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["before"]);
    gateway::alarm(&member, false, "1", "CORRUPT").await;
    admin.post(CONFIG_MAPS, &config_map("after", "1")).await.expect(201);
}

/// A user, a role and what it may do with a range of keys, before anybody has to be one.
async fn set_up_users(member: &Member) {
    let ask = async |path: &str, body: Value| {
        let answer = gateway::ask(member, path, &body).await;
        assert!(answer["error"].is_null(), "{path}: {answer}");
    };
    for user in ["root", "orch"] {
        ask("/v3/auth/user/add", json!({"name": user, "password": "p"})).await;
        ask("/v3/auth/role/add", json!({"name": user})).await;
        ask("/v3/auth/user/grant", json!({"user": user, "role": user})).await;
    }
    for (begin, end, right) in [
        ("/users/", "/users/controllerrevisions.apps/", "READWRITE"),
        ("/users/controllerrevisions.apps/", "/users/controllerrevisions.apps0", "READ"),
        ("/users/controllerrevisions.apps0", "/users0", "READWRITE"),
    ] {
        let [key, range_end] = [begin, end].map(|key| BASE64_STANDARD.encode(key));
        let right = json!({"permType": right, "key": key, "range_end": range_end});
        ask("/v3/auth/role/grant", json!({"name": "orch", "perm": right})).await;
    }
    ask("/v3/auth/enable", json!({})).await;
}

/// etcd takes the name in the certificate as that of a user, who may read all keys and not write some.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_right_that_etcd_does_not_give_is_told_at_once() {
    let Some(mut member) = Member::start() else { return };
    set_up_users(&member).await;
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let authority = Authority::new("etcd");
    let trusted = format!("--trusted-ca-file={}", authority.write(directory.path(), "ca.crt").display());
    let pair = authority.server_pair("localhost");
    let [certificate, key] = write_pair(directory.path(), "member", ["cert-file", "key-file"], pair);
    member.secure(&[&certificate, &key, &trusted, "--client-cert-auth"]);

    let pair = authority.pair("orch", None, Duration::from_hours(1));
    let identity = write_pair(directory.path(), "client", ["etcd-certfile", "etcd-keyfile"], pair);
    let trust = format!("--etcd-cafile={}", directory.path().join("ca.crt").display());
    let flags = identity.into_iter().chain([trust]);
    let server: TestServer = flags.fold(over(&member, "/users"), ServerOptions::flag).start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "data": {},
        "revision": 1,
    });
    at_once(&admin, REVISIONS, &revision).await.refused(500, "InternalError");
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["a"]);
    server.logged("permission denied").await;
}
