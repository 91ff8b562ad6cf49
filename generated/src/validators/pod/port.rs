//! References to ports of containers.

use orch_runtime::{constraint, field_error::Validation, path::Path, rule, scalar::IntOrString};

/// The highest port number.
const PORT_MAX: i32 = 65535;

/// The number or name of a port is valid.
pub fn port_number_or_name(value: &IntOrString, path: &Path<'_>, cx: &mut Validation<'_>) {
    match value {
        IntOrString::Int(number) => rule::between(*number, 1, PORT_MAX, path, cx),
        IntOrString::String(name) => cx.invalid_all(path, name, &constraint::port_name(name)),
    }
}
