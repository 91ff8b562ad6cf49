//! Work that the server does by itself, beside requests: controllers, what runs them, and the product's own.
//!
//! A [`Controller`] brings the objects of one kind to where they should be, and a [`Trigger`] tells it of
//! changes of other kinds. A [`Runner`](runner::Runner) gives each controller its watching loop, its queue
//! and its workers, and of several servers lets one run it ([`leadership`]); a [`Monitor`](stats::Monitor)
//! tells how they are. Operators choose controllers by name ([`selection`]). The controllers of the product
//! ([`product`]) use nothing that those of a user cannot use.

pub mod account;
pub mod controller;
pub mod events;
#[cfg(test)]
mod fixture;
pub mod key;
pub mod leadership;
mod panic;
pub mod product;
mod queue;
pub mod replica;
pub mod runner;
pub mod selection;
mod slice;
pub mod source;
pub mod stats;
pub mod trigger;
mod watching;

pub use self::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::Trigger,
};
