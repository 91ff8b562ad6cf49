//! Authentication, and the modes of authorization.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use orch_tests::{
    Client, TestServer,
    authority::Authority,
    client::{Connection, Identity, Protocol, connect, tls_config},
    objects::{CONFIG_MAPS, NAMESPACES, config_map},
};
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

const SELF_REVIEWS: &str = "/apis/authentication.orch.io/v1/selfsubjectreviews";

#[tokio::test]
async fn the_kubeconfigs_certificate_and_tokens_are_let_in() {
    let server = TestServer::start().await;
    server.administrator().get(NAMESPACES).await.expect(200);
    for user in ["admin", "bob", "carol", "dave"] {
        server.user(user).get("/version").await.expect(200);
    }
}

#[tokio::test]
async fn other_callers_are_refused() {
    let server = TestServer::options().flag("--anonymous-auth=false").start().await;
    let anonymous = server.without_credentials();
    for path in [NAMESPACES, "/api", "/version", "/metrics", "/openapi/v3", "/nothing"] {
        assert_eq!(anonymous.get(path).await.refused(401, "Unauthorized"), "Unauthorized", "{path}");
    }
    let answers = [
        server.without_credentials().with_token("tok-mallory").get(NAMESPACES).await,
        server.without_credentials().with_token("tok-admin2").get(NAMESPACES).await,
        server.without_credentials().with_token("tok-admi").get(NAMESPACES).await,
        anonymous
            .request(http::Method::GET, NAMESPACES)
            .header("authorization", "Basic Ym9iOnB3")
            .send()
            .await,
        anonymous.request(http::Method::GET, NAMESPACES).header("authorization", "tok-admin").send().await,
        anonymous.get(&format!("{NAMESPACES}?access_token=tok-admin")).await,
    ];
    for answer in answers {
        answer.refused(401, "Unauthorized");
    }
    let log = server.log();
    assert!(!log.contains("tok-"), "a token in the log: {log}");
}

#[tokio::test]
async fn callers_without_a_credential_are_anonymous_where_authorization_denies_by_default() {
    let refused = r#"User "system:anonymous" cannot list resource "namespaces""#;
    for mode in ["Node,RBAC", "AlwaysDeny"] {
        let server = TestServer::options().flag(format!("--authorization-mode={mode}")).start().await;
        let anonymous = server.without_credentials();
        let message = anonymous.get(NAMESPACES).await.refused(403, "Forbidden");
        assert!(message.contains(refused), "{message}");
        let is_public = mode.contains("RBAC");
        for path in ["/healthz", "/livez", "/readyz", "/version"] {
            assert_eq!(anonymous.get(path).await.status, if is_public { 200 } else { 403 }, "{path}");
        }
        // What is no credential is not wrong, and a credential that is wrong is not anonymous.
        for (authorization, status) in
            [("Basic Ym9iOnB3", 403), ("Bearer", 403), ("Bearer tok-mallory", 401), ("bearer tok-bo", 401)]
        {
            let request = anonymous.request(http::Method::GET, NAMESPACES);
            let answer = request.header("authorization", authorization).send().await;
            assert_eq!(answer.status, status, "{authorization}");
        }
        let (certificate, key) = self_signed("admin", "system:masters");
        let identity = Identity { certificate: certificate.as_bytes(), key: key.as_bytes() };
        let tls = tls_config(&server.kubeconfig().certificate_authority, Some(identity), Protocol::Http1);
        let stranger = Client::new(server.address(), tls, Protocol::Http1);
        stranger.get("/version").await.refused(401, "Unauthorized");
    }
    let open = TestServer::options().flag("--authorization-mode=AlwaysAllow").start().await;
    open.without_credentials().get("/version").await.refused(401, "Unauthorized");
}

/// A role can be given to them like to everybody else.
#[tokio::test]
async fn anonymous_callers_are_a_group() {
    let server = TestServer::start().await;
    let (admin, anonymous) = (server.admin(), server.without_credentials());
    let rbac = "/apis/rbac.authorization.orch.io/v1/clusterrolebindings";
    for (name, group) in [("a", "system:authenticated"), ("u", "system:unauthenticated")] {
        anonymous.get(CONFIG_MAPS).await.refused(403, "Forbidden");
        let binding = serde_json::json!({
            "metadata": {"name": name}, "subjects": [{"kind": "Group", "name": group}],
            "roleRef": {"kind": "ClusterRole", "name": "view"},
        });
        admin.post(rbac, &binding).await.expect(201);
    }
    anonymous.get(CONFIG_MAPS).await.expect(200);
}

/// Clients that cost much and prove nothing do not keep a connection.
#[tokio::test]
async fn anonymous_callers_that_are_refused_lose_their_http2_connection() {
    let server = TestServer::start().await;
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http2);
    let send = async |connection: &mut Connection, path: &str| {
        let body = http_body_util::Full::default();
        let sent = connection.send(http::Method::GET, path, http::HeaderMap::new(), body).await;
        sent.map(|response| response.status().as_u16())
    };
    let mut connection = connect(server.address(), tls, Protocol::Http2).await.unwrap();
    for _ in 0..20 {
        assert_eq!(send(&mut connection, "/version").await.unwrap(), 200);
    }
    while let Ok(status) = send(&mut connection, NAMESPACES).await {
        assert_eq!(status, 403);
    }
}

#[tokio::test]
async fn always_deny_refuses_all_but_the_privileged_group() {
    let server = TestServer::options().flag("--authorization-mode=AlwaysDeny").start().await;
    let message = server.user("bob").post(CONFIG_MAPS, &config_map("a", "1")).await.refused(403, "Forbidden");
    let refusal = r#"configmaps is forbidden: User "bob" cannot create resource "configmaps" in API group "" in the namespace "default""#;
    assert!(message.starts_with(refusal), "{message}");
    let message = server.user("bob").get("/metrics").await.refused(403, "Forbidden");
    assert!(message.starts_with(r#"forbidden: User "bob" cannot get path "/metrics""#), "{message}");
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    server.administrator().get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
}

/// A certificate of a foreign authority is an unauthenticated request, not a broken handshake.
#[tokio::test]
async fn a_strangers_certificate_is_a_401() {
    let server = TestServer::start().await;
    let (certificate, key) = self_signed("admin", "system:masters");
    let identity = Identity { certificate: certificate.as_bytes(), key: key.as_bytes() };
    let tls = tls_config(&server.kubeconfig().certificate_authority, Some(identity), Protocol::Http1);
    let stranger = Client::new(server.address(), tls, Protocol::Http1);
    stranger.get(NAMESPACES).await.refused(401, "Unauthorized");
    // Another credential on the same connection still counts.
    stranger.with_token("tok-admin").get(NAMESPACES).await.expect(200);
}

#[tokio::test]
async fn an_operators_authority_is_trusted_too() {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "operators");
    let authority = params.self_signed(&authority_key).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();

    let key = KeyPair::generate().unwrap();
    let mut leaf = CertificateParams::default();
    leaf.distinguished_name.push(DnType::CommonName, "olga");
    leaf.extended_key_usages.push(rcgen::ExtendedKeyUsagePurpose::ClientAuth);
    let issuer = rcgen::Issuer::from_params(&params, &authority_key);
    let leaf = leaf.signed_by(&key, &issuer).unwrap();

    let server = TestServer::options()
        .flag(format!("--client-ca-file={}", file.display()))
        .flag("--authorization-mode=AlwaysDeny")
        .start()
        .await;
    let (certificate, key) = (leaf.pem(), key.serialize_pem());
    let identity = Identity { certificate: certificate.as_bytes(), key: key.as_bytes() };
    let tls = tls_config(&server.kubeconfig().certificate_authority, Some(identity), Protocol::Http1);
    let olga = Client::new(server.address(), tls, Protocol::Http1);
    let message = olga.get(NAMESPACES).await.refused(403, "Forbidden");
    assert!(message.contains(r#"User "olga""#), "{message}");
    server.administrator().get(NAMESPACES).await.expect(200);

    // An authority that is removed vouches for nobody, on connections that are open neither.
    std::fs::write(&file, self_signed("other", "authorities").0).unwrap();
    hang_up(&server);
    while olga.get(NAMESPACES).await.status != 401 {}
    server.administrator().get(NAMESPACES).await.expect(200);
}

/// What cannot be read at once is a mistake as any other: neither is somebody waited for who would write to a
/// pipe, nor is memory filled from a device without an end.
#[tokio::test]
async fn a_file_of_tokens_that_cannot_be_read_at_once_stays_as_it_was() {
    let mut server = TestServer::start().await;
    let (file, good) = (server.scratch_dir().join("tokens.csv"), server.scratch_dir().join("good.csv"));
    let text = std::fs::read_to_string(&file).unwrap();
    let replacements = [("pipe", "mkfifo tokens.csv"), ("device", "ln -sf /dev/zero tokens.csv")];
    for (at, (kind, replace)) in replacements.into_iter().enumerate() {
        std::fs::remove_file(&file).unwrap();
        run(replace, server.scratch_dir());
        hang_up(&server);
        while server.log().matches("tokens.csv: it is no regular file").count() <= at {
            server.without_credentials().with_token("tok-admin").get(NAMESPACES).await.expect(200);
        }

        let newcomer = server.without_credentials().with_token(&format!("tok-{kind}"));
        assert_eq!(newcomer.get(NAMESPACES).await.status, 401);
        std::fs::write(&good, format!("{text}tok-{kind},newcomer,1\n")).unwrap();
        std::fs::rename(&good, &file).unwrap();
        hang_up(&server);
        while newcomer.get(NAMESPACES).await.status == 401 {}
    }
    assert!(server.stop().await.success());
}

fn hang_up(server: &TestServer) {
    run(&format!("kill -HUP {}", server.pid()), server.scratch_dir());
}

fn run(command: &str, folder: &Path) {
    let ended = std::process::Command::new("sh").args(["-c", command]).current_dir(folder).status();
    assert!(ended.unwrap().success(), "{command}");
}

fn self_signed(user: &str, group: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, user);
    params.distinguished_name.push(DnType::OrganizationName, group);
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// How much longer one wrong token may take than another, in the middle of many, and how often it is measured
/// before that counts: other programs of the machine disturb it.
const DIFFERENCE: f64 = 1.25;
const MEASUREMENTS: usize = 5;

/// Whoever guesses learns nothing from an answer, nor from the time that it takes.
#[tokio::test]
async fn a_token_that_is_nearly_right_is_refused_like_any_other() {
    let server = TestServer::start().await;
    let guesses = ["tok-admim", "xok-admin", "tok-admi", "tok-adminn", "TOK-ADMIN", "zzzzzzzzz"];
    let clients = guesses.map(|guess| server.without_credentials().with_token(guess));
    let mut worst = f64::MAX;
    for _ in 0..MEASUREMENTS {
        let mut times = guesses.map(|_| Vec::new());
        for _ in 0..100 {
            for (client, times) in clients.iter().zip(&mut times) {
                let began = Instant::now();
                let answer = client.get(NAMESPACES).await;
                times.push(began.elapsed());
                assert_eq!(answer.refused(401, "Unauthorized"), "Unauthorized");
            }
        }
        let middle = times.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        });
        let (longest, shortest) = (middle.iter().max().unwrap(), middle.iter().min().unwrap());
        worst = worst.min(longest.div_duration_f64((*shortest).max(Duration::from_micros(1))));
        if worst < DIFFERENCE {
            return;
        }
    }
    panic!("one wrong token takes {worst} times as long as another");
}

#[tokio::test]
async fn a_certificate_may_state_the_uid_of_a_user() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new("users");
    let file = authority.write(directory.path(), "users.pem");
    let server = TestServer::options().flag(format!("--client-ca-file={}", file.display())).start().await;
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    for (client, uid) in [
        (authority.client_with_uid(&server, "olga", "u-7"), json!("u-7")),
        (authority.client(&server, "olga", None), Value::Null),
    ] {
        let info = client.post(SELF_REVIEWS, &review).await.expect(201)["status"]["userInfo"].clone();
        assert_eq!((&info["username"], &info["uid"]), (&json!("olga"), &uid));
    }
    authority.client_with_uid(&server, "olga", "").get("/version").await.refused(401, "Unauthorized");
}

/// A browser cannot send the header `Authorization` with a handshake: its token is one of the protocols.
#[tokio::test]
async fn a_handshake_of_websocket_names_its_token_as_a_protocol() {
    let server = TestServer::start().await;
    let anonymous = server.without_credentials();
    let token = |token: &str| {
        let encoded = BASE64_URL_SAFE_NO_PAD.encode(token);
        format!("base64url.bearer.authorization.orch.io.{encoded}")
    };
    let (right, wrong) = (token("tok-admin"), token("tok-mallory"));
    for (protocols, upgrade, authorization, status) in [
        (format!("{right}, v1"), "websocket", "", 200),
        (format!("v1,{right}"), "WebSocket", "", 200),
        (format!("{right}, v1"), "websocket", "Basic Ym9iOnB3", 200),
        (format!("{right}, v1"), "websocket", "Bearer tok-mallory", 401),
        (format!("{wrong}, v1"), "websocket", "Bearer tok-admin", 200),
        (format!("{wrong}, v1"), "websocket", "", 401),
        (format!("{right}, {right}, v1"), "websocket", "", 401),
        (right.clone(), "websocket", "", 401),
        ("base64url.bearer.authorization.orch.io.?, v1".to_owned(), "websocket", "", 401),
        ("v1, v2".to_owned(), "websocket", "", 403),
        (format!("{right}, v1"), "", "", 403),
    ] {
        let mut request = anonymous.request(http::Method::GET, NAMESPACES);
        if !upgrade.is_empty() {
            request = request.header("connection", "keep-alive, Upgrade").header("upgrade", upgrade);
        }
        if !authorization.is_empty() {
            request = request.header("authorization", authorization);
        }
        let answer = request.header("sec-websocket-protocol", &protocols).send().await;
        assert_eq!(answer.status, status, "{protocols:?} {upgrade:?} {authorization:?}: {}", answer.text());
        assert_eq!(answer.header("sec-websocket-protocol"), "");
    }
}
