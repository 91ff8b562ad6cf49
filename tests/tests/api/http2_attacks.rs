//! HTTP/2 as attackers speak it, frame by frame (RFC 9113): the connection ends, or costs next to nothing,
//! and nobody else notices.

use std::{sync::Arc, time::Duration};

use orch_tests::{
    TestServer,
    client::{Protocol, tls_config},
    objects::{CONFIG_MAPS, config_map},
};
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Longer than the server needs for anything here.
const LONG: Duration = Duration::from_secs(50);
/// What an attack may cost the server: a small part of what is sent.
const MEMORY: u64 = 48 << 20;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [head.as_slice(), payload].concat()
}

/// A request in the compression of headers (RFC 7541), by the static table where that has it.
fn head(method: u8, path: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat();
    // The method, the scheme `https`; then path, authority and the credential, which are not remembered.
    let mut head = vec![method, 0x87];
    head.extend([&[0x04][..], &text(path), &[0x01], &text("localhost")].concat());
    head.extend([&[0x00][..], &text("authorization"), &text("Bearer tok-admin")].concat());
    head
}

const GET: u8 = 0x82;
const POST: u8 = 0x83;

/// How much the system keeps of what goes to somebody who does not take it, at the client.
const BUFFER: u32 = 8 * 1024;
/// More pieces of 15 kB than the system takes for a server that has stopped reading, which keeps megabytes.
const ENDLESS: usize = 4_000;

/// A connection on which the settings are exchanged.
async fn connect(server: &TestServer) -> TlsStream<TcpStream> {
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http2);
    let socket = TcpSocket::new_v4().unwrap();
    // So that a server whose answers nobody reads can soon send no more.
    socket.set_recv_buffer_size(BUFFER).unwrap();
    socket.set_send_buffer_size(BUFFER).unwrap();
    let stream = socket.connect(server.address()).await.unwrap();
    let name = ServerName::IpAddress(server.address().ip().into());
    let mut stream = TlsConnector::from(Arc::clone(&tls)).connect(name, stream).await.unwrap();
    let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat();
    stream.write_all(&preface).await.unwrap();
    stream
}

/// What became of an attack.
#[derive(Debug)]
struct Outcome {
    /// How many of the pieces were sent before the connection ended.
    sent: usize,
    /// The reason that the server gave for the end.
    goaway: Option<u32>,
    /// By how much the server grew, in bytes.
    grown: u64,
}

/// Sends so many pieces as fast as the server takes them, while others are served; reads what comes back
/// where `reads` says so.
async fn attack(server: &TestServer, pieces: usize, reads: bool, piece: impl Fn(u32) -> Vec<u8>) -> Outcome {
    let others = server.administrator();
    others.get("/version").await.expect(200);
    let before = memory(server);
    let (mut from_server, mut to_server) = tokio::io::split(connect(server).await);
    let mut peak = before;
    let mut sent = 0;
    let reading = tokio::spawn(async move {
        let mut answer = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        while reads && let Ok(length @ 1..) = from_server.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..length]);
        }
        (answer, from_server)
    });
    for number in 0..pieces {
        let bytes = piece(u32::try_from(number).unwrap());
        match tokio::time::timeout(Duration::from_secs(2), to_server.write_all(&bytes)).await {
            Ok(Ok(())) => sent += 1,
            // It is closed, or the server takes no more.
            Ok(Err(_)) | Err(_) => break,
        }
        if number % (pieces / 8) == 0 {
            peak = peak.max(memory(server));
            others.get("/version").await.expect(200);
        }
    }
    // A server that takes no more would let this wait for a minute.
    let _ = tokio::time::timeout(Duration::from_secs(1), to_server.flush()).await;
    peak = peak.max(memory(server));
    others.post(CONFIG_MAPS, &config_map("beside", "1")).await;
    others.get(&format!("{CONFIG_MAPS}/beside")).await.expect(200);
    drop(to_server);
    let read = if reads { tokio::time::timeout(Duration::from_secs(2), reading).await.ok() } else { None };
    let answer = read.map(|read| read.unwrap().0).unwrap_or_default();
    let (goaway, _) = told(&answer);
    Outcome { sent, goaway, grown: peak.saturating_sub(before) }
}

/// The error of a GOAWAY among these frames, and the number of heads.
fn told(mut frames: &[u8]) -> (Option<u32>, usize) {
    let (mut goaway, mut heads) = (None, 0);
    while let Some((head, rest)) = frames.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        match head[3] {
            GOAWAY => goaway = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap())),
            HEADERS => heads += 1,
            _ => {}
        }
        frames = rest;
    }
    (goaway, heads)
}

/// What the server has in memory, in bytes.
fn memory(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// CVE-2023-44487: requests that are given up at once, which the server begins all the same.
#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let server = TestServer::start().await;
    let piece = |number: u32| {
        let stream = 2 * number + 1;
        let request = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(GET, CONFIG_MAPS));
        [request, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
    };
    // Many in one write, so that they are there before the first is begun.
    let burst = |number: u32| (0..100).flat_map(|each| piece(100 * number + each)).collect();
    let outcome = attack(&server, 200, true, burst).await;
    // ENHANCE_YOUR_CALM, where the reason comes through.
    assert!(outcome.sent < 200 && outcome.goaway.is_none_or(|code| code == 11), "{outcome:?}");
    assert!(outcome.grown < MEMORY, "{outcome:?}");
}

/// RUSTSEC-2024-0332: a head that goes on for ever.
#[tokio::test]
async fn a_head_without_an_end_ends_the_connection() {
    const PIECE: usize = 16_000;
    let server = TestServer::start().await;
    let outcome = attack(&server, 10_000, true, |number| {
        if number == 0 {
            return frame(HEADERS, END_STREAM, 1, &head(GET, "/version"));
        }
        // One field, whose value is made of the longest text that fits.
        let name = [&[0x00][..], &[3], b"x-a"].concat();
        let length = PIECE - 200;
        let value = [
            &[0x7f, u8::try_from((length - 127) % 128).unwrap() | 0x80][..],
            &[u8::try_from((length - 127) / 128).unwrap()],
            &vec![b'a'; length],
        ]
        .concat();
        frame(CONTINUATION, 0, 1, &[name, value].concat())
    })
    .await;
    assert!(outcome.sent < 10_000, "160 MB were taken: {outcome:?}");
    assert!(outcome.grown < MEMORY, "{outcome:?}");
}

/// Fields of two bytes that stand for a long one that was sent once.
#[tokio::test]
async fn a_head_that_unfolds_is_refused() {
    let server = TestServer::start().await;
    let name = [&[0x40, 3][..], b"x-a"].concat();
    let value = [&[0x7f, 0x80 | 0x11, 30][..], &vec![b'a'; 127 + 17 + 30 * 128]].concat();
    let outcome = attack(&server, 200, true, |number| {
        let stream = 2 * number + 1;
        let mut fields = head(GET, "/version");
        if number == 0 {
            fields.extend([name.as_slice(), &value].concat());
        } else {
            // The newest field of the dynamic table, 4,000 times: 16 MB.
            fields.extend(vec![0xbe; 4_000]);
        }
        frame(HEADERS, END_STREAM | END_HEADERS, stream, &fields)
    })
    .await;
    assert!(outcome.sent < 200 && outcome.grown < MEMORY, "{outcome:?}");
}

/// RUSTSEC-2026-0258: frames without content cost the sender nine bytes.
#[tokio::test]
async fn empty_frames_do_not_pile_up() {
    let server = TestServer::start().await;
    let outcome = attack(&server, 2_000, true, |number| {
        if number == 0 {
            return frame(HEADERS, END_HEADERS, 1, &head(POST, CONFIG_MAPS));
        }
        frame(DATA, 0, 1, &[]).repeat(500)
    })
    .await;
    assert!(outcome.sent < 2_000 && outcome.grown < MEMORY, "{outcome:?}");
}

/// Each asks for an answer, and the client takes none.
#[tokio::test]
async fn answers_that_nobody_reads_do_not_pile_up() {
    let server = TestServer::start().await;
    for asked in [frame(PING, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff])] {
        let burst = asked.repeat(1_000);
        let outcome = attack(&server, ENDLESS, false, |_| burst.clone()).await;
        // The server takes no more, and so keeps no answers.
        assert!(outcome.sent < ENDLESS && outcome.grown < MEMORY / 2, "{outcome:?}");
    }
}

/// A client that lets nothing be sent asks for much, on as many streams as it may have.
#[tokio::test]
async fn answers_without_a_window_are_not_made() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for number in 0..40 {
        let map = config_map(&format!("m{number}"), &"x".repeat(100_000));
        admin.post(CONFIG_MAPS, &map).await.expect(201);
    }
    // A GET of everything, a hundred times: 400 MB.
    let outcome = attack(&server, 101, false, |number| match number {
        0 => frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]),
        number => frame(HEADERS, END_STREAM | END_HEADERS, 2 * number - 1, &head(GET, CONFIG_MAPS)),
    })
    .await;
    assert!(outcome.sent == 101 && outcome.grown < MEMORY, "{outcome:?}");
}

/// Frames that make no sense end the connection, and it says why.
#[tokio::test]
async fn frames_that_make_no_sense_end_the_connection() {
    let server = TestServer::start().await;
    for (what, bytes) in [
        ("data of no stream", frame(DATA, 0, 0, b"x")),
        ("a stream of the server's", frame(HEADERS, END_HEADERS, 2, &head(GET, "/version"))),
        ("a continuation of nothing", frame(CONTINUATION, END_HEADERS, 1, &[])),
        ("settings of half a field", frame(SETTINGS, 0, 0, &[0, 4, 0])),
        ("a ping of four bytes", frame(PING, 0, 0, &[0; 4])),
        ("a frame beyond the limit", frame(DATA, 0, 1, &vec![0; 70_000])),
        ("fields of a table that is empty", frame(HEADERS, END_HEADERS, 1, &[0xfe; 9])),
        ("a number without an end", frame(HEADERS, END_HEADERS, 1, &[0xff; 40])),
    ] {
        let mut stream = connect(&server).await;
        let _ = stream.write_all(&bytes).await;
        let mut answer = Vec::new();
        let read = async {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                answer.extend_from_slice(&buffer[..length]);
            }
        };
        tokio::time::timeout(LONG, read).await.unwrap_or_else(|_| panic!("{what}: it stays open"));
        let (goaway, heads) = told(&answer);
        assert!(goaway.is_none_or(|code| code != 0) && heads == 0, "{what}: {goaway:?}, {heads} answers");
    }
    assert_eq!(server.admin().get("/readyz").await.text(), "ok");
}

/// Not an attack: a client is told to open another connection, and loses no request by that.
#[tokio::test]
async fn clients_are_led_to_other_servers() {
    let server = TestServer::options().flag("--goaway-chance=0.02").start().await;
    let mut stream = connect(&server).await;
    let (mut answers, mut buffer) = (Vec::new(), [0; 4096]);
    let mut sent = 0;
    // The chance that none of so many ends the connection is 10^-35.
    while told(&answers).0.is_none() && sent < 4_000 {
        let stream_number = u32::try_from(2 * sent + 1).unwrap();
        let request = frame(HEADERS, END_STREAM | END_HEADERS, stream_number, &head(GET, "/version"));
        stream.write_all(&request).await.unwrap();
        sent += 1;
        while told(&answers).1 < sent {
            let length = tokio::time::timeout(LONG, stream.read(&mut buffer)).await.unwrap().unwrap();
            assert_ne!(length, 0, "it ends before the answer of request {sent}");
            answers.extend_from_slice(&buffer[..length]);
        }
    }
    assert_eq!(told(&answers), (Some(0), sent));
}
