//! Ports of containers, and references to them.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    rule,
    scalar::IntOrString,
};

use crate::core::v1::ContainerPort;

/// The highest port number.
const PORT_MAX: i32 = 65535;
/// The maximum length of a port name, in bytes.
const NAME_MAX: usize = 15;

/// Numbers are in range, and the name is valid.
pub fn container_port(value: &ContainerPort, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !value.name.is_empty() {
        cx.invalid_all(&path.field("name"), &value.name, &name_faults(&value.name));
    }
    let at = path.field("containerPort");
    if value.container_port == 0 {
        cx.push(FieldError::required(&at, ""));
    } else {
        rule::between(value.container_port, 1, PORT_MAX, &at, cx);
    }
    if value.host_port != 0 {
        rule::between(value.host_port, 1, PORT_MAX, &path.field("hostPort"), cx);
    }
}

/// The number or name of a port is valid.
pub fn port_number_or_name(value: &IntOrString, path: &Path<'_>, cx: &mut Validation<'_>) {
    match value {
        IntOrString::Int(number) => rule::between(*number, 1, PORT_MAX, path, cx),
        IntOrString::String(name) => cx.invalid_all(path, name, &name_faults(name)),
    }
}

/// What is wrong with the name of a port.
fn name_faults(name: &str) -> Vec<String> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    [
        (name.len() > NAME_MAX, "must be no more than 15 characters"),
        (
            !name.bytes().all(is_allowed),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!name.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ]
    .into_iter()
    .filter(|(is_broken, _)| *is_broken)
    .map(|(_, fault)| fault.to_owned())
    .collect()
}
