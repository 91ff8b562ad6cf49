//! Watches over WebSocket: the events are those of every watch, each in a message, and so are the refusals.

pub mod socket;

use std::time::{Duration, Instant};

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, name, version},
};
use serde_json::json;

use self::socket::{BINARY, CLOSE, PING, PONG, Socket, TEXT, answer, handshake, token};
use crate::audit::Audited;

const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";
const PREFIXED: &str = "/api/v1/watch/namespaces/default/configmaps";
const BINDINGS: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";
const PROTOBUF: &str = "application/vnd.orch.protobuf;stream=watch";

#[tokio::test]
async fn each_event_is_a_text() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = version(&admin.get(CONFIG_MAPS).await.expect(200)).to_owned();
    let item = format!("{CONFIG_MAPS}/a");
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for path in [format!("{WATCH}&resourceVersion={start}"), format!("{PREFIXED}?resourceVersion={start}")] {
        let mut socket = Socket::open(&server, &path, &[]).await;
        let head = socket.head.to_lowercase();
        for line in ["upgrade: websocket", "connection: upgrade", "audit-id: "] {
            assert!(head.contains(&format!("\r\n{line}")), "{line}: {head}");
        }
        for name in ["content-type", "content-length", "transfer-encoding", "sec-websocket-protocol"] {
            assert!(!head.contains(name), "{name}: {head}");
        }
        assert_eq!(socket.expect("ADDED").await, created);
        socket.say(CLOSE, b"").await;
        assert_eq!(socket.frame().await, (CLOSE, vec![]));
        socket.expect_end().await;
    }
    let mut socket =
        Socket::open(&server, &format!("{WATCH}&resourceVersion={}", version(&created)), &[]).await;
    let changed = admin.put(&item, &config_map("a", "2")).await.expect(200);
    assert_eq!(socket.expect("MODIFIED").await, changed);
    admin.delete(&item).await.expect(200);
    assert_eq!(socket.expect("DELETED").await["data"], changed["data"]);
}

#[tokio::test]
async fn other_media_types_are_binary() {
    let server = TestServer::options().flag("--feature-gates=CBORServingAndStorage=true").start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let path = format!("{WATCH}&timeoutSeconds=1");
    for (accept, prefix) in [(PROTOBUF, 4), ("application/cbor-seq", 0)] {
        // The same bytes as in the body of a watch, without the length in front.
        let stream = admin.request(Method::GET, &path).header("accept", accept).send().await.body;
        let mut socket = Socket::open(&server, &path, &[("accept", accept)]).await;
        assert_eq!(socket.frame().await, (BINARY, stream[prefix..].to_vec()), "{accept}");
        socket.agree(1000).await;
    }
    // One row of a table is a text too.
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut socket = Socket::open(&server, WATCH, &[("accept", table)]).await;
    assert_eq!(socket.expect("ADDED").await["kind"], "Table");
}

#[tokio::test]
async fn events_of_all_sizes_come_whole_and_in_order() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let sizes = [1, 100, 8_000, 16_000, 16_400, 70_000, 600_000, 5, 30];
    let mut created = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        let map = config_map(&format!("n{number}"), &"x".repeat(size));
        created.push(admin.post(CONFIG_MAPS, &map).await.expect(201));
    }
    let mut socket = Socket::open(&server, WATCH, &[]).await;
    for expected in &created {
        assert_eq!(&socket.expect("ADDED").await, expected);
    }
    // A ping between large events is answered between them.
    for round in 0..10 {
        let map = config_map(&format!("later{round}"), &"x".repeat(100_000));
        admin.post(CONFIG_MAPS, &map).await.expect(201);
        socket.say(PING, &[round]).await;
        let mut frames = [socket.frame().await, socket.frame().await];
        frames.sort();
        assert_eq!((frames[0].0, &frames[1]), (TEXT, &(PONG, vec![round])));
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_ends_the_connection() {
    let server = TestServer::start().await;
    for (path, fields, status) in [
        (WATCH, &[("authorization", "Bearer wrong")][..], 401),
        (WATCH, &[("authorization", "Bearer tok-bob")], 403),
        (WATCH, &[("origin", "https://evil.example")], 403),
        (WATCH, &[("origin", "null")], 403),
        (WATCH, &[("sec-websocket-version", "8")], 400),
        (WATCH, &[("sec-websocket-key", "short")], 400),
        (WATCH, &[("sec-websocket-protocol", "a, b")], 400),
        (WATCH, &[("accept", "application/yaml")], 406),
        (WATCH, &[("host", "")], 400),
        (&*format!("{WATCH}&labelSelector=%2C%2C"), &[], 400),
        (&*format!("{WATCH}&resourceVersion=x"), &[], 422),
        ("/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=true", &[], 422),
    ] {
        // A proxy that takes it for a WebSocket passes on whatever follows, which must not be a request.
        let asked = handshake(path, fields) + &handshake("/livez", &[]);
        let answer = answer(&server, asked.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path} {fields:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{path} {fields:?}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert!(answer.contains("Status"), "{answer}");
        let names_version = answer.contains("\r\nsec-websocket-version: 13\r\n");
        assert_eq!(
            names_version,
            fields.iter().any(|(name, _)| *name == "sec-websocket-version"),
            "{answer}"
        );
    }
    let asked = handshake(WATCH, &[]) + &handshake("/livez", &[]);
    let answer = answer(&server, asked.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 101 ") && answer.ends_with("\r\n\r\n"), "no word more: {answer}");
}

#[tokio::test]
async fn pages_of_this_server_and_tokens_of_browsers_are_let_in() {
    let server = TestServer::start().await;
    let own = [("host", "example.com:6443"), ("origin", "https://example.com:6443")];
    Socket::open(&server, WATCH, &own).await;
    let right = token("tok-admin");
    let (both, alone) = (format!("{right}, v1"), token("tok-mallory"));
    for (authorization, offered, repeated) in [
        ("", &*both, true),
        ("Bearer tok-admin", &*both, true),
        ("Bearer tok-admin", "v1", true),
        ("Bearer tok-admin", &*alone, false),
    ] {
        let fields = [("authorization", authorization), ("sec-websocket-protocol", offered)];
        let head = Socket::open(&server, WATCH, &fields).await.head;
        assert_eq!(head.contains("\r\nsec-websocket-protocol: v1\r\n"), repeated, "{offered}: {head}");
        assert!(!head.contains("base64url"), "{head}");
    }
}

#[tokio::test]
async fn only_watches_have_websockets() {
    let server = TestServer::start().await;
    let item = format!("{CONFIG_MAPS}/a");
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for path in [item.as_str(), CONFIG_MAPS, "/version"] {
        let last = handshake("/livez", &[("connection", "close")]);
        let answer = answer(&server, (handshake(path, &[]) + &last).as_bytes()).await;
        assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2, "{path}: {answer}");
    }
}

#[tokio::test]
async fn pings_are_answered_and_messages_ignored() {
    let server = TestServer::start().await;
    let mut socket = Socket::open(&server, WATCH, &[]).await;
    for number in 0..50 {
        socket.say(TEXT, b"hello").await;
        socket.say(BINARY, &[number]).await;
        socket.say(PING, &[number]).await;
        assert_eq!(socket.frame().await, (PONG, vec![number]));
    }
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(name(&socket.expect("ADDED").await), "a");
}

#[tokio::test]
async fn what_the_protocol_forbids_ends_it() {
    let server = TestServer::start().await;
    for (bytes, code) in [
        (&b"\x81\x01a"[..], 1002),
        (b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n", 1002),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x83\x80\0\0\0\0", 1002),
        (b"\x09\x80\0\0\0\0", 1002),
        (b"\x81\x81\0\0\0\0\xff", 1007),
        (b"\x82\xfe\x40\x01\0\0\0\0", 1009),
        (b"\x82\xff\0\0\0\x01\0\0\0\0\0\0\0\0", 1009),
    ] {
        let mut socket = Socket::open(&server, WATCH, &[]).await;
        socket.send(bytes).await;
        // The last word comes although the client has sent more.
        socket.send(&[0; 10_000]).await;
        assert_eq!(socket.closed().await, code, "{bytes:?}");
        socket.expect_end().await;
    }
}

/// Its place, its share of the limit and its record.
#[tokio::test]
async fn a_client_that_closes_or_leaves_gives_everything_back() {
    let audited =
        Audited::start("- level: Metadata\n", TestServer::options().flag("--max-watches-per-user=1")).await;
    let server = &audited.server;
    for leaves in [false, true] {
        let mut socket = Socket::open(server, WATCH, &[]).await;
        assert!(answer(server, handshake(WATCH, &[]).as_bytes()).await.starts_with("HTTP/1.1 429 "));
        server.admin().get(WATCH).await.refused(429, "TooManyRequests");
        let open = server.admin().get("/metrics").await.text();
        assert!(open.lines().any(|line| is_open(line) && line.ends_with(" 1")), "{open}");
        if leaves {
            drop(socket);
        } else {
            socket.say(CLOSE, &1000_u16.to_be_bytes()).await;
            assert_eq!(socket.closed().await, 1000);
            socket.expect_end().await;
        }
        let began = Instant::now();
        while server.admin().get(&format!("{WATCH}&timeoutSeconds=1")).await.status != 200 {
            assert!(began.elapsed() < Duration::from_secs(30), "the watch goes on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let closed = server.admin().get("/metrics").await.text();
        assert!(closed.lines().filter(|line| is_open(line)).all(|line| line.ends_with(" 0")), "{closed}");
    }
    let recorded = |stage: &str| {
        let events = audited.about("watch=1");
        events
            .iter()
            .filter(|event| event["stage"] == stage && event["responseStatus"]["code"] == 101)
            .count()
    };
    assert_eq!(recorded("ResponseStarted"), 2);
    let began = Instant::now();
    while recorded("ResponseComplete") < 2 {
        assert!(began.elapsed() < Duration::from_secs(30), "the end of a watch is not recorded");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether a line of the metrics tells of open watches of config maps.
fn is_open(line: &str) -> bool {
    line.starts_with("apiserver_longrunning_requests{") && line.contains("resource=\"configmaps\"")
}

#[tokio::test]
async fn what_ends_a_watch_closes_the_websocket() {
    let mut server = TestServer::options().flag("--history-retention=1ms").start().await;
    let admin = server.admin();
    // Its time.
    let socket = Socket::open(&server, &format!("{WATCH}&timeoutSeconds=1"), &[]).await;
    socket.agree(1000).await;
    let mut socket = Socket::open(&server, &format!("{WATCH}&allowWatchBookmarks=true"), &[]).await;
    socket.expect("BOOKMARK").await;
    // An error.
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    loop {
        let change = json!({"data": {"n": rand::random::<u32>().to_string()}});
        admin.merge(&format!("{CONFIG_MAPS}/a"), &change).await.expect(200);
        let path = format!("{WATCH}&resourceVersion={}", version(&first));
        let mut socket = Socket::open(&server, &path, &[]).await;
        let event = socket.event().await;
        if event["type"] == "ERROR" {
            assert_eq!(event["object"]["code"], 410);
            socket.agree(1000).await;
            break;
        }
    }
    // A right that is gone.
    let binding = json!({
        "metadata": {"name": "bob"}, "subjects": [{"kind": "User", "name": "bob"}],
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    admin.post(BINDINGS, &binding).await.expect(201);
    let path = "/api/v1/namespaces/default/pods?watch=1";
    let socket = Socket::open(&server, path, &[("authorization", "Bearer tok-bob")]).await;
    admin.delete(&format!("{BINDINGS}/bob")).await.expect(200);
    socket.agree(1000).await;
    // The server's end, which waits for the client to agree.
    let socket = Socket::open(&server, path, &[]).await;
    server.terminate().await;
    socket.agree(1000).await;
    assert!(server.exited().await.success());
}

/// A client that reads nothing keeps nobody waiting, and has not lost its place when it reads.
#[tokio::test]
async fn who_reads_slowly_has_everything_or_is_told() {
    const WRITES: usize = 200;
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut slow = Socket::open(&server, WATCH, &[]).await;
    let value = "x".repeat(40_000);
    for number in 0..WRITES {
        admin.post(CONFIG_MAPS, &config_map(&format!("n{number:03}"), &value)).await.expect(201);
    }
    for number in 0..WRITES {
        let event = slow.event().await;
        if event["type"] == "ERROR" {
            assert_eq!(event["object"]["code"], 410);
            return slow.agree(1000).await;
        }
        assert_eq!(name(&event["object"]), format!("n{number:03}"));
    }
}
