//! Bytes on the wire that no well-behaved client sends: requests that two servers could read differently,
//! requests that stop half-way, and clients that are many.

use std::{sync::Arc, time::Duration};

use http::Method;
use orch_tests::{
    TestServer,
    client::{Protocol, tls_config},
    objects::{CONFIG_MAPS, config_map, names},
};
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Longer than the server waits for a client.
const LONG: Duration = Duration::from_secs(50);

pub async fn connect(server: &TestServer) -> TlsStream<TcpStream> {
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http1);
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let name = ServerName::IpAddress(server.address().ip().into());
    TlsConnector::from(Arc::clone(&tls)).connect(name, stream).await.unwrap()
}

/// What the server says to these bytes, until it closes the connection.
async fn say(server: &TestServer, bytes: &[u8]) -> String {
    let mut stream = connect(server).await;
    stream.write_all(bytes).await.unwrap();
    read_to_the_end(&mut stream).await
}

async fn read_to_the_end(stream: &mut TlsStream<TcpStream>) -> String {
    let mut answer = Vec::new();
    let read = async {
        let mut buffer = [0; 4096];
        // A connection that is cut off ends like one that is closed.
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..length]);
        }
    };
    tokio::time::timeout(LONG, read).await.expect("the server closes the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn requests_that_could_be_read_in_two_ways_are_refused() {
    let server = TestServer::start().await;
    let smuggled = "GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\n\r\n";
    let head =
        format!("POST {CONFIG_MAPS} HTTP/1.1\r\nauthorization: Bearer tok-admin\r\nconnection: close\r\n");
    for fields in [
        "host: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n",
        "host: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n",
        "host: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n",
        "host: x\r\ncontent-length: +5\r\n",
        "host: x\r\ncontent-length: 5, 5\r\n",
        "host: x\r\ntransfer-encoding: xchunked\r\n",
        "host: x\r\ntransfer-encoding: chunked, identity\r\n",
        "host: x\r\nx-folded: a\r\n b\r\ncontent-length: 0\r\n",
        "host: x\r\nx-bad : a\r\ncontent-length: 0\r\n",
        "host: x\r\nhost: y\r\ncontent-length: 0\r\n",
        "content-length: 0\r\n",
    ] {
        let answer = say(&server, format!("{head}{fields}\r\n0\r\n\r\n{smuggled}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{fields:?}\n{answer}");
        assert_eq!(
            answer.matches("HTTP/1.1 ").count(),
            1,
            "a second request was answered: {fields:?}\n{answer}"
        );
    }
    assert!(names(&server.admin().get(CONFIG_MAPS).await.expect(200)).is_empty());
}

/// Here everything but the framing is right, so nothing else can refuse it.
#[tokio::test]
async fn a_request_that_gives_its_length_twice_is_refused_for_that() {
    let server = TestServer::start().await;
    let body = config_map("a", "1").to_string();
    let (length, chunked) = (body.len(), format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\n\
         content-type: application/json\r\nconnection: close\r\n"
    );
    for (fields, body) in [
        (format!("transfer-encoding: chunked\r\ncontent-length: {length}"), &chunked),
        (format!("content-length: {length}\r\ntransfer-encoding: chunked"), &chunked),
        (format!("content-length: {length}\r\ncontent-length: {length}"), &body),
        (format!("content-length: {length}, {length}"), &body),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked".to_owned(), &chunked),
        ("transfer-encoding: gzip, chunked".to_owned(), &chunked),
    ] {
        let answer = say(&server, format!("{head}{fields}\r\n\r\n{body}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{fields}\n{answer}");
    }
    // One answer, whatever comes behind it.
    let first = "transfer-encoding: chunked\r\n\r\n2;a=\n\r\n{}\r\n0\r\n\r\n";
    let head = head.replace("connection: close\r\n", "");
    let second = format!("{head}content-length: {length}\r\ncontent-length: {length}\r\n\r\n{body}");
    let answers = say(&server, format!("{head}{first}{second}").as_bytes()).await;
    assert!(answers.starts_with("HTTP/1.1 400 "), "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
    let admin = server.admin();
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
    let head = format!("{head}connection: close\r\n");
    let answer = say(&server, format!("{head}transfer-encoding: chunked\r\n\r\n{chunked}").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_order() {
    let server = TestServer::start().await;
    let request = |path: &str, connection: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\nconnection: {connection}\r\n\r\n"
        )
    };
    let row =
        request("/livez", "keep-alive") + &request("/version", "keep-alive") + &request("/readyz", "close");
    let answer = say(&server, row.as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3, "{answer}");
    let version = answer.find("gitVersion").unwrap();
    assert!(answer.find("\r\n\r\nok").unwrap() < version && answer.ends_with("ok"), "{answer}");
}

/// A client that is out of step gets the answers that it is owed, and one more that says so.
#[tokio::test]
async fn garbage_behind_requests_ends_the_connection_and_nothing_else() {
    let server = TestServer::start().await;
    let request = "GET /livez HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\n\r\n";
    for garbage in [
        "\0\u{1}\u{2}\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /livez\r\n\r\n",
        "GET /livez HTTP/9.9\r\n\r\n",
    ] {
        let row = request.repeat(200) + garbage + request;
        let answer = say(&server, row.as_bytes()).await;
        assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 200, "{garbage:?}");
        let refused = answer.matches("HTTP/1.1 4").count() + answer.matches("HTTP/1.1 505").count();
        assert!(refused <= 1 && answer.matches("HTTP/1.1 ").count() == 200 + refused, "{garbage:?}");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

/// The server is no tunnel: nothing that asks for one changes what a connection speaks.
#[tokio::test]
async fn no_request_turns_a_connection_into_a_tunnel() {
    let server = TestServer::start().await;
    let fields = "host: x\r\nauthorization: Bearer tok-admin\r\n";
    let after = format!("GET /livez HTTP/1.1\r\n{fields}connection: close\r\n\r\n");
    for protocol in ["websocket", "SPDY/3.1", "h2c", "TLS/1.2"] {
        let upgrade = format!("connection: upgrade\r\nupgrade: {protocol}\r\n");
        for path in ["/livez", "/api/v1/namespaces/default/pods/p/exec?command=sh", "/api/v1/nodes/n/proxy/"]
        {
            let asked = format!("GET {path} HTTP/1.1\r\n{fields}{upgrade}\r\n");
            let answer = say(&server, (asked + &after).as_bytes()).await;
            assert!(!answer.contains("HTTP/1.1 101"), "{protocol} {path}: {answer}");
            assert!(answer.ends_with("ok"), "the next request is answered: {protocol} {path}: {answer}");
        }
    }
    for target in ["10.0.0.1:80", "127.0.0.1:22", "localhost:443"] {
        let answer =
            say(&server, format!("CONNECT {target} HTTP/1.1\r\n{fields}\r\n{after}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{target}: {answer}");
    }
}

/// More fields than any client has, and fields that never end.
#[tokio::test]
async fn a_flood_of_fields_is_refused() {
    let server = TestServer::start().await;
    let head = "GET /livez HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\nconnection: close\r\n";
    let fields =
        |count: usize| (0..count).map(|number| format!("x-{number}: 1\r\n")).collect::<Vec<_>>().concat();
    assert!(say(&server, format!("{head}{}\r\n", fields(50)).as_bytes()).await.starts_with("HTTP/1.1 200 "));
    let answer = say(&server, format!("{head}{}\r\n", fields(2_000)).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let mut stream = connect(&server).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let field = format!("x-more: {}\r\n", "x".repeat(1_000));
    let mut sent = 0;
    while sent < 4_000_000 && stream.write_all(field.as_bytes()).await.is_ok() {
        sent += field.len();
    }
    let answer = read_to_the_end(&mut stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

/// Names, selectors and whole addresses that are longer than anything that exists.
#[tokio::test]
async fn long_addresses_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let selector = |term: &str, length: usize| term.repeat(length / term.len()) + "a";
    for (path, status) in [
        (format!("{CONFIG_MAPS}/{}", "a".repeat(254)), 404),
        (format!("{CONFIG_MAPS}/{}", "a".repeat(50_000)), 404),
        (format!("/api/v1/namespaces/{}/configmaps", "a".repeat(50_000)), 200),
        (format!("/apis/{}/v1/things", "a".repeat(50_000)), 404),
        (format!("{CONFIG_MAPS}/{}", "a/".repeat(20_000)), 404),
        (format!("{CONFIG_MAPS}?labelSelector={}", selector("a,", 50_000)), 400),
        (format!("{CONFIG_MAPS}?labelSelector={}", selector("a%20in%20(", 50_000)), 400),
        (format!("{CONFIG_MAPS}?fieldSelector={}", selector("metadata.name!=a,", 50_000)), 400),
        (format!("{CONFIG_MAPS}?continue={}", "a".repeat(50_000)), 400),
        (format!("{CONFIG_MAPS}?limit={}", "9".repeat(50_000)), 400),
        (format!("{CONFIG_MAPS}?{}", selector("a=1&", 50_000)), 200),
    ] {
        let answer = admin.get(&path).await;
        assert_eq!(answer.status, status, "{} bytes: {}", path.len(), &path[..60]);
    }
    // Beyond the longest head.
    let longest = format!("GET {CONFIG_MAPS}?x={} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(100_000));
    let answer = say(&server, longest.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 ") || answer.starts_with("HTTP/1.1 414 "), "{answer}");
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}

/// A body whose end never comes is not read for ever, whether its client is fast or slow.
#[tokio::test]
async fn a_body_without_an_end_is_cut() {
    let server = TestServer::options().flag("--request-timeout=2s").start().await;
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let piece = format!("10000\r\n{}\r\n", " ".repeat(65_536));
    for (piece, pause, expected) in [
        (piece.as_str(), Duration::ZERO, "HTTP/1.1 413 "),
        ("1\r\n \r\n", Duration::from_millis(50), "HTTP/1.1 504 "),
    ] {
        let mut stream = connect(&server).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut sent = 0;
        let sending = async {
            while sent < 64 << 20 && stream.write_all(piece.as_bytes()).await.is_ok() {
                sent += piece.len();
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
        };
        // Who sends slowly is answered while it sends, and then cut.
        let _ = tokio::time::timeout(Duration::from_secs(6), sending).await;
        let answer = read_to_the_end(&mut stream).await;
        assert!(sent < 64 << 20, "all of it was read: {answer}");
        assert!(answer.is_empty() || answer.starts_with(expected), "{answer}");
    }
    assert!(names(&server.admin().get(CONFIG_MAPS).await.expect(200)).is_empty());
}

/// Tools ask before they send a large body.
#[tokio::test]
async fn a_body_is_asked_for_where_the_client_waits_for_that() {
    let server = TestServer::start().await;
    let body = config_map("a", "1").to_string();
    let head = |token: &str| {
        format!(
            "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\
             expect: 100-continue\r\nconnection: close\r\n\r\n",
            body.len()
        )
    };
    let mut stream = connect(&server).await;
    stream.write_all(head("tok-admin").as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    let answer = read_to_the_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    // A caller that is unauthorized is told so before it sends the body.
    let answer = say(&server, head("tok-mallory").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test]
async fn a_request_that_stops_half_way_is_given_up() {
    let server = TestServer::options().flag("--request-timeout=1s").start().await;
    // In its head, in its body, and in a chunk of its body.
    let head = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\n");
    for (bytes, expected) in [
        (format!("{head}x-slow"), ""),
        (format!("{head}content-length: 100\r\n\r\n{{"), "HTTP/1.1 504 "),
        (format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n{{"), "HTTP/1.1 504 "),
    ] {
        let answer = say(&server, bytes.as_bytes()).await;
        assert!(answer.starts_with(expected), "{bytes:?}\n{answer}");
    }
    assert!(names(&server.admin().get(CONFIG_MAPS).await.expect(200)).is_empty());
}

/// Bodies that are nearly there: they are in memory until the request is given up.
#[tokio::test]
async fn unfinished_bodies_of_a_user_are_bounded() {
    const SENT: usize = 2_900_000;
    let server = TestServer::options().flag("--authorization-mode=AlwaysAllow").start().await;
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-bob\r\n\
         content-type: application/json\r\ncontent-length: 3000000\r\n\r\n"
    );
    let part = vec![b' '; SENT];
    let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..14 {
        let mut stream = connect(&server).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server may end a connection whose body it refuses.
        let _ = stream.write_all(&part).await;
        let answered = answered.clone();
        tokio::spawn(async move {
            let mut answer = vec![0; 1000];
            let length = stream.read(&mut answer).await.unwrap_or_default();
            let _ = answered.send(String::from_utf8_lossy(&answer[..length]).into_owned());
        });
    }
    let answer = tokio::time::timeout(LONG, answers.recv()).await.expect("none is refused").unwrap();
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after: 1\r\n"), "{answer}");
    // Another user is not concerned.
    server.user("dave").post(CONFIG_MAPS, &config_map("a", &"x".repeat(900_000))).await.expect(201);
    // What was refused is dropped within a second, and then there is room for small bodies.
    while server.user("bob").post(CONFIG_MAPS, &config_map("b", "1")).await.status == 429 {}
    server.admin().get(&format!("{CONFIG_MAPS}/b")).await.expect(200);
}

#[tokio::test]
async fn a_client_that_leaves_takes_nothing_with_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for round in 0..20 {
        let body = config_map(&format!("left-{round}"), "1").to_string();
        let mut stream = connect(&server).await;
        let request = format!(
            "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-admin\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        // Gone before the answer: the write happens whole or not at all.
        drop(stream);
    }
    let created = admin.post(CONFIG_MAPS, &config_map("after", "1")).await.expect(201);
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert!(list["items"].as_array().unwrap().iter().all(|item| item["data"]["value"] == "1"), "{list}");
    assert!(names(&list).contains(&"after"));
    let mut watch = admin
        .watch(&format!(
            "{CONFIG_MAPS}?watch=1&resourceVersion={}",
            created["metadata"]["resourceVersion"].as_str().unwrap()
        ))
        .await;
    admin.delete(&format!("{CONFIG_MAPS}/after")).await.expect(200);
    // A write may still be on its way when its client is gone: it is told whole, too.
    let deleted = loop {
        let event = watch.event().await;
        if event["type"] == "DELETED" {
            break event;
        }
        assert_eq!(event["type"], "ADDED", "{event}");
        assert_eq!(event["object"]["data"]["value"], "1", "{event}");
    };
    assert_eq!(deleted["object"]["metadata"]["name"], "after");
}

#[tokio::test]
async fn more_clients_than_allowed_wait_for_a_place() {
    let server = TestServer::options().flag("--max-connections=3").start().await;
    let clients = [server.admin(), server.admin(), server.admin()];
    for client in &clients {
        client.get("/version").await.expect(200);
    }
    let waiting = server.admin();
    let answer =
        waiting.request(Method::GET, "/version").patience(Duration::from_millis(300)).try_send().await;
    assert!(answer.is_err(), "{answer:?}");
    drop(clients);
    waiting.get("/version").await.expect(200);
}
