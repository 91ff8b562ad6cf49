//! Daemon sets: how pods are replaced.

use crate::apps::v1::{DaemonSetUpdateStrategy, RollingUpdateDaemonSet};

/// Pods are replaced one after the other unless something else is said, and then the amounts have defaults. Amounts that
/// are given with another strategy stay, for when the strategy changes back.
pub fn daemon_set_update_strategy(value: &mut DaemonSetUpdateStrategy) {
    if value.type_.is_empty() {
        "RollingUpdate".clone_into(&mut value.type_);
    }
    if value.type_ == "RollingUpdate" {
        value.rolling_update.get_or_insert_with(RollingUpdateDaemonSet::default);
    }
}
