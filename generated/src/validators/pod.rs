//! Rules of pods that no schema can state, one file per part of a pod.

mod node_selector;

pub use self::node_selector::{node_selector, node_selector_term};
