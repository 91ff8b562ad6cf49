//! CSI drivers: their names.

use orch_runtime::{
    field_error::{Order, Validation},
    path::Path,
};

use crate::{storage::v1::CSIDriver, validators::volume_source::csi_driver_name};

/// The name comes first, which this module checks after all else.
const ORDER: &[Order] = &[Order::with("metadata", &[Order::of("name"), Order::of("*")]), Order::of("*")];

/// The name of the object is the name of the driver.
pub fn csi_driver(value: &CSIDriver, path: &Path<'_>, cx: &mut Validation<'_>) {
    // A missing name is reported by the rules for metadata.
    if !value.metadata.name.is_empty() {
        csi_driver_name(&value.metadata.name, &path.field("metadata").field("name"), cx);
    }
    cx.arrange(path, ORDER);
}
