//! Audit: which requests are recorded, how an event looks, and where events go.
//!
//! A [`policy::Policy`] says how much is recorded of a request. An [`auditor::Auditor`] applies it and begins
//! a [`record::Record`] for a request that is to be recorded. The record collects what becomes known of the
//! request, and sends an [`event::Event`] to each backend at each stage of the request. Backends
//! ([`backend`]) are a log file and a webhook; their mode says whether the request waits for them.
//!
//! Nothing here knows HTTP, kinds or the store. Objects are JSON texts. The form of events is that of the
//! reference (`audit/v1`), spelled in the vocabulary of the server.

pub mod auditor;
pub mod backend;
pub mod counters;
pub mod error;
pub mod event;
pub mod object;
pub mod policy;
pub mod record;
