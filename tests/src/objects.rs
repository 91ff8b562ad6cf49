//! Objects and paths that tests use over and over.

use serde_json::{Value, json};

/// The collection of config maps of the namespace that every server has.
pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The collection of secrets there.
pub const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// The collection of namespaces.
pub const NAMESPACES: &str = "/api/v1/namespaces";

/// A config map with one value.
pub fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}})
}

/// The same with labels.
pub fn labelled(name: &str, labels: Value) -> Value {
    let mut object = config_map(name, "");
    object["metadata"]["labels"] = labels;
    object
}

/// A namespace.
pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// The version of an object or a list, as clients see it.
pub fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_else(|| panic!("no version: {object}"))
}

/// An object's name.
pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_else(|| panic!("no name: {object}"))
}

/// The names of a list's items, in its order.
pub fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(name).collect()
}
