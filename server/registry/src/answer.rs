//! What verbs answer, before the HTTP layer puts it into a representation.

use std::sync::Arc;

use bytes::Bytes;
use orch_meta::meta::v1::Status;
use orch_storage::{Object, Revision};

use crate::{catalog::ServedResource, watch_stream::WatchStream};

/// The kinds of answers.
pub enum Answer {
    /// An object as it is stored.
    Object(Arc<Object>),
    /// An object that this request created, as it is stored.
    Created(Arc<Object>),
    /// An object that stays for now although the client expects a DELETE to remove it.
    Accepted(Arc<Object>),
    /// An object that is not in the store: the result of a dry run, the last state of a removed object, or
    /// the answer of a review or an operation.
    Transient {
        /// Its JSON text.
        json: Bytes,
        /// What the request, without dry run, does with it.
        outcome: Outcome,
    },
    /// A result without an object.
    Status(Box<Status>),
    /// A collection.
    List(List),
    /// A stream of events.
    Watch(Box<WatchStream>),
}

/// What a request does with an object that is answered and not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It shows, changes or removes it: 200.
    Done,
    /// It creates something: 201.
    Created,
    /// A DELETE that is expected to remove it leaves it for now: 202.
    Accepted,
}

/// The selected objects at one version of the store, or a page of them.
#[derive(Clone, Debug)]
pub struct List {
    /// Their kind.
    pub resource: Arc<ServedResource>,
    /// The version of the collection; the same on every page.
    pub revision: Revision,
    /// In the order of their keys.
    pub objects: Vec<Arc<Object>>,
    /// The continue token of the next page; empty on the last one.
    pub continue_token: String,
    /// How many objects the next pages hold. Not known for lists with selectors.
    pub remaining: Option<u64>,
}
