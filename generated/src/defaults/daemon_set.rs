//! Daemon sets: the update strategy.

use crate::apps::v1::{DaemonSetUpdateStrategy, RollingUpdateDaemonSet};

/// The default strategy is `RollingUpdate`, and only this strategy gets default amounts. Amounts that are
/// given with another strategy are kept.
pub fn daemon_set_update_strategy(value: &mut DaemonSetUpdateStrategy) {
    if value.type_.is_empty() {
        "RollingUpdate".clone_into(&mut value.type_);
    }
    if value.type_ == "RollingUpdate" {
        value.rolling_update.get_or_insert_with(RollingUpdateDaemonSet::default);
    }
}
