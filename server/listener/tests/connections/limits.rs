//! More connections than may be open.

use std::sync::Arc;

use crate::{
    client::HTTP1,
    server::{describe, serve},
};

#[tokio::test]
async fn clients_beyond_the_limit_wait() {
    let server = Arc::new(serve(|config| config.max_connections = 1, describe).await);
    let mut first = server.open(HTTP1).await;
    first.get().await.unwrap();
    let waiting = Arc::clone(&server);
    let second = tokio::spawn(async move { waiting.open(HTTP1).await.get().await.unwrap() });
    // The first is server on while the second waits.
    for _ in 0..100 {
        first.get().await.unwrap();
        assert!(!second.is_finished());
    }
    drop(first);
    assert_eq!(second.await.unwrap(), "HTTP/1.1 none");
}
