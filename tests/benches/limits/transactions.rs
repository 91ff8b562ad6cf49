//! The limit of writes over etcd: transactions of one put each, of the same bytes and from as many callers,
//! over one connection, and nothing else.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpStream, task::JoinSet};

/// An open connection to a member of etcd.
pub struct Transactions {
    sender: SendRequest<Full<Bytes>>,
    method: String,
    callers: usize,
    /// Each writes a key of its own.
    next: Arc<AtomicUsize>,
}

impl Transactions {
    /// A connection to `http://host:port` for so many callers.
    pub async fn open(url: &str, callers: usize) -> Self {
        let stream = TcpStream::connect(url.trim_start_matches("http://")).await.expect("etcd listens");
        stream.set_nodelay(true).expect("it is a socket");
        let (sender, driver) =
            handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("etcd speaks HTTP/2");
        tokio::spawn(driver);
        Transactions { sender, method: format!("{url}/etcdserverpb.KV/Txn"), callers, next: Arc::default() }
    }

    /// Transactions per second over some time, each with this value.
    pub async fn run(&self, value: &Bytes, time: Duration) -> f64 {
        let began = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..self.callers {
            let (mut sender, method) = (self.sender.clone(), self.method.clone());
            let (next, value) = (Arc::clone(&self.next), value.clone());
            callers.spawn(async move {
                let mut made = 0;
                while began.elapsed() < time {
                    let key = format!("/raw/configmaps/bench/o{:07}", next.fetch_add(1, Ordering::Relaxed));
                    let body = Full::new(transaction(key.as_bytes(), &value));
                    let request = Request::post(&method)
                        .header(header::CONTENT_TYPE, "application/grpc")
                        .header(header::TE, "trailers")
                        .body(body)
                        .expect("it is a request");
                    sender.ready().await.expect("etcd listens");
                    let answer = sender.send_request(request).await.expect("etcd answers");
                    let answer = answer.into_body().collect().await.expect("the answer is whole");
                    let status = answer.trailers().and_then(|trailers| trailers.get("grpc-status"));
                    assert!(status.is_some_and(|status| status == "0"), "{status:?}");
                    made += 1;
                }
                made
            });
        }
        let made: usize = callers.join_all().await.into_iter().sum();
        made as f64 / began.elapsed().as_secs_f64()
    }
}

/// A `TxnRequest` with one put, behind the prefix of gRPC.
fn transaction(key: &[u8], value: &[u8]) -> Bytes {
    let put = [field(1, key), field(2, value)].concat();
    let message = field(2, &field(2, &put));
    let length = (message.len() as u32).to_be_bytes();
    [&[0][..], &length, &message].concat().into()
}

/// A field of bytes in the format of protocol buffers.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}
