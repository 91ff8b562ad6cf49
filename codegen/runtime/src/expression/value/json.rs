//! Values from JSON.

use serde_json::Value as Json;

use super::{Key, Value};

impl Value {
    /// The same data. Numbers without a fraction are `int`; those that do not fit are `double`.
    ///
    /// The depth is that of the JSON, which whoever parsed it has bounded.
    pub fn from_json(json: &Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.as_str().into()),
            Json::Array(items) => Value::list(items.iter().map(Value::from_json).collect()),
            Json::Object(fields) => Value::map(
                fields
                    .iter()
                    .map(|(name, value)| (Key::from(name.as_str()), Value::from_json(value)))
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Value;

    #[test]
    fn json_keeps_its_numbers() {
        let json = json!({"b": [1, 1.5, null, true, "x"], "a": {"big": 18_446_744_073_709_551_615_u64}});
        let expected = r#"{"a": {"big": 1.8446744073709552e19}, "b": [1, 1.5, null, true, "x"]}"#;
        assert_eq!(Value::from_json(&json).to_string(), expected);
    }
}
