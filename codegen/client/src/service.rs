//! The layer of a client that adds credentials: one that is valid, and where the answer is a 401, once more
//! with a fresh one.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture};
use http::{Request, Response, StatusCode, header::AUTHORIZATION, request::Parts};
use http_body_util::{BodyExt, BodyStream, StreamBody, combinators::UnsyncBoxBody};
use kube::client::Body;
use tokio::sync::watch;
use tower_service::Service;

use crate::{
    credential::{Credential, Proof},
    source::Source,
    transport::{Transport, Transports},
};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// Sends requests with the credentials of a source.
#[derive(Clone)]
pub struct Authenticated(Arc<Inner>);

struct Inner {
    transports: Transports,
    source: Source,
}

impl Authenticated {
    /// Sends requests on these connections, with credentials of this source.
    pub fn new(transports: Transports, source: Source) -> Self {
        Authenticated(Arc::new(Inner { transports, source }))
    }
}

impl Service<Request<Body>> for Authenticated {
    type Response = Answer;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.send(request).await })
    }
}

impl Inner {
    async fn send(&self, request: Request<Body>) -> Result<Answer, BoxError> {
        let (parts, body) = request.into_parts();
        // Who brings a credential wants to be that, and no other.
        if parts.headers.contains_key(AUTHORIZATION) {
            return on(self.transports.current(), Request::from_parts(parts, body)).await;
        }
        // It may be sent twice.
        let body = body.collect_bytes().await?;
        let credential = self.source.credential().await?;
        let answer = self.send_as(&parts, body.clone(), &credential).await?;
        if answer.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        self.source.refused(&credential);
        let fresh = self.source.credential().await?;
        if Arc::ptr_eq(&fresh, &credential) {
            return Ok(answer);
        }
        drop(answer);
        let answer = self.send_as(&parts, body, &fresh).await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            self.source.refused(&fresh);
        }
        Ok(answer)
    }

    async fn send_as(
        &self,
        parts: &Parts,
        body: Bytes,
        credential: &Arc<Credential>,
    ) -> Result<Answer, BoxError> {
        let transport = match self.transports.of(credential, self.source.name()) {
            Ok(transport) => transport,
            Err(_) if self.source.may_be_half_replaced() => self.transports.current(),
            Err(error) => {
                // It can never be used: the next request asks for another one.
                self.source.refused(credential);
                return Err(error.into());
            }
        };
        let mut request = Request::from_parts(parts.clone(), Body::from(body));
        if let Proof::Header(value) = &credential.proof {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        on(transport, request).await
    }
}

/// Sends a request on these connections. The answer to a watch ends when they are replaced.
async fn on(transport: Transport, request: Request<Body>) -> Result<Answer, BoxError> {
    let is_watch = is_watch(request.uri().query().unwrap_or_default());
    let answer = transport.client.send(request).await?;
    Ok(answer.map(|body| {
        let body = body.map_err(BoxError::from);
        if is_watch {
            let end = Box::pin(replaced(transport.replaced));
            StreamBody::new(BodyStream::new(body).take_until(end)).boxed_unsync()
        } else {
            body.boxed_unsync()
        }
    }))
}

/// Ends when the connections are replaced, and not where the client is dropped.
async fn replaced(mut told: watch::Receiver<bool>) {
    if told.wait_for(|replaced| *replaced).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether a query asks for a watch.
fn is_watch(query: &str) -> bool {
    query.split('&').any(|part| matches!(part, "watch" | "watch=true" | "watch=1"))
}

#[cfg(test)]
mod tests {
    use super::is_watch;

    #[test]
    fn watches_are_known_by_their_query() {
        for (query, expected) in [
            ("", false),
            ("watch=true", true),
            ("&watch=true&timeoutSeconds=290", true),
            ("limit=5&watch=1", true),
            ("watch=false", false),
            ("labelSelector=watch%3Dtrue", false),
        ] {
            assert_eq!(is_watch(query), expected, "{query}");
        }
    }
}
