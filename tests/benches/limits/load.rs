//! A closed loop of requests over a fixed number of connections: as fast as answers come, and nothing lost on
//! the way.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::{BodyExt, Full};
use orch_tests::{
    TestServer,
    client::{Connection, Protocol, connect, tls_config},
};
use tokio::sync::Mutex;

/// Open connections to one server.
pub struct Load {
    connections: Vec<Arc<Mutex<Connection>>>,
    requests: Arc<AtomicUsize>,
    answers: AtomicUsize,
}

/// What is sent; the body depends on the number of the request.
#[derive(Clone)]
pub struct Shape {
    method: Method,
    path: Arc<str>,
    template: Option<(&'static str, Arc<str>)>,
    status: u16,
    authorization: &'static str,
}

/// The administrator of test servers.
const ADMINISTRATOR: &str = "Bearer tok-admin";

impl Shape {
    /// The same with another credential.
    pub fn by(self, authorization: &'static str) -> Self {
        Shape { authorization, ..self }
    }
}

const JSON: &str = "application/json";

/// GET of a path.
pub fn get(path: &str) -> Shape {
    Shape {
        method: Method::GET,
        path: path.into(),
        template: None,
        status: 200,
        authorization: ADMINISTRATOR,
    }
}

/// POST of a template in which `NAME` is replaced by a new name each time.
pub fn create(collection: &str, template: &str) -> Shape {
    written(Method::POST, collection, JSON, template, 201)
}

/// PUT of a template in which `NAME` is replaced by a new text each time.
pub fn replace(item: &str, template: &str) -> Shape {
    written(Method::PUT, item, JSON, template, 200)
}

/// Server-side apply of such a template; the path names the manager.
pub fn apply(item: &str, template: &str) -> Shape {
    written(Method::PATCH, item, "application/apply-patch+yaml", template, 200)
}

fn written(method: Method, path: &str, media_type: &'static str, template: &str, status: u16) -> Shape {
    let template = Some((media_type, template.into()));
    Shape { method, path: path.into(), template, status, authorization: ADMINISTRATOR }
}

impl Load {
    /// Connects as the administrator of `server` to an address that shows the same certificate.
    pub async fn open(server: &TestServer, address: SocketAddr, protocol: Protocol, count: usize) -> Self {
        let tls = tls_config(&server.kubeconfig().certificate_authority, None, protocol);
        let mut connections = Vec::new();
        for _ in 0..count {
            let connection = connect(address, Arc::clone(&tls), protocol).await.expect("the server listens");
            connections.push(Arc::new(Mutex::new(connection)));
        }
        Load { connections, requests: Arc::default(), answers: AtomicUsize::new(0) }
    }

    /// Answers per second over some time.
    pub async fn run(&self, time: Duration, shape: Shape) -> f64 {
        let began = Instant::now();
        let answers = self.drive(shape, move |_| began.elapsed() < time).await;
        answers as f64 / began.elapsed().as_secs_f64()
    }

    /// Sends so many requests.
    pub async fn send(&self, count: usize, shape: Shape) {
        let end = self.requests.load(Ordering::Relaxed) + count;
        self.drive(shape, move |number| number < end).await;
    }

    async fn drive(&self, shape: Shape, go_on: impl Fn(usize) -> bool + Copy + Send + 'static) -> usize {
        let tasks: Vec<_> = self
            .connections
            .iter()
            .map(|connection| {
                let (connection, requests, shape) =
                    (Arc::clone(connection), Arc::clone(&self.requests), shape.clone());
                tokio::spawn(async move {
                    let mut connection = connection.lock().await;
                    let mut answers = 0;
                    loop {
                        let number = requests.fetch_add(1, Ordering::Relaxed);
                        if !go_on(number) {
                            return answers;
                        }
                        exchange(&mut connection, &shape, number).await;
                        answers += 1;
                    }
                })
            })
            .collect();
        let mut answers = 0;
        for task in tasks {
            answers += task.await.expect("no exchange fails");
        }
        self.answers.fetch_add(answers, Ordering::Relaxed);
        answers
    }

    /// How many answers have come in all runs.
    pub fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }
}

async fn exchange(connection: &mut Connection, shape: &Shape, number: usize) {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(header::AUTHORIZATION, HeaderValue::from_static(shape.authorization));
    let body = match &shape.template {
        None => Bytes::new(),
        Some((media_type, template)) => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
            Bytes::from(template.replace("NAME", &format!("object-{number:07}")))
        }
    };
    let sent = connection.send(shape.method.clone(), &shape.path, headers, Full::new(body)).await;
    let response = sent.expect("the exchange succeeds");
    assert_eq!(response.status().as_u16(), shape.status);
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.expect("the body is whole");
    }
}
