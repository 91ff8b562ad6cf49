//! The key of service account tokens: made once and kept, so that tokens are good over a restart.

use std::path::Path;

use orch_auth::service_account::SigningKey;
use rcgen::KeyPair;

use super::{files, pki};
use crate::start_error::StartError;

/// The key in a directory; made where there is none.
pub fn ensure(directory: &Path) -> Result<SigningKey, StartError> {
    let path = directory.join("service-account.key");
    let pem = if let Some(pem) = files::read(&path)? {
        pem
    } else {
        let made = KeyPair::generate().map_err(|error| {
            StartError::Runtime(format!("cannot make the key of service account tokens: {error}"))
        })?;
        let pem = made.serialize_pem();
        files::write(&path, &pem, files::PRIVATE)?;
        pem
    };
    let key = pki::parse_key(&path, &pem)?;
    SigningKey::from_der(&key).map_err(|problem| StartError::configuration(path.display(), problem))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::ensure;

    #[test]
    fn the_key_is_kept_and_a_damaged_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let first = ensure(directory.path()).unwrap();
        assert_eq!(ensure(directory.path()).unwrap().public().id(), first.public().id());
        let file = directory.path().join("service-account.key");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&file, "no key").unwrap();
        let error = ensure(directory.path()).err().unwrap().to_string();
        assert!(error.contains("service-account.key"), "{error}");
    }
}
