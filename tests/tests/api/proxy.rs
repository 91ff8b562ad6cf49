//! A proxy in front of the server that authenticates users, and everybody else who sends its headers.

use axum::{Router, routing::get};
use http::{HeaderMap, Method};
use orch_apiserver::{
    config::{self, Invocation},
    server::Server,
};
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::{Answer, Protocol, tls_config},
    objects::{NAMESPACES, SECRETS},
    server::ServerOptions,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";
/// What an attacker sends, in the spellings that some program may take for the header.
const FORGED: &[(&str, &str)] = &[
    ("X-Remote-User", "admin"),
    ("x_remote_user", "admin"),
    ("X-Remote-Group", "system:masters"),
    ("X_Remote_Group", "system:masters"),
    ("X-Remote-Uid", "0"),
    ("X-Remote-Extra-Scopes", "all"),
];

type Headers<'a> = &'a [(&'a str, &'a str)];

/// Authorities of proxies and of users, in files.
struct Site {
    directory: TempDir,
    proxies: Authority,
    users: Authority,
}

impl Site {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (proxies, users) = (Authority::new("proxies"), Authority::new("users"));
        proxies.write(directory.path(), "proxies.pem");
        users.write(directory.path(), "users.pem");
        Site { directory, proxies, users }
    }

    fn options(&self) -> ServerOptions {
        let path = |name: &str| self.directory.path().join(name).display().to_string();
        TestServer::options()
            .flag(format!("--requestheader-client-ca-file={}", path("proxies.pem")))
            .flag(format!("--client-ca-file={}", path("users.pem")))
            .flag("--requestheader-allowed-names=front")
    }
}

async fn send(client: &Client, headers: Headers<'_>) -> Answer {
    let mut request = client.request(Method::POST, SELF_REVIEWS).json(&json!({}));
    for (name, value) in headers {
        request = request.add_header(name, value);
    }
    request.send().await
}

async fn whoami(client: &Client, headers: Headers<'_>) -> Value {
    send(client, headers).await.expect(201)["status"]["userInfo"].take()
}

#[tokio::test]
async fn a_proxy_names_the_users_of_its_requests() {
    let site = Site::new();
    let server = site.options().flag("--feature-gates=RemoteRequestHeaderUID=true").start().await;
    let front = site.proxies.client(&server, "front", None);
    // One connection has the requests of many users.
    for (headers, expected) in [
        (&[("X-Remote-User", "eve")][..], json!({"username": "eve", "groups": ["system:authenticated"]})),
        (
            &[
                ("X-Remote-User", "bob"),
                ("X-Remote-Uid", "7"),
                ("X-Remote-Group", "devs"),
                ("X-Remote-Group", "ops"),
                ("X-Remote-Extra-Scopes", "view"),
                ("X-Remote-Extra-Example.com%2Fkey", "v"),
            ],
            json!({
                "username": "bob", "uid": "7", "groups": ["devs", "ops", "system:authenticated"],
                "extra": {"scopes": ["view"], "example.com/key": ["v"]},
            }),
        ),
    ] {
        assert_eq!(whoami(&front, headers).await, expected, "{headers:?}");
    }
    let refused = front.request(Method::GET, SECRETS).header("x-remote-user", "eve").send().await;
    assert!(refused.refused(403, "Forbidden").contains(r#"User "eve" cannot list"#));
    let masters = [("X-Remote-User", "root"), ("X-Remote-Group", "system:masters")];
    assert_eq!(whoami(&front, &masters).await["username"], "root");
    // Whom the proxy names may act as somebody else, if they may.
    let acting = [masters[0], masters[1], ("Impersonate-User", "eve")];
    assert_eq!(whoami(&front, &acting).await["username"], "eve");
    let acting = [("X-Remote-User", "eve"), ("Impersonate-User", "root")];
    send(&front, &acting).await.refused(403, "Forbidden");

    // A request of the proxy without a user has no valid credential: its authority is none of users.
    send(&front, &[("X-Remote-Group", "system:masters")]).await.refused(401, "Unauthorized");
    send(&front, &[("X-Remote-User", "")]).await.refused(401, "Unauthorized");
    // A header that the proxy added to that of a client.
    send(&front, &[("X-Remote-User", "root"), ("X-Remote-User", "eve")]).await.refused(401, "Unauthorized");
}

/// Attack: headers of the proxy from somebody else.
#[tokio::test]
async fn nobody_else_names_users() {
    let site = Site::new();
    let server = site.options().start().await;
    // A proxy with a name that is not allowed, and one of another authority of the same name.
    for stranger in
        [site.proxies.client(&server, "back", None), Authority::new("proxies").client(&server, "front", None)]
    {
        send(&stranger, FORGED).await.refused(401, "Unauthorized");
    }
    for (client, name) in [
        (site.users.client(&server, "front", None), "front"),
        (server.user("dave"), "dave"),
        (site.proxies.client(&server, "back", None).with_token("tok-dave"), "dave"),
    ] {
        let info = whoami(&client, FORGED).await;
        assert_eq!((&info["username"], &info["groups"]), (&json!(name), &json!(["system:authenticated"])));
        assert!(info["extra"].get("scopes").is_none(), "{info}");
    }
    let anonymous = server.without_credentials();
    let message = send(&anonymous, FORGED).await.refused(403, "Forbidden");
    assert!(message.contains(r#"User "system:anonymous""#), "{message}");
    send(&server.user("mallory"), FORGED).await.refused(401, "Unauthorized");
    // The allowed proxy counts for the headers that are configured, and their uid takes a feature gate.
    let front = site.proxies.client(&server, "front", None);
    let info = whoami(&front, FORGED).await;
    assert_eq!((&info["username"], &info["uid"]), (&json!("admin"), &Value::Null));
}

#[tokio::test]
async fn headers_and_names_of_proxies_are_configured() {
    let site = Site::new();
    let path = site.directory.path().join("proxies.pem").display().to_string();
    let server = TestServer::options()
        .flag(format!("--requestheader-client-ca-file={path}"))
        .flag("--requestheader-username-headers=X-Login,X-User")
        .flag("--requestheader-group-headers=X-Team")
        .flag("--requestheader-extra-headers-prefix=X-More-")
        .start()
        .await;
    let any = site.proxies.client(&server, "any", None);
    let headers = [
        ("X-User", "second"),
        ("X-Team", "devs"),
        ("X-More-Scopes", "view"),
        ("X-Remote-Group", "system:masters"),
        ("X-Remote-Extra-A", "x"),
    ];
    let expected = json!({
        "username": "second", "groups": ["devs", "system:authenticated"], "extra": {"scopes": ["view"]},
    });
    assert_eq!(whoami(&any, &headers).await, expected);
    let both = [("X-Login", "first"), ("X-User", "second")];
    assert_eq!(whoami(&any, &both).await["username"], "first");
    send(&any, &[("X-Remote-User", "eve")]).await.refused(401, "Unauthorized");
}

/// An authority that is removed vouches for no proxy, on connections that are open neither.
#[tokio::test]
async fn a_proxy_loses_its_trust_with_its_authority() {
    let site = Site::new();
    let server = site.options().start().await;
    let front = site.proxies.client(&server, "front", None);
    let eve = [("X-Remote-User", "eve")];
    assert_eq!(whoami(&front, &eve).await["username"], "eve");
    Authority::new("others").write(site.directory.path(), "proxies.pem");
    crate::restart::hang_up(&server);
    while send(&front, &eve).await.status != 401 {}
    server.admin().get(NAMESPACES).await.expect(200);
}

/// A program's own route does not see what says who somebody is: it is told who the caller is.
#[tokio::test]
async fn own_routes_see_no_header_about_identity() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = directory.path().join("tokens.csv");
    std::fs::write(&tokens, "tok-admin,admin,admin,system:masters\n").unwrap();
    let data = directory.path().join("data");
    let arguments = [
        "orch",
        "--secure-port=0",
        &format!("--data-dir={}", data.display()),
        &format!("--token-auth-file={}", tokens.display()),
    ];
    let Ok(Invocation::Serve(config)) = config::parse(arguments, orch_api::VOCABULARIES) else {
        panic!("a good command line")
    };
    let names =
        async |headers: HeaderMap| headers.keys().map(http::HeaderName::as_str).collect::<Vec<_>>().join(" ");
    let server = Server::builder(*config)
        .resources(orch_api::registry().iter().copied())
        .router(Router::new().route("/names", get(names)));
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let running = Box::pin(server.start(stopping)).await.expect("the server starts");
    let authority = std::fs::read(data.join("pki/ca.crt")).unwrap();
    let tls = tls_config(&authority, None, Protocol::Http1);
    let admin = Client::new(running.address(), tls, Protocol::Http1).with_token("tok-admin");
    let tested = async {
        let mut request = admin.request(Method::GET, "/names").header("x-other", "1");
        for (name, value) in FORGED {
            request = request.add_header(name, value);
        }
        let answer =
            request.header("impersonate-user", "admin").header("impersonate-group", "system:masters");
        let answer = answer.send().await;
        assert_eq!((answer.status, answer.text().as_str()), (200, "host x-other"), "{answer:?}");
        stop.send(true).expect("the server runs");
    };
    let (served, ()) = tokio::join!(Box::pin(running.serve()), Box::pin(tested));
    served.expect("the server ends in order");
}
