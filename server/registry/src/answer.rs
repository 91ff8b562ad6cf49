//! What verbs answer, before it is put into a representation.

use std::sync::Arc;

use bytes::Bytes;
use orch_meta::meta::v1::Status;
use orch_storage::{Object, Revision};

use crate::{catalog::ServedResource, watch_stream::WatchStream};

/// The kinds of answers.
pub enum Answer {
    /// An object as it is stored.
    Object(Arc<Object>),
    /// An object that was made by this request and is stored.
    Created(Arc<Object>),
    /// An object that stays for now although the client expects it to go.
    Accepted(Arc<Object>),
    /// An object that is not in the store: as a dry run would have left it, or as it was when it went. `created` tells
    /// which success code belongs to it.
    Transient {
        /// Its JSON text.
        json: Bytes,
        /// Whether the real request would have made it.
        created: bool,
    },
    /// A result that is no object.
    Status(Box<Status>),
    /// A collection.
    List(List),
    /// A stream of events.
    Watch(Box<WatchStream>),
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
    /// What to ask for the next page with; empty on the last one.
    pub continue_token: String,
    /// How many objects the next pages hold; not known where selectors choose them.
    pub remaining: Option<u64>,
}
