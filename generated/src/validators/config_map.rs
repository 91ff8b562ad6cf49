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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        core::v1::ConfigMap,
        validators::{
            MAX_DATA_BYTES,
            testing::{errors, update_errors},
        },
    };

    #[test]
    fn keys_and_sizes() {
        let key_rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
                        or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        for (tree, expected) in [
            (json!({"data": {"k": ""}, "binaryData": {"b": "AA=="}}), vec![]),
            (json!({"data": {"a/b": "v"}}), vec![format!("data[a/b]: Invalid value: \"a/b\": {key_rule}")]),
            (
                json!({"data": {"..": "v"}}),
                vec!["data[..]: Invalid value: \"..\": must not be '..'".to_owned()],
            ),
            (
                json!({"binaryData": {".": "AA=="}}),
                vec!["binaryData[.]: Invalid value: \".\": must not be '.'".to_owned()],
            ),
            (
                json!({"data": {"k": "v"}, "binaryData": {"k": "AA=="}}),
                vec!["data[k]: Invalid value: \"k\": duplicate of key present in binaryData".to_owned()],
            ),
            (json!({"data": {"k": "x".repeat(MAX_DATA_BYTES)}}), vec![]),
            (
                json!({"data": {"k": "x".repeat(MAX_DATA_BYTES)}, "binaryData": {"b": "AA=="}}),
                vec!["[]: Too long: may not be more than 1048576 bytes".to_owned()],
            ),
        ] {
            assert_eq!(errors::<ConfigMap>(&tree), expected);
        }
    }

    #[test]
    fn what_is_immutable_stays() {
        let fixed = |field: &str| format!("{field}: Forbidden: field is immutable when `immutable` is set");
        let old = json!({"immutable": true, "data": {"a": "1"}, "binaryData": {"b": "AA=="}});
        for (new, expected) in [
            (old.clone(), vec![]),
            (json!({"immutable": true, "data": {"a": "1"}, "binaryData": {"b": "AQ=="}}), vec!["binaryData"]),
            (json!({"immutable": false, "data": {}, "binaryData": {"b": "AA=="}}), vec!["immutable", "data"]),
            (json!({"data": {"a": "1"}, "binaryData": {"b": "AA=="}}), vec!["immutable"]),
        ] {
            let expected: Vec<String> = expected.into_iter().map(fixed).collect();
            assert_eq!(update_errors::<ConfigMap>(&old, &new), expected, "{new}");
        }
        let open = json!({"immutable": false, "data": {"a": "1"}});
        assert_eq!(update_errors::<ConfigMap>(&open, &old), [""; 0]);
    }
}
