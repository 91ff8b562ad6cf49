//! Services: what goes with no session affinity.

use crate::core::v1::ServiceSpec;

/// Without session affinity there is no configuration of it: Rust, because a value is taken away.
pub fn service_spec(value: &mut ServiceSpec) {
    if matches!(value.session_affinity.as_str(), "" | "None") {
        value.session_affinity_config = None;
    }
}
