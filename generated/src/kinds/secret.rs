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
