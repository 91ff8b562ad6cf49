//! Values that another program has written.

use orch_storage::{Body, Key};

/// Reads values that are not in the form of this server.
pub trait OtherForms: std::fmt::Debug + Send + Sync {
    /// The value of an object in the form of this server; `None` where it cannot be read.
    fn read(&self, key: &Key, value: &[u8]) -> Option<Body>;
}
