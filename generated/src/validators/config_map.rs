//! Config maps: keys of both maps, and their total size.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::MAX_DATA_BYTES;
use crate::core::v1::ConfigMap;

/// Keys occur in only one of the two maps; the total size is limited.
pub fn config_map(value: &ConfigMap, path: &Path<'_>, cx: &mut Validation<'_>) {
    let data = path.field("data");
    for key in value.data.keys() {
        if value.binary_data.contains_key(key) {
            let detail = "duplicate of key present in binaryData";
            cx.push(FieldError::invalid(&data.key(key), key, detail));
        }
    }
    let size: usize = value.data.values().map(String::len).sum::<usize>()
        + value.binary_data.values().map(|bytes| bytes.len()).sum::<usize>();
    if size > MAX_DATA_BYTES {
        // The size concerns both maps, so the path of the error is `[]`.
        cx.push(FieldError::too_long(&path.key(""), MAX_DATA_BYTES));
    }
}
