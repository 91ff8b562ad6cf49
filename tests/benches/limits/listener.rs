//! A client that hears many watches and does nothing else: it takes HTTP/2 frames from the stream as they
//! come and looks for marks in them. What it leaves of the machine is the server's.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use bytes::{Buf, BytesMut};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::heard::Heard;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// Flags of frames.
const ACKNOWLEDGED: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Settings, and values that make the server never wait for this client and never cut an event in two.
const INITIAL_WINDOW: [u8; 6] = [0, 4, 0x7f, 0xff, 0xff, 0xff];
const MAX_FRAME: [u8; 6] = [0, 5, 0, 0xff, 0xff, 0xff];
const CONNECTION_WINDOW: u32 = 0x7fff_ffff - 65_535;

const FRAME_HEAD: usize = 9;

/// `:status: 200` of the static table.
const STATUS_OK: u8 = 0x88;

/// Bytes that are read at a time.
const READ_BYTES: usize = 256 * 1024;

/// Watches on one connection.
pub struct Listener {
    stream: TlsStream<TcpStream>,
    buffer: BytesMut,
}

impl Listener {
    /// Opens this many watches of a path; when it returns, all of them run.
    pub async fn open(address: SocketAddr, tls: Arc<ClientConfig>, path: &str, watches: usize) -> Self {
        let tcp = TcpStream::connect(address).await.expect("the server listens");
        tcp.set_nodelay(true).expect("a fresh socket takes options");
        let name = ServerName::from(address.ip());
        let mut stream = TlsConnector::from(tls).connect(name, tcp).await.expect("the server speaks TLS");
        let mut out = PREFACE.to_vec();
        put_frame(&mut out, SETTINGS, 0, 0, &[INITIAL_WINDOW, MAX_FRAME].concat());
        put_frame(&mut out, WINDOW_UPDATE, 0, 0, &CONNECTION_WINDOW.to_be_bytes());
        let head = request_head(path);
        for number in 0..watches as u32 {
            put_frame(&mut out, HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &head);
        }
        stream.write_all(&out).await.expect("the server reads");
        let mut listener = Listener { stream, buffer: BytesMut::new() };
        let mut running = 0;
        while running < watches {
            let (kind, payload) = listener.frame().await.expect("the connection stays");
            if kind == HEADERS {
                assert_eq!(payload.first(), Some(&STATUS_OK), "the watch begins");
                running += 1;
            }
        }
        listener
    }

    /// Tells what is heard, until the server ends the connection.
    pub async fn listen(mut self, heard: Arc<Heard>, epoch: Instant) {
        let mut latencies = Vec::new();
        while let Some((kind, payload)) = self.frame().await {
            if kind == DATA {
                let now = epoch.elapsed().as_micros() as f64;
                // There is no other at sign in these objects.
                let text = str::from_utf8(&payload).expect("events are text");
                latencies.extend(text.match_indices('@').map(|(at, _)| {
                    let digits = text.as_bytes()[at + 1..].iter().take_while(|byte| byte.is_ascii_digit());
                    let sent = digits.fold(0_f64, |number, digit| number * 10.0 + f64::from(digit - b'0'));
                    (now - sent) / 1e3
                }));
            }
            if self.buffer.is_empty() || latencies.len() >= 1000 {
                heard.tell(&mut latencies);
            }
        }
    }

    /// The next frame that means something here; none when the connection is over.
    async fn frame(&mut self) -> Option<(u8, BytesMut)> {
        loop {
            let mut payload = loop {
                if let Some(length) = whole_frame(&self.buffer) {
                    break self.buffer.split_to(length);
                }
                self.buffer.reserve(READ_BYTES);
                if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                    return None;
                }
            };
            let (kind, flags) = (payload[3], payload[4]);
            payload.advance(FRAME_HEAD);
            match kind {
                GO_AWAY => return None,
                SETTINGS | PING if flags & ACKNOWLEDGED == 0 => {
                    let mut answer = Vec::new();
                    let echo: &[u8] = if kind == PING { &payload } else { &[] };
                    put_frame(&mut answer, kind, ACKNOWLEDGED, 0, echo);
                    self.stream.write_all(&answer).await.ok()?;
                }
                kind => return Some((kind, payload)),
            }
        }
    }
}

/// The length of the frame that the bytes begin with, if all of it is there.
fn whole_frame(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..FRAME_HEAD)?;
    let length = FRAME_HEAD + u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    (bytes.len() >= length).then_some(length)
}

fn put_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// The head of a GET, with names from the static table and plain values.
fn request_head(path: &str) -> Vec<u8> {
    const GET: u8 = 0x82;
    const HTTPS: u8 = 0x87;
    const PATH: &[u8] = &[0x04];
    const AUTHORITY: &[u8] = &[0x01];
    const AUTHORIZATION: &[u8] = &[0x0f, 0x08];
    let mut head = vec![GET, HTTPS];
    for (name, value) in [(PATH, path), (AUTHORITY, "bench"), (AUTHORIZATION, "Bearer tok-admin")] {
        head.extend_from_slice(name);
        let length = u8::try_from(value.len()).expect("values are short");
        assert!(length < 0x7f, "values are short");
        head.push(length);
        head.extend_from_slice(value.as_bytes());
    }
    head
}
