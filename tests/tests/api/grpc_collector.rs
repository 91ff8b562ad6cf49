//! A collector of traces that speaks gRPC over HTTP/2 without TLS, and reads the spans that it gets.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// What a call is answered with: the numbers of gRPC, for each call in turn; the last one for all others.
type Statuses = &'static [u16];

/// A collector that listens until it is dropped.
pub struct Collector {
    pub address: SocketAddr,
    calls: Arc<Mutex<Vec<Bytes>>>,
    task: tokio::task::JoinHandle<()>,
}

/// A value of a message by the number of its field: all of them, in order.
pub type Fields = BTreeMap<u64, Vec<Field>>;

/// A value of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Number(u64),
    Bytes(Bytes),
}

impl Field {
    pub fn number(&self) -> u64 {
        let Field::Number(number) = self else { panic!("{self:?}") };
        *number
    }

    pub fn bytes(&self) -> &Bytes {
        let Field::Bytes(bytes) = self else { panic!("{self:?}") };
        bytes
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(self.bytes()).unwrap()
    }
}

impl Collector {
    pub async fn start(statuses: Statuses) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, calls) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<Bytes>>>::default());
        let all = Arc::clone(&calls);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let all = Arc::clone(&all);
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(request, Arc::clone(&all), statuses));
                    let builder = http2::Builder::new(TokioExecutor::new());
                    // The server under test may leave whenever it likes.
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Collector { address, calls, task }
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// All spans of all calls.
    pub fn spans(&self) -> Vec<Fields> {
        let calls = self.calls.lock().unwrap().clone();
        let mut spans = Vec::new();
        for of_resource in calls.iter().flat_map(|call| messages(call, 1)) {
            for of_scope in messages(&of_resource, 2) {
                spans.extend(messages(&of_scope, 2).iter().map(fields));
            }
        }
        spans
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    all: Arc<Mutex<Vec<Bytes>>>,
    statuses: Statuses,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, hyper::Error> {
    assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    assert_eq!(request.headers()["content-type"], "application/grpc");
    assert_eq!(request.headers()["te"], "trailers");
    let body = request.into_body().collect().await?.to_bytes();
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
    assert_eq!((body[0], length), (0, body.len() - 5));
    let number = {
        let mut all = all.lock().unwrap();
        all.push(body.slice(5..));
        all.len() - 1
    };
    let status = statuses[number.min(statuses.len() - 1)];
    let trailers = HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from(status))]);
    let empty = Full::new(Bytes::from_static(&[0; 5]));
    let body = empty.with_trailers(async { Some(Ok(trailers)) }).boxed_unsync();
    Ok(Response::builder().header("content-type", "application/grpc").body(body).unwrap())
}

/// The messages in a field of a message.
pub fn messages(message: &Bytes, field: u64) -> Vec<Bytes> {
    let found = fields(message).remove(&field).unwrap_or_default();
    found.iter().map(|value| value.bytes().clone()).collect()
}

/// The fields of a message (<https://protobuf.dev/programming-guides/encoding>).
pub fn fields(message: &Bytes) -> Fields {
    let (mut rest, mut fields) = (message.clone(), Fields::new());
    while !rest.is_empty() {
        let tag = varint(&mut rest);
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut rest)),
            1 => Field::Number(u64::from_le_bytes(rest.split_to(8).as_ref().try_into().unwrap())),
            2 => {
                let length = varint(&mut rest) as usize;
                Field::Bytes(rest.split_to(length))
            }
            other => panic!("wire type {other}"),
        };
        fields.entry(tag >> 3).or_default().push(value);
    }
    fields
}

fn varint(rest: &mut Bytes) -> u64 {
    let length = rest.iter().position(|byte| *byte < 0x80).unwrap() + 1;
    let bytes = rest.split_to(length);
    bytes.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
}
