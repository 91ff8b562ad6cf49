//! Storage: drivers, classes, volumes and claims, and the rules that several of them share.

mod capacity;
mod class;
mod driver;
mod node;

pub use self::{
    capacity::{class_name, quantity_not_negative},
    class::{storage_class, storage_class_provisioner, storage_class_update},
    driver::{csi_driver, csi_driver_spec, csi_driver_spec_update, csi_driver_token_requests},
    node::{csi_node_spec, csi_node_spec_update},
};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

/// The longest name of a driver, in bytes.
const MAX_DRIVER_NAME: usize = 63;

/// A driver's name: a DNS subdomain in letters of either case, of at most 63 bytes.
fn driver_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if name.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
    if name.len() > MAX_DRIVER_NAME {
        cx.push(FieldError::too_long(path, MAX_DRIVER_NAME));
    }
    cx.invalid_all(path, name, &constraint::dns_subdomain(&name.to_lowercase()));
}
