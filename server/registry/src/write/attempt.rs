//! What every stage of one attempt at a write is given.

use crate::{context::RequestContext, options::WriteOptions, request::Target};

/// The request, the object and the options of a write. A stage reads them; what it changes is passed beside
/// them.
#[derive(Clone, Copy)]
pub struct Attempt<'w> {
    /// The request.
    pub cx: &'w RequestContext<'w>,
    /// The object that is written. Its name is empty for POST to a collection.
    pub target: &'w Target<'w>,
    /// How it is written.
    pub options: &'w WriteOptions,
}
