//! The key of continue tokens: made once and kept with the data, so that tokens stay valid over a restart.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use orch_config::start_error::StartError;
use orch_registry::continue_token::{KEY_LENGTH, TokenKey};

use super::files;

/// The key in the data directory; made where there is none.
pub fn ensure(directory: &Path) -> Result<TokenKey, StartError> {
    let path = directory.join("continue.key");
    let bytes = if let Some(text) = files::read(&path)? {
        decode(&text).ok_or_else(|| {
            let problem = format!("{} is no key; remove it, and a new one is made", path.display());
            StartError::configuration("--data-dir", problem)
        })?
    } else {
        let bytes = TokenKey::random_bytes().map_err(|error| StartError::Runtime(error.to_owned()))?;
        files::write(&path, &format!("{}\n", BASE64_STANDARD.encode(bytes)), files::PRIVATE)?;
        bytes
    };
    Ok(TokenKey::new(&bytes))
}

fn decode(text: &str) -> Option<[u8; KEY_LENGTH]> {
    BASE64_STANDARD.decode(text.trim_end()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::ensure;
    use orch_registry::continue_token::{Binding, Position};

    #[test]
    fn a_token_is_good_after_a_restart_and_a_damaged_key_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let list = Binding { resource: "secrets", namespace: "", labels: "", fields: "" };
        let position =
            Position { revision: None, namespace: "a".to_owned(), name: "b".to_owned(), listed: 0 };
        let token = ensure(directory.path()).unwrap().seal(list, &position);
        assert_eq!(ensure(directory.path()).unwrap().open(list, &token), Some(position));

        let file = directory.path().join("continue.key");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        for damaged in ["", "not base64", "c2hvcnQ=\n"] {
            std::fs::write(&file, damaged).unwrap();
            let error = ensure(directory.path()).unwrap_err().to_string();
            assert!(error.starts_with("--data-dir: ") && error.contains("continue.key"), "{error}");
        }
    }
}
