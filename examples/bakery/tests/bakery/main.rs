//! What a bakery is to clients, in a running server; and that its schema files leave nothing out.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod changes;
mod keywords;
mod objects;
mod rules;
mod served;
mod told;

include!(concat!(env!("OUT_DIR"), "/bakery.rs"));

/// The laws of the conversion, with random bakeries; see `orch_proof`.
mod proofs {
    use crate as api;

    include!(concat!(env!("OUT_DIR"), "/bakery.proofs.rs"));
}
