//! Daemon sets: how pods are replaced.

use crate::apps::v1::{DaemonSetUpdateStrategy, RollingUpdateDaemonSet};

/// Pods are replaced one after the other unless something else is said. Amounts only belong to that strategy.
pub fn daemon_set_update_strategy(value: &mut DaemonSetUpdateStrategy) {
    if value.type_.is_empty() {
        "RollingUpdate".clone_into(&mut value.type_);
    }
    match value.type_.as_str() {
        "RollingUpdate" => {
            value.rolling_update.get_or_insert_with(RollingUpdateDaemonSet::default);
        }
        "OnDelete" => value.rolling_update = None,
        _ => {}
    }
}
