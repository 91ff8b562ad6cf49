//! The client of a WebSocket, which can also do what no client should.

use std::time::Duration;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use orch_tests::TestServer;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::client::TlsStream;

use crate::wire::connect;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);
const MASK: [u8; 4] = [0x11, 0x22, 0x33, 0x44];

pub const TEXT: u8 = 0x81;
pub const BINARY: u8 = 0x82;
pub const CLOSE: u8 = 0x88;
pub const PING: u8 = 0x89;
pub const PONG: u8 = 0x8a;

/// An open WebSocket.
pub struct Socket {
    stream: TlsStream<TcpStream>,
    /// The head of the answer.
    pub head: String,
}

/// A handshake with these fields beside the usual ones; a field replaces the usual one of its name.
pub fn handshake(path: &str, fields: &[(&str, &str)]) -> String {
    let usual = [
        ("host", "x"),
        ("authorization", "Bearer tok-admin"),
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let usual = usual.iter().filter(|(name, _)| fields.iter().all(|(other, _)| other != name));
    let lines = usual.chain(fields).filter(|(_, value)| !value.is_empty());
    let lines: Vec<String> = lines.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("GET {path} HTTP/1.1\r\n{}\r\n", lines.concat())
}

/// What the server answers to these bytes, until it closes the connection.
pub async fn answer(server: &TestServer, bytes: &[u8]) -> String {
    let mut stream = connect(server).await;
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is cut off ends like one that is closed.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the server closes it");
    String::from_utf8_lossy(&answer).into_owned()
}

impl Socket {
    /// Opens one; panics where the answer is another.
    pub async fn open(server: &TestServer, path: &str, fields: &[(&str, &str)]) -> Self {
        let mut stream = connect(server).await;
        stream.write_all(handshake(path, fields).as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("HTTP/1.1 101 "), "{path}: {head}");
        assert!(head.contains("\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{head}");
        Socket { stream, head }
    }

    /// The next frame: its first byte and what it holds.
    pub async fn frame(&mut self) -> (u8, Vec<u8>) {
        timeout(PATIENCE, self.read()).await.expect("a frame comes").expect("the connection goes on")
    }

    async fn read(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let stream = &mut self.stream;
        let first = stream.read_u8().await?;
        let length = match stream.read_u8().await? {
            126 => u64::from(stream.read_u16().await?),
            127 => stream.read_u64().await?,
            // A mask would be more than this.
            length @ ..126 => u64::from(length),
            other => panic!("a server masks nothing: {other}"),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await?;
        Ok((first, payload))
    }

    /// The next event.
    pub async fn event(&mut self) -> Value {
        let (first, payload) = self.frame().await;
        assert_eq!(first, TEXT, "{payload:?}");
        serde_json::from_slice(&payload).unwrap()
    }

    /// The next event, which must be of this type: its object.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let mut event = self.event().await;
        assert_eq!(event["type"], kind, "{event}");
        event["object"].take()
    }

    /// Sends a frame as a client does.
    pub async fn say(&mut self, first: u8, payload: &[u8]) {
        let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126).unwrap();
        let masked: Vec<u8> =
            payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        self.send(&[&[first, 0x80 | length][..], &MASK, &masked].concat()).await;
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// The code with which the server closes; panics where another frame comes.
    pub async fn closed(&mut self) -> u16 {
        let (first, payload) = self.frame().await;
        assert_eq!(first, CLOSE, "{}", String::from_utf8_lossy(&payload));
        u16::from_be_bytes([payload[0], payload[1]])
    }

    /// Panics where the connection does not end now.
    pub async fn expect_end(mut self) {
        let mut rest = Vec::new();
        let _ = timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await.expect("the server closes it");
        assert_eq!(rest, b"", "nothing comes after a close");
    }

    /// Answers the server's close, after which the server ends the connection.
    pub async fn agree(mut self, code: u16) {
        assert_eq!(self.closed().await, code);
        self.say(CLOSE, &code.to_be_bytes()).await;
        self.expect_end().await;
    }
}

/// A token as one of the protocols of a handshake.
pub fn token(secret: &str) -> String {
    format!("base64url.bearer.authorization.orch.io.{}", BASE64_URL_SAFE_NO_PAD.encode(secret))
}
