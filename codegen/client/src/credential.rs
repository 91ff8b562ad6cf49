//! What a client shows to say who it is.

use std::{fmt, sync::Arc};

use http::HeaderValue;

/// A credential, and how long it may be used.
pub struct Credential {
    /// What is shown.
    pub proof: Proof,
    /// In seconds since 1970: from then on it must not be used. Without it, it has no end.
    pub expires: Option<i64>,
    /// Grows with each credential of one source.
    pub serial: u64,
}

/// What is shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// The value of the header `Authorization`, marked as sensitive.
    Header(HeaderValue),
    /// A certificate of the connection.
    Certificate(Arc<Identity>),
}

/// A client certificate with its key, both PEM. The certificate may be followed by intermediate ones.
#[derive(PartialEq, Eq)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// Prints nothing that is secret.
impl fmt::Debug for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.proof {
            Proof::Header(_) => "token",
            Proof::Certificate(_) => "certificate",
        };
        write!(out, "Credential({kind} {}, expires: {:?})", self.serial, self.expires)
    }
}

impl Proof {
    /// A bearer token; nothing where it has characters that a header cannot have.
    pub fn bearer(token: &str) -> Option<Self> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
        value.set_sensitive(true);
        Some(Proof::Header(value))
    }
}

impl Credential {
    /// Whether it may be used at this time, in seconds since 1970.
    pub fn is_valid(&self, now: i64) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}
