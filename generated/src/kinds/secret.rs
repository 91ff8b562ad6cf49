//! Secrets: `stringData` is accepted as text; `data` holds bytes.

use orch_runtime::scalar::ByteString;

use crate::core::v1::Secret;

impl Secret {
    /// Moves `stringData` into `data`, where it replaces values of the same keys.
    pub fn merge_string_data(&mut self) {
        let texts = std::mem::take(&mut self.string_data);
        self.data.extend(texts.into_iter().map(|(key, text)| (key, ByteString::from(text.into_bytes()))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_wins_and_is_gone() {
        let mut secret: Secret = serde_json::from_value(serde_json::json!({
            "data": {"a": "MQ==", "b": "Mg=="},
            "stringData": {"b": "two", "c": ""},
        }))
        .unwrap();
        secret.merge_string_data();
        let expected = serde_json::json!({
            "metadata": {"creationTimestamp": null}, "data": {"a": "MQ==", "b": "dHdv", "c": ""},
        });
        assert_eq!(serde_json::to_value(&secret).unwrap(), expected);
    }
}
