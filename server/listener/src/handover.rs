//! Another protocol after HTTP/1 on a connection.
//!
//! A client can only ask for it. Its bytes are handed over when a handler has said who goes on with them,
//! has answered that very request with 101, and the whole head of that answer was sent. Until then every byte
//! is HTTP and looked at as such.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;
use http::StatusCode;
use hyper::upgrade::OnUpgrade;
use tokio::io::{AsyncRead, AsyncWrite};

/// What the client sends and gets, inside its encryption.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// The bytes of a client that speaks HTTP no more.
pub type ClientStream = Box<dyn Duplex>;

/// Goes on with a connection, to its end.
pub type Successor = Box<dyn FnOnce(ClientStream) -> BoxFuture<'static, ()> + Send>;

/// Who is to go on, until the request that is being answered has its answer.
#[derive(Default)]
pub struct Prepared(Mutex<Option<Successor>>);

/// What was agreed on with the client of one connection. It belongs to the task of the connection, and ends
/// with it.
#[derive(Clone, Default)]
pub struct Agreed(Arc<Mutex<Option<(OnUpgrade, Successor)>>>);

impl Prepared {
    /// Names who goes on where the answer is a 101.
    pub fn set(&self, successor: Successor) {
        *locked(&self.0) = Some(successor);
    }
}

impl Agreed {
    /// A request was answered. `upgrade` is what it asked for.
    pub fn answered(&self, status: StatusCode, upgrade: OnUpgrade, prepared: &Prepared) {
        let successor = locked(&prepared.0).take();
        if status == StatusCode::SWITCHING_PROTOCOLS {
            *locked(&self.0) = successor.map(|successor| (upgrade, successor));
        }
    }

    /// What holds when HTTP has ended.
    pub fn take(&self) -> Option<(OnUpgrade, Successor)> {
        locked(&self.0).take()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Prepared").finish_non_exhaustive()
    }
}
