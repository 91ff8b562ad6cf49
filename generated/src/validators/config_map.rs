//! Config maps: keys, sizes, and data that is fixed.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::{MAX_DATA_BYTES, config_key, fixed};
use crate::core::v1::ConfigMap;

/// Keys are well formed and stand in one of the two maps only; all values together are not too big.
pub fn config_map(value: &ConfigMap, path: &Path<'_>, cx: &mut Validation<'_>) {
    let data = path.field("data");
    for key in value.data.keys() {
        config_key(key, &data.key(key), cx);
        if value.binary_data.contains_key(key) {
            let detail = "duplicate of key present in binaryData";
            cx.push(FieldError::invalid(&data.key(key), key, detail));
        }
    }
    let binary_data = path.field("binaryData");
    for key in value.binary_data.keys() {
        config_key(key, &binary_data.key(key), cx);
    }
    let size: usize = value.data.values().map(String::len).sum::<usize>()
        + value.binary_data.values().map(|bytes| bytes.len()).sum::<usize>();
    if size > MAX_DATA_BYTES {
        // Neither map is to blame alone; clients know this error by the field `[]`.
        cx.push(FieldError::too_long(&path.key(""), MAX_DATA_BYTES));
    }
}

/// Once `immutable` is true, it stays true and no value changes.
pub fn config_map_update(new: &ConfigMap, old: &ConfigMap, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.immutable == Some(true) {
        fixed("immutable", new.immutable != Some(true), path, cx);
        fixed("data", new.data != old.data, path, cx);
        fixed("binaryData", new.binary_data != old.binary_data, path, cx);
    }
}
