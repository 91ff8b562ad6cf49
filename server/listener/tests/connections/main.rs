//! Real clients over real sockets. Where time matters it is the runtime's own, which stands still until nobody has
//! anything to do.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::{
    body::{Body, Frame, Incoming},
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    client::ResolvesClientCert,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
    sign::CertifiedKey,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{Connection, Limits, Listener, tls};
use crate::config::{self, Invocation, ServingConfig};

type Answer = Response<Full<Bytes>>;

/// Longer than any limit.
const LONG: Duration = Duration::from_hours(1);

/// A server that runs until it is told to stop.
struct Served {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    stop: watch::Sender<bool>,
    done: JoinHandle<()>,
}

/// How a test client connects.
#[derive(Clone, Default)]
struct Client {
    http2: bool,
    certificate: Option<Arc<CertifiedKey>>,
}

#[derive(Debug)]
struct Presents(Arc<CertifiedKey>);

impl ResolvesClientCert for Presents {
    fn resolve(&self, _hints: &[&[u8]], _schemes: &[rustls::SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

const HTTP1: fn() -> Client = Client::default;
const HTTP2: fn() -> Client = || Client { http2: true, certificate: None };

fn serving_config(flags: &[&str]) -> ServingConfig {
    match config::parse(["server"].iter().chain(flags), &[&crate::test_catalog::ORCH]) {
        Ok(Invocation::Serve(config)) => config.serving,
        other => panic!("{other:?}"),
    }
}

fn self_signed() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

async fn serve<H, F, B>(change: impl FnOnce(&mut Limits), handler: H) -> Served
where
    H: Fn(Request<Incoming>, Arc<Connection>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    let (certificate, key) = self_signed();
    let tls = tls::server_config(vec![certificate.clone()], key).unwrap();
    let mut listener = Listener::bind(&serving_config(&["--secure-port=0"]), tls).await.unwrap();
    change(&mut listener.limits);
    let address = listener.local_address();
    let (stop, stopping) = watch::channel(false);
    let done = tokio::spawn(listener.serve(handler, stopping));
    Served { address, certificate, stop, done }
}

/// Answers with the version of HTTP and whether there is a client certificate.
async fn describe(request: Request<Incoming>, connection: Arc<Connection>) -> Answer {
    let certificate = if connection.peer_certificates().is_empty() { "none" } else { "some" };
    text(&format!("{:?} {certificate}", request.version()))
}

fn text(text: &str) -> Answer {
    Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())))
}

impl Served {
    async fn connect(&self, client: Client) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client.certificate {
            Some(certificate) => config.with_client_cert_resolver(Arc::new(Presents(certificate))),
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![if client.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        let stream = TcpStream::connect(self.address).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
    }

    async fn open(&self, client: Client) -> Requests {
        let http2 = client.http2;
        let io = TokioIo::new(self.connect(client).await.unwrap());
        if http2 {
            let (sender, driver) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
            Requests { sender: Sender::Http2(sender), closed: tokio::spawn(async { drop(driver.await) }) }
        } else {
            let (sender, driver) = http1::handshake(io).await.unwrap();
            Requests { sender: Sender::Http1(sender), closed: tokio::spawn(async { drop(driver.await) }) }
        }
    }

    /// Tells the server to stop and waits until it has.
    async fn stop(self) {
        self.stop.send_replace(true);
        self.done.await.unwrap();
    }
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// The client's end of a connection.
struct Requests {
    sender: Sender,
    closed: JoinHandle<()>,
}

impl Requests {
    async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<(StatusCode, String)> {
        let response = match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await?,
            Sender::Http2(sender) => sender.send_request(request).await?,
        };
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    async fn get(&mut self) -> hyper::Result<String> {
        let request = Request::get("https://localhost/").body(Empty::new()).unwrap();
        self.send(request).await.map(|(_, body)| body)
    }
}

#[tokio::test]
async fn both_versions_of_http_are_served() {
    let served = serve(|_| {}, describe).await;
    for (client, expected) in [(HTTP1(), "HTTP/1.1 none"), (HTTP2(), "HTTP/2.0 none")] {
        let mut requests = served.open(client).await;
        assert_eq!(requests.get().await.unwrap(), expected);
        assert_eq!(requests.get().await.unwrap(), expected, "a connection is kept");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_client_that_names_no_protocol_speaks_http1() {
    let served = serve(|_| {}, describe).await;
    let mut roots = RootCertStore::empty();
    roots.add(served.certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(served.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("HTTP/1.1 none"), "{answer}");
}

#[tokio::test]
async fn a_client_certificate_is_taken_down_whoever_issued_it() {
    let served = serve(|_| {}, describe).await;
    let (certificate, key) = self_signed();
    let known = CertifiedKey::from_der(vec![certificate], key, &aws_lc_rs::default_provider()).unwrap();
    let certificate = Some(Arc::new(known));
    for http2 in [false, true] {
        let client = Client { http2, certificate: certificate.clone() };
        let answer = served.open(client).await.get().await.unwrap();
        assert!(answer.ends_with(" some"), "{answer}");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_client_certificate_without_its_key_is_refused() {
    let served = serve(|_| {}, describe).await;
    let ((certificate, _), (_, other_key)) = (self_signed(), self_signed());
    let other_key = aws_lc_rs::sign::any_supported_type(&other_key).unwrap();
    let certificate = Some(Arc::new(CertifiedKey::new(vec![certificate], other_key)));
    // TLS 1.3 clients learn of the refusal with their first read.
    let outcome = match served.connect(Client { certificate, ..HTTP1() }).await {
        Ok(mut stream) => stream.read_u8().await.map(drop),
        Err(error) => Err(error),
    };
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("DecryptError"), "{error}");
}

#[tokio::test]
async fn a_client_without_tls_is_told_so() {
    let served = serve(|_| {}, describe).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.0 400 Bad Request\r\n"), "{answer:?}");
    assert!(answer.ends_with("Client sent an HTTP request to an HTTPS server.\n"), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_does_not_go_on_is_cut_off() {
    let served = serve(|_| {}, describe).await;
    for begun in [&b""[..], b"\x16\x03\x01\x02\x00"] {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        let read = tokio::time::timeout(LONG, stream.read_u8()).await.expect("still open");
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof, "{begun:?}");
    }
}

#[tokio::test]
async fn a_client_that_never_sends_a_request_is_cut_off() {
    let served = serve(|_| {}, describe).await;
    for client in [HTTP1(), HTTP2()] {
        let mut stream = served.connect(client).await.unwrap();
        tokio::time::pause();
        let mut rest = Vec::new();
        let end = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "still open");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_head_that_does_not_go_on_ends_the_connection() {
    let served = serve(|_| {}, describe).await;
    for begun in ["GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHo"] {
        let mut stream = served.connect(HTTP1()).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut answers = vec![0; 1000];
        if begun.contains("\r\n\r\n") {
            assert!(stream.read(&mut answers).await.unwrap() > 0, "no answer to the first");
        }
        tokio::time::pause();
        let rest = tokio::time::timeout(LONG, stream.read_to_end(&mut answers)).await;
        assert!(rest.is_ok(), "still open: {begun}");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let served = serve(|_| {}, describe).await;
    for client in [HTTP1(), HTTP2()] {
        let mut requests = served.open(client).await;
        requests.get().await.unwrap();
        tokio::time::pause();
        tokio::time::timeout(LONG, requests.closed).await.expect("still open").unwrap();
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_busy_connection_outlives_the_idle_time() {
    let gate = Arc::new(Semaphore::new(0));
    let open = Arc::clone(&gate);
    let handler = move |_, _| {
        let gate = Arc::clone(&open);
        async move {
            gate.acquire().await.unwrap().forget();
            text("late")
        }
    };
    let served = serve(|_| {}, handler).await;
    for client in [HTTP1(), HTTP2()] {
        let mut requests = served.open(client).await;
        let answer = tokio::spawn(async move { requests.get().await });
        tokio::time::pause();
        tokio::time::sleep(LONG).await;
        tokio::time::resume();
        gate.add_permits(1);
        assert_eq!(answer.await.unwrap().unwrap(), "late");
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    for (stall, cut) in [(LONG / 60, true), (LONG * 2, false)] {
        let (begun, served_to) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(Weak::new())));
        let (begins, client_of) = (Arc::clone(&begun), Arc::clone(&served_to));
        let handler = move |_, connection: Arc<Connection>| {
            *client_of.lock().unwrap() = Arc::downgrade(&connection);
            begins.add_permits(1);
            // More than sockets hold.
            async { Response::new(Full::new(Bytes::from(vec![b'x'; 64 << 20]))) }
        };
        let served = serve(|limits| limits.stall = stall, handler).await;
        let mut client = served.connect(HTTP1()).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        begun.acquire().await.unwrap().forget();
        tokio::time::pause();
        tokio::time::sleep(LONG).await;
        tokio::time::resume();
        assert_eq!(served_to.lock().unwrap().strong_count() == 0, cut, "{stall:?}");
    }
}

/// Gives pieces for ever, and tells when nobody wants them any more.
struct Endless(Arc<Semaphore>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 1000])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

#[tokio::test]
async fn a_stream_that_is_left_is_reset_and_its_connection_goes_on() {
    for path in ["https://localhost/", "https://localhost/?watch=1"] {
        let gone = Arc::new(Semaphore::new(0));
        let ends = Arc::clone(&gone);
        let handler = move |_, _| {
            let body = Endless(Arc::clone(&ends));
            async { Response::new(body) }
        };
        // Pings would be answered, but time that stands still does not wait for the answers.
        let served = serve(|limits| limits.stall = Duration::from_secs(20), handler).await;
        let mut requests = served.open(HTTP2()).await;
        let Sender::Http2(sender) = &mut requests.sender else { unreachable!("it speaks HTTP/2") };
        let request = || Request::get(path).body(Empty::<Bytes>::new()).unwrap();
        let mut left = sender.send_request(request()).await.unwrap().into_body();
        let mut first = left.frame().await.unwrap().unwrap();
        tokio::time::pause();
        gone.acquire().await.unwrap().forget();
        tokio::time::resume();
        // It has what was sent before, and then no end.
        let error = loop {
            match left.frame().await {
                Some(Ok(frame)) => first = frame,
                other => break other.unwrap().unwrap_err(),
            }
        };
        assert!(first.is_data() && !error.is_timeout(), "{error:?}");
        let answer = sender.send_request(request()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_handler_can_close_the_connection_after_its_answer() {
    let handler = |_, connection: Arc<Connection>| async move {
        connection.close_when_answered();
        text("bye")
    };
    let served = serve(|_| {}, handler).await;
    for client in [HTTP1(), HTTP2()] {
        let mut requests = served.open(client).await;
        assert_eq!(requests.get().await.unwrap(), "bye");
        requests.closed.await.unwrap();
    }
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let served = serve(|_| {}, describe).await;
    for (client, length, expected) in [
        (HTTP1(), 30_000, Some(StatusCode::OK)),
        (HTTP1(), 100_000, Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        (HTTP2(), 30_000, Some(StatusCode::OK)),
        (HTTP2(), 100_000, None),
    ] {
        let mut requests = served.open(client).await;
        let request = Request::get("https://localhost/").header("x-long", "x".repeat(length));
        let answer = requests.send(request.body(Empty::new()).unwrap()).await;
        match expected {
            Some(status) => assert_eq!(answer.unwrap().0, status, "{length}"),
            // An HTTP/2 client knows the limit and does not even send it, or is reset.
            None => assert!(answer.map_or(true, |(status, _)| status.is_client_error()), "{length}"),
        }
    }
}

#[tokio::test]
async fn a_panic_ends_its_connection_and_nothing_else() {
    let handler = |request: Request<Incoming>, _| async move {
        assert!(request.headers().is_empty() || request.headers().get("panic").is_none(), "as asked");
        text("fine")
    };
    let served = serve(|_| {}, handler).await;
    for client in [HTTP1(), HTTP2()] {
        let mut requests = served.open(client.clone()).await;
        let request = Request::get("https://localhost/").header("panic", "yes").body(Empty::new()).unwrap();
        requests.send(request).await.unwrap_err();
        assert_eq!(served.open(client).await.get().await.unwrap(), "fine");
    }
    served.stop().await;
}

#[tokio::test]
async fn clients_beyond_the_limit_wait_for_a_place() {
    let served = Arc::new(serve(|limits| limits.connections = 1, describe).await);
    let mut first = served.open(HTTP1()).await;
    first.get().await.unwrap();
    let waiting = Arc::clone(&served);
    let second = tokio::spawn(async move { waiting.open(HTTP1()).await.get().await.unwrap() });
    // The first is served on while the second waits.
    for _ in 0..100 {
        first.get().await.unwrap();
        assert!(!second.is_finished());
    }
    drop(first);
    assert_eq!(second.await.unwrap(), "HTTP/1.1 none");
}

/// A handler that says when it has begun and waits until it may go on.
fn slow(
    begun: Arc<Semaphore>,
    may_go_on: Arc<Semaphore>,
) -> impl Fn(Request<Incoming>, Arc<Connection>) -> Pin<Box<dyn Future<Output = Answer> + Send>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |_, _| {
        let (begun, may_go_on) = (Arc::clone(&begun), Arc::clone(&may_go_on));
        Box::pin(async move {
            begun.add_permits(1);
            may_go_on.acquire().await.unwrap().forget();
            text("finished")
        })
    }
}

#[tokio::test]
async fn a_shutdown_finishes_what_has_begun_and_takes_nothing_new() {
    for client in [HTTP1(), HTTP2()] {
        let (begun, may_go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let served = serve(|_| {}, slow(Arc::clone(&begun), Arc::clone(&may_go_on))).await;
        let mut idle = served.open(client.clone()).await;
        may_go_on.add_permits(1);
        idle.get().await.unwrap();
        begun.acquire().await.unwrap().forget();

        let mut requests = served.open(client.clone()).await;
        let answer = tokio::spawn(async move {
            let answer = requests.get().await.unwrap();
            requests.closed.await.unwrap();
            answer
        });
        begun.acquire().await.unwrap().forget();

        served.stop.send_replace(true);
        // An idle connection is closed at once, and new ones are refused; the busy one goes on.
        idle.closed.await.unwrap();
        served.connect(client).await.unwrap_err();
        assert!(!served.done.is_finished());

        may_go_on.add_permits(1);
        assert_eq!(answer.await.unwrap(), "finished");
        served.done.await.unwrap();
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_beyond_the_grace_period() {
    for client in [HTTP1(), HTTP2()] {
        let begun = Arc::new(Semaphore::new(0));
        let served = serve(|_| {}, slow(Arc::clone(&begun), Arc::new(Semaphore::new(0)))).await;
        let mut requests = served.open(client).await;
        let answer = tokio::spawn(async move { requests.get().await });
        begun.acquire().await.unwrap().forget();
        tokio::time::pause();
        served.stop().await;
        tokio::time::resume();
        answer.await.unwrap().unwrap_err();
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_clients_that_say_nothing() {
    let served = serve(|_| {}, describe).await;
    let silent_before_tls = TcpStream::connect(served.address).await.unwrap();
    let silent_http1 = served.connect(HTTP1()).await.unwrap();
    let silent_http2 = served.connect(HTTP2()).await.unwrap();
    served.stop().await;
    drop((silent_before_tls, silent_http1, silent_http2));
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_its_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let (certificate, key) = self_signed();
    let tls = tls::server_config(vec![certificate], key).unwrap();
    let port = format!("--secure-port={}", address.port());
    for (flags, expected) in [
        (
            vec![port.as_str()],
            format!(
                "--secure-port: cannot listen on {address}: another program listens there already \
                 (0 takes any free port)"
            ),
        ),
        (
            vec!["--bind-address=192.0.2.7"],
            "--bind-address: cannot listen on 192.0.2.7:6443: this machine has no such address".to_owned(),
        ),
    ] {
        let error = Listener::bind(&serving_config(&flags), Arc::clone(&tls)).await.err().unwrap();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exit_code(), std::process::ExitCode::from(2));
    }
}
