//! A stream of watch events: one JSON document per line.

use std::time::Duration;

use bytes::BytesMut;
use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::connection::Connection;

/// How long a test waits for an event that must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// An open watch.
pub struct Watch {
    /// The headers of the answer.
    pub headers: HeaderMap,
    body: Incoming,
    buffer: BytesMut,
    // Dropping the sender would end the connection under the stream.
    _connection: Connection,
}

/// The outcome of a wait for an event.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Event(Value),
    /// The stream is over; the text says how.
    End(&'static str),
    /// Nothing came in the given time.
    Nothing,
}

impl Watch {
    pub(super) fn new(connection: Connection, headers: HeaderMap, body: Incoming) -> Self {
        Watch { headers, body, buffer: BytesMut::new(), _connection: connection }
    }

    /// The next event; panics where none comes.
    pub async fn event(&mut self) -> Value {
        match self.next(PATIENCE).await {
            Next::Event(event) => event,
            other => panic!("expected an event: {other:?}"),
        }
    }

    /// The next event, which must be of this type: its object.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let mut event = self.event().await;
        assert_eq!(event["type"], kind, "{event}");
        event["object"].take()
    }

    /// Panics where the stream does not end now, without another event.
    pub async fn expect_end(&mut self) {
        match self.next(PATIENCE).await {
            Next::End("complete") => {}
            other => panic!("expected the end of the stream: {other:?}"),
        }
    }

    /// The next event, if there is one in time.
    pub async fn next(&mut self, patience: Duration) -> Next {
        tokio::time::timeout(patience, self.line()).await.unwrap_or(Next::Nothing)
    }

    async fn line(&mut self) -> Next {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let event = serde_json::from_slice(&line)
                    .unwrap_or_else(|error| panic!("no event ({error}): {}", String::from_utf8_lossy(&line)));
                return Next::Event(event);
            }
            match self.body.frame().await {
                None if self.buffer.is_empty() => return Next::End("complete"),
                None => return Next::End("in the middle of an event"),
                Some(Err(_)) => return Next::End("broken"),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}
