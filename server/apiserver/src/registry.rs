//! What the verbs do: small functions over the same steps, for every kind alike.
//!
//! A read takes a snapshot, selects and returns stored bytes. A write decodes the body, takes over what the client
//! does not own, lets the kind's hook adjust, fills defaults, validates and commits; `write` holds these steps
//! in their order. Updates are functions of the current object and run again when a race is lost. Nothing here
//! knows HTTP; the answers are turned into responses by [`response`](crate::response).

pub mod admission;
pub mod body;
pub mod body_format;
pub mod configuration;
pub mod continue_token;
pub mod create;
pub mod current;
pub mod delete;
pub mod delete_collection;
pub mod get;
pub mod grace;
pub mod index;
pub mod label_digest;
pub mod list;
pub mod metadata;
pub mod operate;
pub mod options;
pub mod own_change;
pub mod owners;
pub mod patch;
pub mod read_version;
pub mod review;
pub mod selection;
pub mod store_error;
pub mod turn;
pub mod unsafe_delete;
pub mod update;
pub mod watch;
pub mod write;

use std::sync::Arc;

use bytes::Bytes;
use orch_api::meta::v1::Status;
use orch_storage::Object;

use crate::{app::App, permission::Asker, query::Query, request_info::Target};

/// One request, as the registry sees it.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The server.
    pub app: &'a Arc<App>,
    /// What to do with which resource.
    pub target: &'a Target<'a>,
    /// The query parameters.
    pub query: &'a Query,
    /// What the client calls itself; a write without a field manager is recorded under it.
    pub user_agent: &'a str,
    /// Who asks; absent where the server acts by itself.
    pub asker: Option<Asker<'a>>,
}

/// What a verb answers, before it is put into a representation.
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// Things that the client should know, each for one `Warning` header.
    pub warnings: Vec<String>,
}

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
    List(list::List),
    /// A stream of events.
    Watch(Box<watch::WatchStream>),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Reply { answer, warnings: Vec::new() }
    }
}
