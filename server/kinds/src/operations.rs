//! Sub-resources that do something, with a body of a kind of their own: who does it.

mod eviction;
mod token;

use std::pin::Pin;

use orch_runtime::{Tree, resource_def::ResourceDef};

use crate::{
    error::Result,
    registry::{Answer, Call, options::WriteOptions},
};

/// Work in progress.
type Performing<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

/// Performs the operations of one sub-resource.
pub trait Operation: Send + Sync {
    /// Does what the body, which is of the sub-resource's kind, asks for the object that the call names.
    fn perform<'a>(&'a self, call: Call<'a>, body: Tree, options: &'a WriteOptions) -> Performing<'a>;
}

/// Who performs the operations of a sub-resource; nobody where it is not the product's own.
pub fn of(def: &ResourceDef, subresource: &str) -> Option<&'static dyn Operation> {
    match (def.group, def.kind, subresource) {
        ("", "Pod", "eviction") => Some(&eviction::Eviction),
        ("", "ServiceAccount", "token") => Some(&token::Token),
        _ => None,
    }
}
