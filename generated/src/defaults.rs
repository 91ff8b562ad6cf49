//! Defaults that depend on several fields; schema files call them by name (`x-orch-defaulter: persistent_volume`).

mod storage;

pub use self::storage::{persistent_volume, persistent_volume_claim};
