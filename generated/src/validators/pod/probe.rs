//! Lifecycle handlers: how long they sleep.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{Container, LifecycleHandler};

/// A sleep is not longer than the termination grace period of the pod.
pub(super) fn sleeps(value: &Container, grace: Option<i64>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (Some(lifecycle), Some(grace)) = (&value.lifecycle, grace) else { return };
    let path = path.field("lifecycle");
    for (name, handler) in [("postStart", &lifecycle.post_start), ("preStop", &lifecycle.pre_stop)] {
        let is_only = |handler: &&LifecycleHandler| {
            handler.exec.is_none() && handler.http_get.is_none() && handler.tcp_socket.is_none()
        };
        let sleep = handler.as_ref().filter(is_only).and_then(|handler| handler.sleep.as_ref());
        let seconds = sleep.map_or(0, |sleep| sleep.seconds);
        if !(0..=grace).contains(&seconds) {
            let detail =
                format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
            cx.push(FieldError::invalid(&path.field(name).field("sleep"), &seconds, &detail));
        }
    }
}
