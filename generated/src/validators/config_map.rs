//! Config maps: keys, total size, and `immutable`.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::{MAX_DATA_BYTES, config_key, immutable_field};
use crate::core::v1::ConfigMap;

/// Keys are valid and occur in only one of the two maps; the total size is limited.
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
        // The size concerns both maps, so the path of the error is `[]`.
        cx.push(FieldError::too_long(&path.key(""), MAX_DATA_BYTES));
    }
}

/// Once `immutable` is true, it stays true and the data does not change.
pub fn config_map_update(new: &ConfigMap, old: &ConfigMap, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.immutable == Some(true) {
        immutable_field("immutable", new.immutable != Some(true), path, cx);
        immutable_field("data", new.data != old.data, path, cx);
        immutable_field("binaryData", new.binary_data != old.binary_data, path, cx);
    }
}
