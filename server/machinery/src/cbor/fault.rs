//! What can be wrong with bytes that should be CBOR.

use std::{borrow::Cow, fmt};

/// Why bytes cannot be read. The text is meant for the client.
#[derive(Debug, thiserror::Error)]
#[error("cbor: {0}")]
pub struct Fault(Cow<'static, str>);

impl Fault {
    pub const END: Fault = Fault(Cow::Borrowed("unexpected end of the document"));

    pub const fn of(what: &'static str) -> Self {
        Fault(Cow::Borrowed(what))
    }

    pub const fn with(what: String) -> Self {
        Fault(Cow::Owned(what))
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault(Cow::Owned(message.to_string()))
    }
}
