//! A server that is told to stop leads its clients away: while one of two stops, no request fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    Client, TestServer,
    client::{Protocol, tls_config},
    objects::{CONFIG_MAPS, config_map},
};
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{member::Member, replicas::over};

/// How many clients ask at the same time.
const CLIENTS: usize = 6;

/// Types of frames of HTTP/2 (RFC 9113 section 6).
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const PATIENCE: Duration = Duration::from_secs(30);

/// A connection of HTTP/2, frame by frame.
struct Frames(TlsStream<TcpStream>);

impl Frames {
    /// One on which a request was answered: a server says nothing to who never asked.
    async fn open(server: &TestServer) -> Self {
        let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http2);
        let stream = TcpStream::connect(server.address()).await.expect("the server listens");
        let name = ServerName::IpAddress(server.address().ip().into());
        let mut stream = TlsConnector::from(tls).connect(name, stream).await.expect("a handshake");
        // GET of https, a path and a host (RFC 7541 appendix A), on the first stream, which ends with it.
        let request = [&[0x82, 0x87, 0x04, 6][..], b"/livez", &[0x01, 9], b"localhost"].concat();
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice();
        let settings = [0, 0, 0, SETTINGS, 0, 0, 0, 0, 0];
        let head = [0, 0, request.len() as u8, HEADERS, 5, 0, 0, 0, 1];
        let asked = [preface, &settings, &head, &request].concat();
        stream.write_all(&asked).await.expect("the server listens");
        let mut frames = Self(stream);
        frames.next(HEADERS).await;
        frames
    }

    /// What is in the next frame of this type.
    async fn next(&mut self, kind: u8) -> Vec<u8> {
        loop {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).await.expect("no end without a word");
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length as usize];
            self.0.read_exact(&mut payload).await.expect("a frame is whole");
            if head[3] == kind {
                return payload;
            }
        }
    }
}

/// What a load balancer knows: which servers say that they are ready.
struct Balancer {
    clients: Vec<Client>,
    ready: [AtomicBool; 2],
    turn: AtomicU64,
    is_over: AtomicBool,
}

impl Balancer {
    async fn probe(&self, at: usize) {
        while !self.is_over.load(Ordering::Relaxed) {
            let answer = self.clients[at].request(Method::GET, "/readyz").try_send().await;
            self.ready[at].store(answer.is_ok_and(|answer| answer.status == 200), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// A server that is ready.
    fn choose(&self) -> &Client {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) as usize;
        let at = (0..2).map(|step| (turn + step) % 2).find(|at| self.ready[*at].load(Ordering::Relaxed));
        &self.clients[at.expect("one is ready")]
    }

    /// Writes and reads until it is over. Returns how many answers were good.
    async fn ask(&self, number: usize) -> usize {
        for round in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return round;
            }
            let name = format!("m{number}-{round}");
            let made = self.choose().request(Method::POST, CONFIG_MAPS).json(&config_map(&name, "1"));
            let made = made.try_send().await.expect("a write is answered");
            assert_eq!(made.status, 201, "{made:?}");
            let read = self.choose().request(Method::GET, &format!("{CONFIG_MAPS}/{name}")).try_send().await;
            assert_eq!(read.expect("a read is answered").json(), made.json());
        }
        0
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_one_of_two_servers_stops() {
    let Some(member) = Member::start() else { return };
    let mut leaving = over(&member, "/leaving").flag("--shutdown-delay-duration=2s").start().await;
    let staying = over(&member, "/leaving").start().await;
    let balancer = Arc::new(Balancer {
        clients: vec![leaving.admin(), staying.admin()],
        ready: [AtomicBool::new(true), AtomicBool::new(true)],
        turn: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    });
    let probes: Vec<_> = (0..2)
        .map(|at| {
            let balancer = Arc::clone(&balancer);
            tokio::spawn(async move { balancer.probe(at).await })
        })
        .collect();
    let asking: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let balancer = Arc::clone(&balancer);
            tokio::spawn(async move { balancer.ask(number).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    leaving.terminate().await;
    assert!(leaving.exited().await.success(), "{}", leaving.log());
    tokio::time::sleep(Duration::from_millis(500)).await;
    balancer.is_over.store(true, Ordering::Relaxed);
    for probe in probes {
        probe.await.expect("no probe panics");
    }
    let mut answered = 0;
    for asking in asking {
        answered += asking.await.expect("no request fails");
    }
    println!("{answered} writes and as many reads");
    assert!(answered > CLIENTS);
}

/// Connections that are open when a server stops are ended with a word, in each protocol.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_ended_with_a_word() {
    let Some(member) = Member::start() else { return };
    let mut server = over(&member, "/word").start().await;
    let mut frames = Frames::open(&server).await;
    let asking = {
        let admin = server.admin();
        let path = format!("{CONFIG_MAPS}?resourceVersion=999999&resourceVersionMatch=NotOlderThan");
        // The server waits three seconds for a version that nobody writes.
        tokio::spawn(async move { admin.get(&path).await })
    };
    let both = "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 2\n";
    let began = Instant::now();
    while !server.admin().get("/metrics").await.text().contains(both) {
        assert!(began.elapsed() < PATIENCE, "the request is not seen");
    }
    server.terminate().await;
    let told = tokio::time::timeout(PATIENCE, frames.next(GOAWAY)).await.expect("GOAWAY comes");
    assert_eq!(told[4..8], [0; 4], "it is no error");
    let answer = asking.await.expect("no client panics");
    assert_eq!((answer.status, answer.header("connection")), (504, "close"), "{answer:?}");
    assert!(server.exited().await.success(), "{}", server.log());
}
