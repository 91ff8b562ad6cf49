//! What a shutdown finishes, and what it cuts.

use std::{pin::Pin, sync::Arc};

use http::Request;
use hyper::body::Incoming;
use tokio::{net::TcpStream, sync::Semaphore};

use crate::{
    client::{HTTP1, HTTP2},
    server::{Answer, Connection, describe, serve, text},
};

/// A handler that adds a permit when it begins, and waits for one before it answers.
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
    for client in [HTTP1, HTTP2] {
        let (begun, may_go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let server = serve(|_| {}, slow(Arc::clone(&begun), Arc::clone(&may_go_on))).await;
        let mut idle = server.open(client.clone()).await;
        may_go_on.add_permits(1);
        idle.get().await.unwrap();
        begun.acquire().await.unwrap().forget();

        let mut requests = server.open(client.clone()).await;
        let answer = tokio::spawn(async move {
            let answer = requests.get().await.unwrap();
            requests.closed.await.unwrap();
            answer
        });
        begun.acquire().await.unwrap().forget();

        server.stop.send_replace(true);
        // An idle connection is closed at once, and new ones are refused; the busy one goes on.
        idle.closed.await.unwrap();
        server.connect(client).await.unwrap_err();
        assert!(!server.done.is_finished());

        may_go_on.add_permits(1);
        assert_eq!(answer.await.unwrap(), "finished");
        server.done.await.unwrap();
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_beyond_the_grace_period() {
    for client in [HTTP1, HTTP2] {
        let begun = Arc::new(Semaphore::new(0));
        let server = serve(|_| {}, slow(Arc::clone(&begun), Arc::new(Semaphore::new(0)))).await;
        let mut requests = server.open(client).await;
        let answer = tokio::spawn(async move { requests.get().await });
        begun.acquire().await.unwrap().forget();
        tokio::time::pause();
        server.stop().await;
        tokio::time::resume();
        answer.await.unwrap().unwrap_err();
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_silent_clients() {
    let server = serve(|_| {}, describe).await;
    let silent_before_tls = TcpStream::connect(server.address).await.unwrap();
    let silent_http1 = server.connect(HTTP1).await.unwrap();
    let silent_http2 = server.connect(HTTP2).await.unwrap();
    server.stop().await;
    drop((silent_before_tls, silent_http1, silent_http2));
}
