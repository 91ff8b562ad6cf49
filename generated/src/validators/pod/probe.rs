//! Probes and lifecycle handlers: exactly one action each.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::{Container, HTTPHeader, LifecycleHandler, Probe};

/// There is exactly one action.
pub fn probe(value: &Probe, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = [
        ("exec", value.exec.is_some()),
        ("httpGet", value.http_get.is_some()),
        ("tcpSocket", value.tcp_socket.is_some()),
        ("grpc", value.grpc.is_some()),
    ];
    one_action(&given, path, cx);
}

/// There is exactly one action.
pub fn lifecycle_handler(value: &LifecycleHandler, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = [
        ("exec", value.exec.is_some()),
        ("httpGet", value.http_get.is_some()),
        ("tcpSocket", value.tcp_socket.is_some()),
        ("sleep", value.sleep.is_some()),
    ];
    one_action(&given, path, cx);
}

fn one_action(handlers: &[(&str, bool)], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut given = handlers.iter().filter(|(_, given)| *given);
    if given.next().is_none() {
        cx.push(FieldError::required(path, "must specify a handler type"));
    }
    for (name, _) in given {
        cx.retract(&path.field(name));
        let detail = "may not specify more than 1 handler type";
        cx.push(FieldError::forbidden(&path.field(name), detail));
    }
}

/// The names of headers are valid. Errors are reported at the list, without the index.
pub fn http_headers(value: &[HTTPHeader], path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    for name in value.iter().map(|header| header.name.as_str()) {
        if name.is_empty() || !name.bytes().all(is_allowed) {
            let detail = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. \
                          'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
            cx.push(FieldError::invalid(path, name, detail));
        }
    }
}

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
