//! What browsers are told: pages of other servers (CORS), and strict transport.

use http::{HeaderMap, Method};
use orch_tests::{TestServer, objects::CONFIG_MAPS};

use crate::websocket::socket::Socket;

const CORS: &str = "access-control-";
const PAGE: &str = "https://console.example.com";
const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";

fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

fn has_cors(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with(CORS))
}

#[tokio::test]
async fn allowed_pages_read_answers_and_watch() {
    let server = TestServer::options()
        .flag(r"--cors-allowed-origins=^http://localhost:3000$,//console\.example\.com(:|$)")
        .start()
        .await;
    let (admin, stranger) = (server.admin(), server.without_credentials());
    for origin in [PAGE, "https://console.example.com:8443", "http://localhost:3000"] {
        // The browser asks without credentials, also for what is not there.
        for path in [CONFIG_MAPS, "/nothing"] {
            let asked = stranger.request(Method::OPTIONS, path).header("origin", origin);
            let asked = asked.header("access-control-request-method", "PUT").send().await;
            assert_eq!((asked.status, asked.body.len()), (204, 0), "{asked:?}");
            assert_eq!(value(&asked.headers, "access-control-allow-origin"), Some(origin));
            let methods = value(&asked.headers, "access-control-allow-methods");
            assert_eq!(methods, Some("POST, GET, OPTIONS, PUT, DELETE, PATCH"));
            assert!(value(&asked.headers, "access-control-allow-headers").unwrap().contains("Authorization"));
            assert_eq!(value(&asked.headers, "access-control-allow-credentials"), Some("true"));
        }
        let listed = admin.request(Method::GET, CONFIG_MAPS).header("origin", origin).send().await;
        assert_eq!(listed.status, 200);
        assert_eq!(value(&listed.headers, "access-control-allow-origin"), Some(origin));
        assert!(listed.headers.get_all("vary").iter().any(|name| name == "Origin"), "{listed:?}");
        // A page may read why it is refused.
        let refused = stranger.request(Method::GET, CONFIG_MAPS).header("origin", origin).send().await;
        assert!(matches!(refused.status, 401 | 403) && has_cors(&refused.headers), "{refused:?}");
        Socket::open(&server, WATCH, &[("origin", origin)]).await;
    }
    for origin in
        ["https://evil.net", "https://console.example.com.evil.net", "null", "http://localhost:30001"]
    {
        let asked = stranger.request(Method::OPTIONS, CONFIG_MAPS).header("origin", origin).send().await;
        assert!(asked.status >= 400 && !has_cors(&asked.headers), "{origin}: {asked:?}");
        let listed = admin.request(Method::GET, CONFIG_MAPS).header("origin", origin).send().await;
        assert!(listed.status == 200 && !has_cors(&listed.headers), "{origin}: {listed:?}");
    }
    assert!(!has_cors(&admin.get(CONFIG_MAPS).await.headers), "no browser asks");
}

#[tokio::test]
async fn without_flags_browsers_are_told_nothing() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for method in [Method::OPTIONS, Method::GET] {
        let answer = admin.request(method, CONFIG_MAPS).header("origin", PAGE).send().await;
        assert_ne!(answer.status, 204);
        assert!(!has_cors(&answer.headers), "{answer:?}");
        assert_eq!(value(&answer.headers, "strict-transport-security"), None);
    }
}

#[tokio::test]
async fn every_answer_asks_for_strict_transport() {
    let server = TestServer::options()
        .flag("--strict-transport-security-directives=max-age=31536000,includeSubDomains")
        .start()
        .await;
    for path in [CONFIG_MAPS, "/livez", "/nothing"] {
        let answer = server.without_credentials().get(path).await;
        let told = value(&answer.headers, "strict-transport-security");
        assert_eq!(told, Some("max-age=31536000; includeSubDomains"), "{path}: {answer:?}");
    }
}
