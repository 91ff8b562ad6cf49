//! Calls that go on when the request for which they are made has ended.

use orch_trace::request::{continued, current};
use tokio::task::JoinHandle;

/// Does something in a task of its own, which has the trace of the request that is being answered.
pub fn outliving<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(continued(current(), work))
}
