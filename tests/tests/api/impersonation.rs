//! Requests that are made as somebody else: what that takes, and who the caller is then.

use http::Method;
use orch_tests::{
    Client, TestServer,
    client::Answer,
    objects::{CONFIG_MAPS, NAMESPACES, config_map},
};
use serde_json::{Value, json};

const RBAC: &str = "/apis/rbac.authorization.orch.io/v1";
const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
const ROBOT: &str = "system:serviceaccount:default:robot";

type Headers<'a> = &'a [(&'a str, &'a str)];

async fn send(client: &Client, method: Method, path: &str, headers: Headers<'_>) -> Answer {
    let mut request = client.request(method, path);
    for (name, value) in headers {
        request = request.add_header(name, value);
    }
    if path == SELF_REVIEWS {
        request = request.json(&json!({}));
    }
    request.send().await
}

/// Who the server takes the caller for.
async fn whoami(client: &Client, headers: Headers<'_>) -> Value {
    send(client, Method::POST, SELF_REVIEWS, headers).await.expect(201)["status"]["userInfo"].take()
}

/// Lets a user impersonate by these rules.
async fn grant(admin: &Client, user: &str, rules: &Value) {
    let role = json!({"metadata": {"name": user}, "rules": rules});
    admin.post(&format!("{RBAC}/clusterroles"), &role).await.expect(201);
    let binding = json!({
        "metadata": {"name": user}, "subjects": [{"kind": "User", "name": user}],
        "roleRef": {"kind": "ClusterRole", "name": user},
    });
    admin.post(&format!("{RBAC}/clusterrolebindings"), &binding).await.expect(201);
}

#[tokio::test]
async fn the_caller_is_whom_the_headers_name_and_nothing_of_the_sender() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (headers, expected) in [
        (&[("Impersonate-User", "bob")][..], json!({"username": "bob", "groups": ["system:authenticated"]})),
        (
            &[
                ("Impersonate-User", "bob"),
                ("Impersonate-Group", "devs"),
                ("Impersonate-Group", "ops"),
                ("Impersonate-Uid", "7"),
                ("Impersonate-Extra-Scopes", "view"),
                ("impersonate-extra-scopes", "edit"),
                ("Impersonate-Extra-Example.com%2Fkey", "v"),
            ],
            json!({
                "username": "bob", "uid": "7", "groups": ["devs", "ops", "system:authenticated"],
                "extra": {"scopes": ["view", "edit"], "example.com/key": ["v"]},
            }),
        ),
        (
            &[("Impersonate-User", ROBOT)],
            json!({
                "username": ROBOT,
                "groups": [
                    "system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated",
                ],
            }),
        ),
        (
            &[("Impersonate-User", ROBOT), ("Impersonate-Group", "devs")],
            json!({"username": ROBOT, "groups": ["devs", "system:authenticated"]}),
        ),
    ] {
        assert_eq!(whoami(&admin, headers).await, expected, "{headers:?}");
    }
    // Groups alone make no user, and the anonymous user is none that is authenticated.
    let anonymous = [("Impersonate-User", "system:anonymous")];
    send(&admin, Method::GET, "/version", &anonymous).await.expect(200);
    let refused = send(&admin, Method::POST, SELF_REVIEWS, &anonymous).await.refused(403, "Forbidden");
    assert!(refused.contains(r#"User "system:anonymous" cannot create"#), "{refused}");
}

/// An administrator who acts as somebody else has the rights of that somebody, in reads, writes and watches.
#[tokio::test]
async fn the_rights_are_those_of_the_one_who_is_impersonated() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let bob = &[("Impersonate-User", "bob")][..];
    for method in [Method::GET, Method::DELETE] {
        let refused = send(&admin, method, CONFIG_MAPS, bob).await.refused(403, "Forbidden");
        assert!(refused.contains(r#"User "bob" cannot"#), "{refused}");
    }
    let watch = format!("{CONFIG_MAPS}?watch=1");
    let refused = send(&admin, Method::GET, &watch, bob).await.refused(403, "Forbidden");
    assert!(refused.contains(r#"User "bob" cannot watch"#), "{refused}");
    // A large body goes another way.
    for size in [1, 100_000] {
        let map = config_map("a", &"x".repeat(size));
        let create = admin.request(Method::POST, CONFIG_MAPS).json(&map);
        let refused = create.header("impersonate-user", "bob").send().await.refused(403, "Forbidden");
        assert!(refused.contains(r#"User "bob" cannot create"#), "{refused}");
    }
    let masters = &[("Impersonate-User", "bob"), ("Impersonate-Group", "system:masters")][..];
    send(&admin, Method::GET, CONFIG_MAPS, masters).await.expect(200);
}

#[tokio::test]
async fn each_part_takes_a_right_of_its_own() {
    let server = TestServer::start().await;
    let (admin, dave) = (server.admin(), server.user("dave"));
    let rule = |group: &str, resource: &str, name: &str| {
        let verbs = ["impersonate"];
        json!({"apiGroups": [group], "resources": [resource], "verbs": verbs, "resourceNames": [name]})
    };
    let authentication = "authentication.orch.io";
    grant(
        &admin,
        "dave",
        &json!([
            rule("", "users", "eve"),
            rule("", "groups", "devs"),
            rule("", "serviceaccounts", "robot"),
            rule(authentication, "uids", "7"),
            rule(authentication, "userextras/scopes", "view"),
        ]),
    )
    .await;
    let eve = ("Impersonate-User", "eve");
    for allowed in [
        &[eve][..],
        &[eve, ("Impersonate-Group", "devs")],
        &[eve, ("Impersonate-Uid", "7")],
        &[eve, ("Impersonate-Extra-Scopes", "view")],
        &[("Impersonate-User", ROBOT)],
    ] {
        whoami(&dave, allowed).await;
    }
    let users = |name: &str| {
        format!(
            "users \"{name}\" is forbidden: User \"dave\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
        )
    };
    for (headers, message) in [
        (&[("Impersonate-User", "bob")][..], users("bob")),
        // Names that no account can have are those of users.
        (
            &[("Impersonate-User", "system:serviceaccount:Default:robot")],
            users("system:serviceaccount:Default:robot"),
        ),
        (
            &[("Impersonate-User", "system:serviceaccount:default:other")],
            "serviceaccounts \"other\" is forbidden: User \"dave\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"default\"".to_owned(),
        ),
        (
            &[eve, ("Impersonate-Group", "devs"), ("Impersonate-Group", "system:masters")],
            "groups \"system:masters\" is forbidden: User \"dave\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope".to_owned(),
        ),
        (
            &[eve, ("Impersonate-Uid", "8")],
            "uids.authentication.orch.io \"8\" is forbidden: User \"dave\" cannot impersonate resource \"uids\" in API group \"authentication.orch.io\" at the cluster scope".to_owned(),
        ),
        (
            &[eve, ("Impersonate-Extra-Scopes", "view"), ("Impersonate-Extra-Scopes", "edit")],
            "userextras.authentication.orch.io \"edit\" is forbidden: User \"dave\" cannot impersonate resource \"userextras/scopes\" in API group \"authentication.orch.io\" at the cluster scope".to_owned(),
        ),
        (
            &[eve, ("Impersonate-Extra-A%2fb", "view")],
            "userextras.authentication.orch.io \"view\" is forbidden: User \"dave\" cannot impersonate resource \"userextras/a/b\" in API group \"authentication.orch.io\" at the cluster scope".to_owned(),
        ),
    ] {
        let answer = send(&dave, Method::POST, SELF_REVIEWS, headers).await;
        assert_eq!(answer.refused(403, "Forbidden"), message, "{headers:?}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}

/// Headers of somebody who may not impersonate, or that make no sense, are never left out.
#[tokio::test]
async fn headers_are_never_ignored() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let (anonymous, unknown) = (server.without_credentials(), server.user("mallory"));
    for headers in [
        &[("Impersonate-User", "bob")][..],
        &[("Impersonate-User", "bob"), ("Impersonate-Group", "devs")],
        &[("Impersonate-User", "system:anonymous")],
    ] {
        for path in ["/version", "/api", "/healthz", NAMESPACES] {
            send(&bob, Method::GET, path, headers).await.refused(403, "Forbidden");
            send(&anonymous, Method::GET, path, headers).await.refused(403, "Forbidden");
            send(&unknown, Method::GET, path, headers).await.refused(401, "Unauthorized");
        }
    }
    for (headers, asked) in [
        (&[("Impersonate-Group", "devs")][..], "{Group  devs    }"),
        (&[("Impersonate-Uid", "7")], "{UID  7  authentication.orch.io/v1  }"),
        (&[("Impersonate-Extra-A", "x")], "{UserExtra  x  authentication.orch.io/v1  a}"),
        (&[("impersonate-user", "")], ""),
    ] {
        for client in [&admin, &bob] {
            let answer = send(client, Method::GET, NAMESPACES, headers).await;
            let problem = format!("requested [{asked}] without impersonating a user");
            let expected = format!("Internal Server Error: {NAMESPACES:?}: {problem}\n");
            assert_eq!((answer.status, answer.text()), (500, expected), "{headers:?}");
        }
        send(&unknown, Method::GET, NAMESPACES, headers).await.refused(401, "Unauthorized");
    }
    for (headers, message) in [
        (
            &[("Impersonate-User", "bob"), ("Impersonate-User", "admin")][..],
            "more than one user or uid to impersonate",
        ),
        (
            &[("Impersonate-User", "bob"), ("Impersonate-Groups", "devs")],
            "the header impersonate-groups has no meaning",
        ),
    ] {
        for client in [&admin, &bob] {
            let answer = send(client, Method::GET, NAMESPACES, headers).await;
            assert_eq!(answer.refused(400, "BadRequest"), message, "{headers:?}");
        }
        send(&unknown, Method::GET, NAMESPACES, headers).await.refused(401, "Unauthorized");
    }
}
