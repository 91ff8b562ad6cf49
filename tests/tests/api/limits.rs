//! Clients that keep connections open: slow handshakes, half requests, many connections. Others are served
//! meanwhile.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use http::Method;
use orch_tests::{
    TestServer,
    client::Protocol,
    memory_group::MemoryGroup,
    objects::{CONFIG_MAPS, config_map, name},
    skip::skipped,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::wire::connect;

/// Longer than the server waits for a client.
const LONG: Duration = Duration::from_secs(50);

#[tokio::test]
async fn silent_connections_are_closed_and_delay_no_other() {
    let server = TestServer::start().await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(server.address()).await.unwrap());
    }
    // One stops in the middle of its handshake.
    let mut half = TcpStream::connect(server.address()).await.unwrap();
    half.write_all(&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01]).await.unwrap();
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for stream in silent.iter_mut().chain([&mut half]) {
        let read = tokio::time::timeout(LONG, stream.read(&mut [0; 64])).await;
        let read = read.expect("the server closes silent connections");
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

/// More clients that say nothing than the server may have files.
#[tokio::test]
async fn silent_connections_do_not_use_up_the_open_files() {
    let server = TestServer::options().open_files(64, 128).start().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().filter(|word| *word == "128").count(), 2, "{files}");

    let began = Instant::now();
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(server.address()).await.unwrap());
    }
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    // A handshake may take 10 s, and nobody waits that long.
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(!server.log().contains("cannot accept a connection"), "{}", server.log());
}

#[tokio::test]
async fn writes_are_refused_before_memory_runs_out() {
    let server = TestServer::options().flag("--memory-limit=96MiB").start().await;
    let admin = server.admin();
    let value = "x".repeat(500_000);
    let mut written = 0;
    let refused = loop {
        let answer = admin.post(CONFIG_MAPS, &config_map(&format!("m{written}"), &value)).await;
        if answer.status != 201 {
            break answer;
        }
        written += 1;
        assert!(written < 1000, "more is taken than there is memory for");
    };
    assert_eq!(refused.header("retry-after"), "5");
    let message = refused.refused(429, "TooManyRequests");
    assert!(message.starts_with("the server is short of memory"), "{message}");
    // Reads and deletions go on.
    assert_eq!(admin.get("/livez").await.text(), "ok");
    let first = format!("{CONFIG_MAPS}/m0");
    admin.get(&first).await.expect(200);
    admin.merge(&first, &json!({"data": {"value": "1"}})).await.refused(429, "TooManyRequests");
    admin.delete(&first).await.expect(200);
}

/// The limit is that of the system, and nobody has told the server.
#[tokio::test]
async fn writes_are_refused_before_the_system_kills_the_server() {
    const LIMIT: u64 = 64 << 20;
    let group = match MemoryGroup::make(LIMIT) {
        Ok(group) => group,
        Err(why) => return skipped("a server in 64 MiB", &why),
    };
    let mut server = TestServer::options().memory_group(&group).start().await;
    let admin = server.admin();
    let mut counts = BTreeMap::new();
    // What is small, and what is large; by several clients at a time, beyond the first refusal.
    for (size, rounds) in [(1_000, 50), (200_000, 100)] {
        let value = "x".repeat(size);
        for round in 0..rounds {
            let writes = (0..8).map(|writer| {
                let path = format!("m-{size}-{round}-{writer}");
                let (admin, map) = (admin.clone(), config_map(&path, &value));
                async move { admin.post(CONFIG_MAPS, &map).await.status }
            });
            for status in join_all(writes).await {
                *counts.entry(status).or_insert(0) += 1;
            }
        }
    }
    println!("{counts:?}");
    assert!(server.is_running(), "it was killed\n{}", server.log());
    assert!(counts.keys().all(|status| [201, 429, 507].contains(status)), "{counts:?}");
    assert!(counts[&201] > 50 && counts.len() > 1, "{counts:?}");
    assert_eq!(admin.get("/livez").await.text(), "ok");
    admin.get(&format!("{CONFIG_MAPS}/m-1000-0-0")).await.expect(200);
    assert!(server.stop().await.success());
}

/// Bodies that do not come to their end are counted, and a body beyond the bound is refused.
#[tokio::test]
async fn an_operator_sets_how_much_memory_bodies_may_take() {
    let server = TestServer::options().flag("--max-body-bytes-per-user=3MiB").start().await;
    let admin = server.admin();
    let map = config_map("m", &"x".repeat(900_000)).to_string();
    // Nearly all of a body, and then nothing.
    let begin = async || {
        let mut stream = connect(&server).await;
        let head = format!(
            "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer tok-admin\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            map.len()
        );
        stream.write_all(&[head.as_bytes(), &map.as_bytes()[..map.len() - 1]].concat()).await.unwrap();
        stream.flush().await.unwrap();
        stream
    };
    let post =
        async || admin.request(Method::POST, CONFIG_MAPS).body("application/json", map.clone()).send().await;
    let mut waiting = vec![begin().await, begin().await];
    let refused = loop {
        // It is refused itself where the server reads it last.
        waiting.push(begin().await);
        let answer = post().await;
        if answer.status == 429 {
            break answer;
        }
        assert!([201, 409].contains(&answer.status), "{answer:?}");
    };
    assert_eq!(
        refused.refused(429, "TooManyRequests"),
        "too many bytes of request bodies are in memory; try again later"
    );
    // Others have their own, and what is given up makes room.
    server.user("bob").post(CONFIG_MAPS, &config_map("b", "1")).await.refused(403, "Forbidden");
    drop(waiting);
    let began = Instant::now();
    while post().await.status == 429 {
        assert!(began.elapsed() < LONG);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn an_operator_sets_how_fast_clients_must_read() {
    let quick = ["--min-read-rate=1GiB", "--min-read-rate-grace-period=100ms"];
    for (flags, is_cut) in [(&quick[..], true), (&["--min-read-rate=0"], false)] {
        let mut options = TestServer::options();
        for flag in flags {
            options = options.flag(*flag);
        }
        let server = options.start().await;
        let (admin, value) = (server.admin(), "x".repeat(1_000_000));
        for number in 0..16 {
            admin.post(CONFIG_MAPS, &config_map(&format!("m{number}"), &value)).await.expect(201);
        }
        let mut stream = connect(&server).await;
        let head = format!(
            "GET {CONFIG_MAPS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer tok-admin\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Longer than the server waits before it looks.
        tokio::time::sleep(Duration::from_secs(7)).await;
        let mut taken = Vec::new();
        let _ = stream.read_to_end(&mut taken).await;
        assert_eq!(taken.len() < 16_000_000, is_cut, "{}", taken.len());
    }
}

#[tokio::test]
async fn garbage_instead_of_tls_ends_the_connection() {
    let server = TestServer::start().await;
    for garbage in
        [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], b"\0\0\0\0\0\0\0\0", b"\x16\x03\x01\xff\xff\xff\xff"]
    {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "the connection stays open after {garbage:?}");
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn header_bombs_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let large = "x".repeat(4 * 1024 * 1024);
    let answer = admin.request(Method::GET, CONFIG_MAPS).header("x-large", &large).try_send().await;
    assert!(answer.as_ref().map_or(true, |answer| answer.status == 431), "{answer:?}");
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn http2_carries_many_requests_and_watches_on_one_connection() {
    let server = TestServer::start().await;
    let client = server.administrator_over(Protocol::Http2);
    let created = client.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/a")).await.expect(200), created);
    let mut watch = client.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    assert_eq!(name(&watch.expect("ADDED").await), "a");
    client.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    assert_eq!(name(&watch.expect("ADDED").await), "b");
}

#[tokio::test]
async fn an_operator_sets_what_one_user_may_have() {
    let server = TestServer::options().flag("--max-watches-per-user=2").start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let path = format!("{CONFIG_MAPS}?watch=1");
    let _open = [admin.watch(&path).await, admin.watch(&path).await];
    let refused = admin.request(Method::GET, &path).watch().await.err().expect("it is one too many");
    assert_eq!(refused.refused(429, "TooManyRequests"), "too many watches of this user; the limit is 2");
    // Other users have their own.
    bob.get(&path).await.refused(403, "Forbidden");
    admin.get(CONFIG_MAPS).await.expect(200);
}

/// A long answer counts until it is handed over: its head alone makes no room for the next one.
#[tokio::test]
async fn lists_that_nobody_reads_are_in_flight() {
    let server = TestServer::options().flag("--max-requests-per-user=2").start().await;
    let (admin, value) = (server.admin(), "x".repeat(500_000));
    for number in 0..20 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{number}"), &value)).await.expect(201);
    }
    for accept in ["application/json", "application/yaml"] {
        let mut open = Vec::new();
        for _ in 0..20 {
            let mut stream = connect(&server).await;
            let head = format!(
                "GET {CONFIG_MAPS} HTTP/1.1\r\nhost: a\r\naccept: {accept}\r\n\
                 authorization: Bearer tok-admin\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).await.unwrap();
            match &begin {
                b"HTTP/1.1 200" => open.push(stream),
                b"HTTP/1.1 429" => {}
                other => panic!("{}", String::from_utf8_lossy(other)),
            }
        }
        assert_eq!(open.len(), 2, "{accept}");
        let refused = admin.get(&format!("{CONFIG_MAPS}/m1")).await.refused(429, "TooManyRequests");
        assert_eq!(refused, "too many requests in flight of this user; the limit is 2");
        server.user("bob").get(CONFIG_MAPS).await.refused(403, "Forbidden");
        assert_eq!(admin.get("/livez").await.text(), "ok");
        // Who leaves makes room, and so does who has read all.
        drop(open);
        let began = Instant::now();
        while admin.get(&format!("{CONFIG_MAPS}/m1")).await.status == 429 {
            assert!(began.elapsed() < LONG);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        for _ in 0..4 {
            admin.get(CONFIG_MAPS).await.expect(200);
        }
    }
}
